// Which questions count users: beside these alone a page says what becomes of cookieless visitors.

import {
  AggregationType,
  TopKQuery_Dimension as Dimension,
  type InsightQuerySpec,
  InsightType,
  RevenueMeasure,
  UserFlowQuery_GroupBy,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';

/** Whether its numbers depend on who counts as a user; all others count every event and every visit. */
export function countsUsers(spec: InsightQuerySpec): boolean {
  const { insightType, events, session, topK, userFlow } = spec;
  const { PER_USER, PER_PAYING_USER } = RevenueMeasure;
  switch (insightType) {
    case InsightType.FUNNEL:
    case InsightType.RETENTION:
    case InsightType.LIFECYCLE:
    case InsightType.STICKINESS:
      return true;
    case InsightType.TOP_K:
      return topK?.dimension === Dimension.USER || isOfUsers(topK?.metric);
    case InsightType.TRENDS:
    case InsightType.SEGMENTATION:
      return !session && events.some(({ aggregation }) => isOfUsers(aggregation));
    case InsightType.REVENUE:
      return events.some(({ revenue }) => revenue === PER_USER || revenue === PER_PAYING_USER);
    case InsightType.USER_FLOW:
      return userFlow?.groupBy === UserFlowQuery_GroupBy.USER;
    case InsightType.UNSPECIFIED:
      return false;
    default:
      return insightType satisfies never;
  }
}

function isOfUsers(aggregation: AggregationType | undefined): boolean {
  const { UNIQUE_USERS, PER_USER_AVG, SUM_PER_USER, AVG_PER_USER } = AggregationType;
  return [UNIQUE_USERS, PER_USER_AVG, SUM_PER_USER, AVG_PER_USER].some(
    (one) => one === aggregation,
  );
}
