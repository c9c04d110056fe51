// The question of an alert: which ones it may have, and how each is asked for one period.

import { create } from '@bufbuild/protobuf';
import {
  AggregationType,
  type InsightQuerySpec,
  InsightQuerySpecSchema,
  InsightType,
  SessionMetric,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';

/** Whether it answers one value of a period. A form without a line here does not compile. */
const hasValue: Readonly<Record<InsightType, boolean>> = {
  [InsightType.TRENDS]: true,
  [InsightType.SEGMENTATION]: true,
  [InsightType.FUNNEL]: false,
  [InsightType.RETENTION]: false,
  [InsightType.USER_FLOW]: false,
  [InsightType.TOP_K]: false,
  [InsightType.LIFECYCLE]: false,
  [InsightType.STICKINESS]: false,
  // Each currency has a value of its own: SUM with a filter on one has the same, alone.
  [InsightType.REVENUE]: false,
  [InsightType.UNSPECIFIED]: false,
};

/** Why an alert cannot have the question; undefined where it can. The rest of its rules are those of all questions. */
export function whyNotAnAlert(spec: InsightQuerySpec): string | undefined {
  const {
    insightType,
    events,
    breakdowns,
    session,
    formulas,
    rollingDays,
    cumulative,
    movingAverage,
  } = spec;
  if (!hasValue[insightType]) return 'must be TRENDS or SEGMENTATION';
  if (breakdowns.length > 0) return 'must have no breakdowns';
  if (formulas.length > 0) return 'must have no formulas';
  const isRolling = rollingDays > 0 || events.some((event) => event.rollingDays > 1);
  if (movingAverage > 0) return 'must have no moving average';
  if (isRolling || cumulative) return 'must count the users of its own period';
  if (session === undefined && events.length !== 1) return 'must have one event, or visits';
  return undefined;
}

/**
 * One value for the whole period, and as a second one, where a value over nothing says nothing, how much it is over:
 * events, or visits of a question of its own.
 */
export function askedOfPeriod(spec: InsightQuerySpec): InsightQuerySpec[] {
  const asked = { ...spec, insightType: InsightType.SEGMENTATION };
  const { session, events } = spec;
  if (session !== undefined) {
    if (!isMeanOfVisits(session.metric)) return [create(InsightQuerySpecSchema, asked)];
    const counted = { ...asked, session: { ...session, metric: SessionMetric.SESSIONS } };
    return [asked, counted].map((one) => create(InsightQuerySpecSchema, one));
  }
  const [event] = events;
  if (event === undefined || isCount(event.aggregation)) {
    return [create(InsightQuerySpecSchema, asked)];
  }
  const counted = { event: event.event, aggregation: AggregationType.TOTAL };
  return [
    create(InsightQuerySpecSchema, {
      ...asked,
      events: [event, { ...event, ...counted, aggregationProperty: '' }],
    }),
  ];
}

function isMeanOfVisits(metric: SessionMetric): boolean {
  const { AVG_DURATION, BOUNCE_RATE, AVG_EVENTS_PER_SESSION } = SessionMetric;
  return [AVG_DURATION, BOUNCE_RATE, AVG_EVENTS_PER_SESSION].includes(metric);
}

/** Nothing is 0 of it. */
function isCount(aggregation: AggregationType): boolean {
  const { UNSPECIFIED, TOTAL, UNIQUE_USERS, SUM, DISTINCT_VALUES } = AggregationType;
  return [UNSPECIFIED, TOTAL, UNIQUE_USERS, SUM, DISTINCT_VALUES].includes(aggregation);
}
