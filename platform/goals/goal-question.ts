// The ordinary questions that a goal's numbers come from: asked when it is measured, checked when it is saved.

import { create } from '@bufbuild/protobuf';
import { type EventFilter, EventFilterSchema } from '../../proto/gen/common/v1/filter_pb.js';
import type { Goal } from '../../proto/gen/dashboard/goals/v1/goals_pb.js';
import {
  AggregationType,
  type InsightQuerySpec,
  InsightQuerySpecSchema,
  InsightType,
  SessionMetric,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';

export type GoalContent = Pick<Goal, 'kind' | 'filters' | 'valueProperty'>;

export function eventsOfGoal({ kind, filters }: GoalContent): EventFilter {
  return create(EventFilterSchema, { kind, filters });
}

/** Its events, their users, and where it has a value the sum of it: a series each, in this order. */
export function goalQuestion(goal: GoalContent): InsightQuerySpec {
  const event = eventsOfGoal(goal);
  const { TOTAL, UNIQUE_USERS, SUM } = AggregationType;
  const aggregationProperty = goal.valueProperty;
  return create(InsightQuerySpecSchema, {
    insightType: InsightType.SEGMENTATION,
    events: [
      { event, aggregation: TOTAL },
      { event, aggregation: UNIQUE_USERS },
      ...(aggregationProperty === '' ? [] : [{ event, aggregation: SUM, aggregationProperty }]),
    ],
  });
}

/** All users. */
export function usersQuestion(): InsightQuerySpec {
  const events = [{ event: {}, aggregation: AggregationType.UNIQUE_USERS }];
  return create(InsightQuerySpecSchema, { insightType: InsightType.SEGMENTATION, events });
}

/** The visits with one of the events, or all; by a property of their first event where one is named. */
export function visitsQuestion(
  scope: EventFilter | undefined,
  by?: { property: string; limit: number },
): InsightQuerySpec {
  return create(InsightQuerySpecSchema, {
    insightType: InsightType.SEGMENTATION,
    session: { metric: SessionMetric.SESSIONS, ...(scope !== undefined && { scope }) },
    ...(by !== undefined && {
      breakdowns: [{ property: by.property }],
      breakdownLimit: by.limit,
    }),
  });
}
