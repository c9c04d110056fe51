// A question and its answer in the JSON of InsightsService.Query, as far as the oracle reads them.

import type { Segment } from '../segments/segment.ts';
import { type EventFilter, eventFilterOf, type Filter, filterOf } from './event-filter.ts';

export interface EventQuery {
  event?: EventFilter;
  aggregation?: Aggregation;
  aggregationProperty?: string;
  rollingDays?: number;
  revenue?: RevenueMeasure;
}

export const revenueMeasures = ['TOTAL', 'PER_USER', 'PER_PAYING_USER', 'PAYMENTS'] as const;

export type RevenueMeasure = (typeof revenueMeasures)[number];

export const aggregations = [
  ...(['TOTAL', 'UNIQUE_USERS', 'PER_USER_AVG', 'SUM', 'AVG', 'MIN', 'MAX', 'MEDIAN'] as const),
  ...(['P75', 'P90', 'P95', 'P99', 'DISTINCT_VALUES', 'SUM_PER_USER', 'AVG_PER_USER'] as const),
] as const;

export type Aggregation = (typeof aggregations)[number];

const ofEvents: readonly Aggregation[] = ['TOTAL', 'UNIQUE_USERS', 'PER_USER_AVG'];

export function readsProperty(aggregation: Aggregation): boolean {
  return !ofEvents.includes(aggregation);
}

export interface FunnelQuery {
  order?: 'ORDERED' | 'ANY' | 'STRICT';
  exclusions?: { event: EventFilter; fromStep?: number; toStep?: number }[];
  holdProperty?: string;
  overTime?: boolean;
  reentry?: 'EVERY' | 'FIRST';
  optionalSteps?: number[];
}

export type Unit = 'MINUTE' | 'HOUR' | 'DAY' | 'WEEK' | 'MONTH';

export type SessionMetric =
  | 'SESSIONS'
  | 'AVG_DURATION'
  | 'BOUNCE_RATE'
  | 'ENTRY'
  | 'EXIT'
  | 'AVG_EVENTS_PER_SESSION';

export type InsightType =
  | 'TRENDS'
  | 'SEGMENTATION'
  | 'FUNNEL'
  | 'RETENTION'
  | 'USER_FLOW'
  | 'TOP_K'
  | 'LIFECYCLE'
  | 'STICKINESS'
  | 'REVENUE';

export interface FilterGroup {
  filters: Filter[];
  operator?: 'AND' | 'OR';
}

/** A question; enum values stand without the prefix of their enum. */
export interface Question {
  type: InsightType;
  events?: EventQuery[];
  rollingDays?: number;
  cumulative?: boolean;
  movingAverage?: number;
  eventsPerUser?: { bounds?: number[] };
  touch?: 'FIRST' | 'EVERY';
  compare?: 'PREVIOUS_PERIOD' | 'PREVIOUS_WEEK' | 'PREVIOUS_MONTH' | 'PREVIOUS_YEAR';
  retention?: {
    first?: 'IN_RANGE' | 'EVER' | 'RECURRING';
    unbounded?: boolean;
    rolling24h?: boolean;
  };
  formulas?: { expression: string; displayName?: string }[];
  breakdowns?: string[];
  breakdownLimit?: number;
  filterGroups?: FilterGroup[];
  filterGroupsOperator?: 'AND' | 'OR';
  conversionWindowMs?: number;
  includeStepTiming?: boolean;
  funnel?: FunnelQuery;
  session?: { metric: SessionMetric; scope?: EventFilter };
  userFlow?: {
    nodeKind?: 'EVENT_KIND' | 'PROPERTY';
    groupBy?: 'SESSION' | 'USER';
    nodeProperty?: string;
    scope?: EventFilter;
    maxHops?: number;
    maxNodes?: number;
    maxLinks?: number;
  };
  flow?: { from?: EventFilter; to?: EventFilter };
  topK?: {
    dimension: 'PROPERTY' | 'EVENT_KIND' | 'USER';
    property?: string;
    scope?: EventFilter;
    metric?: Aggregation;
    metricProperty?: string;
    limit?: number;
    omitOthers?: boolean;
  };
  includeCookieless?: boolean;
  /** Whose events are read. */
  segments?: Segment[];
  /** Whose events are not read. */
  notInSegments?: Segment[];
  /** Those that breakdowns, groups and nodes name. */
  splitBy?: Segment[];
  /** The range, in milliseconds since the epoch. */
  fromMs: number;
  toMs: number;
  /** Nanoseconds beyond `fromMs` and `toMs`, below a millisecond. */
  fromNanos?: number;
  toNanos?: number;
  granularity?: Unit;
  timezone?: string;
  /** 1 is Monday. */
  weekStart?: number;
  asOfMs?: number;
  /** Of the oracle alone: where the range of segments begins, where the question is asked with buckets before it. */
  askedFromMs?: number;
}

/** The body of the call. */
export function requestOf(question: Question): Record<string, unknown> {
  const { session, topK, userFlow, funnel, flow, retention } = question;
  const spec = {
    insightType: `INSIGHT_TYPE_${question.type}`,
    events: question.events?.map(({ event, aggregation, revenue, ...rest }) => ({
      ...rest,
      event: eventFilterOf(event),
      aggregation: aggregation && `AGGREGATION_TYPE_${aggregation}`,
      revenue: revenue && `REVENUE_MEASURE_${revenue}`,
    })),
    formulas: question.formulas,
    rollingDays: question.rollingDays,
    cumulative: question.cumulative,
    movingAverage: question.movingAverage,
    eventsPerUser: question.eventsPerUser,
    touch: question.touch && `TOUCH_${question.touch}`,
    compare: question.compare && `COMPARE_${question.compare}`,
    retention: retention && { ...retention, first: retention.first && `FIRST_${retention.first}` },
    breakdowns: question.breakdowns?.map((property) => ({ property })),
    breakdownLimit: question.breakdownLimit,
    filterGroups: question.filterGroups?.map(({ filters, operator }) => ({
      filters: filters.map(filterOf),
      operator: logical(operator),
    })),
    filterGroupsOperator: logical(question.filterGroupsOperator),
    conversionWindow:
      question.conversionWindowMs === undefined
        ? undefined
        : `${question.conversionWindowMs / 1_000}s`,
    includeStepTiming: question.includeStepTiming,
    funnel: funnel && {
      ...funnel,
      order: funnel.order && `ORDER_${funnel.order}`,
      reentry: funnel.reentry && `REENTRY_${funnel.reentry}`,
      exclusions: funnel.exclusions?.map(({ event, ...steps }) => ({
        ...{ ...steps, event: eventFilterOf(event) },
      })),
    },
    session: session && {
      metric: `SESSION_METRIC_${session.metric}`,
      scope: eventFilterOf(session.scope),
    },
    userFlow: userFlow && {
      ...userFlow,
      nodeKind: userFlow.nodeKind && `NODE_KIND_${userFlow.nodeKind}`,
      groupBy: userFlow.groupBy && `GROUP_BY_${userFlow.groupBy}`,
      scope: eventFilterOf(userFlow.scope),
    },
    flow: flow && { from: eventFilterOf(flow.from), to: eventFilterOf(flow.to) },
    topK: topK && {
      ...topK,
      dimension: `DIMENSION_${topK.dimension}`,
      scope: eventFilterOf(topK.scope),
      metric: topK.metric && `AGGREGATION_TYPE_${topK.metric}`,
    },
    includeCookieless: question.includeCookieless,
    segments: question.segments?.map(({ id }) => id),
    notInSegments: question.notInSegments?.map(({ id }) => id),
  };
  return {
    spec,
    timeRange: {
      from: moment(question.fromMs, question.fromNanos),
      to: moment(question.toMs, question.toNanos),
    },
    granularity: question.granularity && `GRANULARITY_${question.granularity}`,
    timezone: question.timezone,
    weekStart: question.weekStart,
    asOf: question.asOfMs === undefined ? undefined : moment(question.asOfMs),
  };
}

function logical(operator: string | undefined): string | undefined {
  return operator && `LOGICAL_OPERATOR_${operator}`;
}

function moment(ms: number, nanos = 0): string {
  return new Date(ms).toISOString().replace('Z', `${String(nanos).padStart(6, '0')}Z`);
}
