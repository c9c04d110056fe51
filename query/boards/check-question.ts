// The check of a dashboard's questions when they are saved, each as it will be asked, for a day; and of the filters
// that a rendering asks for.

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { dayMs } from '../../platform/clock.ts';
import { questionOfFilters } from '../../platform/dashboards/question-of-filters.ts';
import type { DashboardFilters } from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { ConditionSchema } from '../../proto/gen/dashboard/segments/v1/segments_pb.js';
import {
  type InsightQuerySpec,
  QueryRequestSchema,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { planOf } from '../insights/forms/forms.ts';
import { readQuestion } from '../insights/read/question.ts';
import { rangeMessage } from './board-time.ts';
import { withFilters } from './question.ts';

/** Throws invalid_argument, naming a field below `spec`, where the question could not be answered whatever its time. */
export function checkQuestion(spec: InsightQuerySpec, filters: DashboardFilters | undefined): void {
  // As it was sent first: with the dashboard's filters its own have other places, and some of both may be left out.
  planOfDay(spec);
  if (filters !== undefined) planOfDay(withFilters(spec, filters));
}

function planOfDay(spec: InsightQuerySpec): void {
  const request = create(QueryRequestSchema, {
    spec,
    timeRange: rangeMessage({ fromMs: 0, toMs: dayMs }),
  });
  // Whether a segment is there tells who asks: one that is deleted later must not keep a board from being saved.
  planOf({ ...readQuestion('', request), conditionOf: () => create(ConditionSchema) });
}

/** Throws invalid_argument, naming a field below `filters`, for filters that no question can have. */
export function checkFilters(filters: DashboardFilters): void {
  try {
    planOfDay(questionOfFilters(filters));
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    const message = error.rawMessage.replace(/^spec(?=[.:])/, 'filters');
    throw new ConnectError(message, Code.InvalidArgument);
  }
}
