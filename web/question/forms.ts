// The ten forms of a question: their names, what each takes, and how one becomes another.

import { create } from '@bufbuild/protobuf';
import {
  AggregationType,
  TopKQuery_Dimension as Dimension,
  type EventQuery,
  EventQuerySchema,
  type InsightQuerySpec,
  InsightQuerySpecSchema,
  InsightType,
  UserFlowQuery_NodeKind as NodeKind,
  SessionMetric,
  SessionQuerySchema,
  TopKQuerySchema,
  UserFlowQuerySchema,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';

interface FormRules {
  name: string;
  /** What it answers, in a sentence. */
  says: string;
  /** How many events it takes, and what each is called. */
  events: { least: number; most: number; nameOf: (index: number) => string };
  hasAggregation: boolean;
  /** Whether numbers can be made of those of its series. */
  hasFormulas: boolean;
  hasBreakdowns: boolean;
  hasBuckets: boolean;
  /** Whether the range before can stand beside it. */
  hasBefore: boolean;
}

const series = (index: number): string => `Series ${index + 1}`;
const none = { least: 0, most: 0, nameOf: series };
const several = { least: 1, most: 10, nameOf: series };
const one = { least: 1, most: 1, nameOf: () => 'Active means' };

const plain = {
  ...{ hasAggregation: false, hasFormulas: false, hasBreakdowns: false },
  ...{ hasBuckets: false, hasBefore: false },
};

const listed = [
  {
    ...plain,
    id: 'trends',
    name: 'Trends',
    says: 'How events or users change over time.',
    events: several,
    hasAggregation: true,
    hasFormulas: true,
    hasBreakdowns: true,
    hasBuckets: true,
    hasBefore: true,
  },
  {
    ...plain,
    id: 'segmentation',
    name: 'Segmentation',
    says: 'One number for the whole range, split into groups.',
    events: several,
    hasAggregation: true,
    hasFormulas: true,
    hasBreakdowns: true,
    hasBefore: true,
  },
  {
    ...plain,
    id: 'revenue',
    name: 'Revenue',
    says: 'What payments bring over time, each currency by itself.',
    events: several,
    hasFormulas: true,
    hasBreakdowns: true,
    hasBuckets: true,
    hasBefore: true,
  },
  {
    ...plain,
    id: 'sessions',
    name: 'Visits',
    says: 'How many visits there are, how long they last, where they begin and end.',
    events: none,
    hasBreakdowns: true,
    hasBuckets: true,
    hasBefore: true,
  },
  {
    ...plain,
    id: 'funnel',
    name: 'Funnel',
    says: 'How many users do one thing after another, and where they stop.',
    events: { least: 2, most: 20, nameOf: (index) => `Step ${index + 1}` },
    hasBreakdowns: true,
    hasBefore: true,
  },
  {
    ...plain,
    id: 'retention',
    name: 'Retention',
    says: 'How many users come back after they began.',
    events: {
      least: 1,
      most: 2,
      nameOf: (index) => (index === 0 ? 'Begins with' : 'Returns with'),
    },
    hasBreakdowns: true,
    hasBuckets: true,
    hasBefore: true,
  },
  {
    ...plain,
    id: 'user-flow',
    name: 'Paths',
    says: 'Which paths visits take, step by step.',
    events: none,
  },
  {
    ...plain,
    id: 'top-k',
    name: 'Top values',
    says: 'The greatest values, events or users.',
    events: none,
    hasBefore: true,
  },
  {
    ...plain,
    id: 'lifecycle',
    name: 'Lifecycle',
    says: 'Which users are new, stay, come back or are gone.',
    events: one,
    hasBreakdowns: true,
    hasBuckets: true,
    hasBefore: true,
  },
  {
    ...plain,
    id: 'stickiness',
    name: 'Stickiness',
    says: 'On how many days, weeks or months users are active, or how often.',
    events: one,
    hasBreakdowns: true,
    hasBuckets: true,
    hasBefore: true,
  },
] as const satisfies readonly (FormRules & { id: string })[];

export type FormId = (typeof listed)[number]['id'];
export type QuestionForm = FormRules & { id: FormId };
export const forms: readonly QuestionForm[] = listed;

/** The form of each type but visits. A type of the API without a line here does not compile. */
const formOfType: Record<InsightType, FormId> = {
  [InsightType.UNSPECIFIED]: 'trends',
  [InsightType.TRENDS]: 'trends',
  [InsightType.SEGMENTATION]: 'segmentation',
  [InsightType.FUNNEL]: 'funnel',
  [InsightType.RETENTION]: 'retention',
  [InsightType.USER_FLOW]: 'user-flow',
  [InsightType.TOP_K]: 'top-k',
  [InsightType.LIFECYCLE]: 'lifecycle',
  [InsightType.STICKINESS]: 'stickiness',
  [InsightType.REVENUE]: 'revenue',
};

const types: Record<FormId, InsightType> = {
  trends: InsightType.TRENDS,
  segmentation: InsightType.SEGMENTATION,
  sessions: InsightType.TRENDS,
  funnel: InsightType.FUNNEL,
  retention: InsightType.RETENTION,
  'user-flow': InsightType.USER_FLOW,
  'top-k': InsightType.TOP_K,
  lifecycle: InsightType.LIFECYCLE,
  stickiness: InsightType.STICKINESS,
  revenue: InsightType.REVENUE,
};

export function formById(id: string): QuestionForm | undefined {
  return forms.find((form) => form.id === id);
}

export function formOf(spec: InsightQuerySpec): QuestionForm {
  return formById(spec.session ? 'sessions' : formOfType[spec.insightType]) ?? listed[0];
}

export function emptyEvent(kind = ''): EventQuery {
  return create(EventQuerySchema, { event: { kind }, aggregation: AggregationType.TOTAL });
}

/** A question of this form that can be asked at once. */
export function startOf({ id, events }: QuestionForm): InsightQuerySpec {
  const count = id === 'funnel' ? 2 : events.least;
  const first = id === 'revenue' ? 'purchase' : 'page_view';
  return create(InsightQuerySpecSchema, {
    insightType: types[id],
    events: Array.from({ length: count }, (_, index) => emptyEvent(index === 0 ? first : '')),
    ...own(id),
  });
}

/** The part of a question that no other form has. */
function own(id: FormId): Pick<InsightQuerySpec, 'session' | 'userFlow' | 'topK'> {
  switch (id) {
    case 'sessions':
      return { session: create(SessionQuerySchema, { metric: SessionMetric.SESSIONS }) };
    case 'user-flow':
      return {
        userFlow: create(UserFlowQuerySchema, {
          nodeKind: NodeKind.EVENT_KIND,
          maxHops: 4,
          maxNodes: 8,
          maxLinks: 100,
        }),
      };
    case 'top-k':
      return {
        topK: create(TopKQuerySchema, {
          dimension: Dimension.PROPERTY,
          property: '$pathname',
          scope: { kind: 'page_view' },
          limit: 10,
        }),
      };
    case 'trends':
    case 'segmentation':
    case 'revenue':
    case 'funnel':
    case 'retention':
    case 'lifecycle':
    case 'stickiness':
      return {};
    default:
      return id satisfies never;
  }
}

/** The same question in another form: what both take stays. */
export function asForm(spec: InsightQuerySpec, form: QuestionForm): InsightQuerySpec {
  const next = startOf(form);
  // Few kinds of events are payments.
  const isOther = form.id === 'revenue' && spec.insightType !== InsightType.REVENUE;
  const kept = isOther ? [] : spec.events.slice(0, form.events.most);
  const taken = form.hasAggregation ? kept.map(onlyIn(form)) : kept.map(withoutAggregation);
  if (kept.length > 0) next.events = [...taken, ...next.events.slice(kept.length)];
  if (form.hasFormulas && !isOther) next.formulas = spec.formulas;
  if (form.hasBefore) next.compare = spec.compare;
  if (form.hasBreakdowns) next.breakdowns = spec.breakdowns;
  next.filterGroups = spec.filterGroups;
  next.segments = spec.segments;
  next.notInSegments = spec.notInSegments;
  next.filterGroupsOperator = spec.filterGroupsOperator;
  next.includeCookieless = spec.includeCookieless;
  return next;
}

/** Users of several days are a matter of trends. */
function onlyIn(form: QuestionForm): (event: EventQuery) => EventQuery {
  return (event) => (form.id === 'trends' ? event : { ...event, rollingDays: 0 });
}

function withoutAggregation({ event }: EventQuery): EventQuery {
  return create(EventQuerySchema, { ...(event && { event }), aggregation: AggregationType.TOTAL });
}

export function needsProperty(aggregation: AggregationType): boolean {
  return aggregation >= AggregationType.SUM;
}
