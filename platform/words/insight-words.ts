// What insights, their measures and their groups are called, on pages and in mails alike.

import {
  AggregationType,
  type InsightQuerySpec,
  InsightType,
  RevenueMeasure,
  SessionMetric,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';

export const othersName = 'All others';
export const absentName = '(none)';
/** A visit without referrer. */
export const directName = 'Direct / none';
export const noCurrencyName = 'no currency';

export const aggregationNames: Record<AggregationType, string> = {
  [AggregationType.UNSPECIFIED]: 'events',
  [AggregationType.TOTAL]: 'events',
  [AggregationType.UNIQUE_USERS]: 'users',
  [AggregationType.PER_USER_AVG]: 'events per user',
  [AggregationType.SUM]: 'sum',
  [AggregationType.AVG]: 'average',
  [AggregationType.MIN]: 'minimum',
  [AggregationType.MAX]: 'maximum',
  [AggregationType.MEDIAN]: 'median',
  [AggregationType.P75]: '75th percentile',
  [AggregationType.P90]: '90th percentile',
  [AggregationType.P95]: '95th percentile',
  [AggregationType.P99]: '99th percentile',
  [AggregationType.DISTINCT_VALUES]: 'unique values',
  [AggregationType.SUM_PER_USER]: 'sum per user',
  [AggregationType.AVG_PER_USER]: 'average of users’ averages',
};

export const revenueNames: Record<RevenueMeasure, string> = {
  [RevenueMeasure.UNSPECIFIED]: 'revenue',
  [RevenueMeasure.TOTAL]: 'revenue',
  [RevenueMeasure.PER_USER]: 'revenue per user',
  [RevenueMeasure.PER_PAYING_USER]: 'revenue per paying user',
  [RevenueMeasure.PAYMENTS]: 'payments',
};

export const metricNames: Record<SessionMetric, string> = {
  [SessionMetric.UNSPECIFIED]: 'Visits',
  [SessionMetric.SESSIONS]: 'Visits',
  [SessionMetric.AVG_DURATION]: 'Visit duration',
  [SessionMetric.BOUNCE_RATE]: 'Bounce rate',
  [SessionMetric.ENTRY]: 'Entries',
  [SessionMetric.EXIT]: 'Exits',
  [SessionMetric.AVG_EVENTS_PER_SESSION]: 'Events per visit',
};

/** What each form of a question is for, as its heading says. */
export const typeNames: Record<InsightType, string> = {
  [InsightType.UNSPECIFIED]: 'Insight',
  [InsightType.TRENDS]: 'Trends',
  [InsightType.SEGMENTATION]: 'Segmentation',
  [InsightType.FUNNEL]: 'Funnel',
  [InsightType.RETENTION]: 'Retention',
  [InsightType.USER_FLOW]: 'Paths',
  [InsightType.TOP_K]: 'Top values',
  [InsightType.LIFECYCLE]: 'Lifecycle',
  [InsightType.STICKINESS]: 'Stickiness',
  [InsightType.REVENUE]: 'Revenue',
};

/** Whether more of a question's value is good news; undefined where nobody can tell. */
export function isMoreBetterOf({ session, formulas }: InsightQuerySpec): boolean | undefined {
  if (formulas.length > 0) return undefined;
  return session?.metric !== SessionMetric.BOUNCE_RATE;
}
