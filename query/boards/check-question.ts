// The check of a dashboard's questions when they are saved: each as it will be asked, for a day.

import { create } from '@bufbuild/protobuf';
import { dayMs } from '../../platform/clock.ts';
import type { DashboardFilters } from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import {
  type InsightQuerySpec,
  QueryRequestSchema,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { planOf } from '../insights/query-insight.ts';
import { readQuestion } from '../insights/question/question.ts';
import { rangeMessage } from './board-time.ts';
import { withFilters } from './question.ts';

/** Throws invalid_argument, naming a field below `spec`, where the question could not be answered whatever its time. */
export function checkQuestion(spec: InsightQuerySpec, filters: DashboardFilters | undefined): void {
  const request = create(QueryRequestSchema, {
    spec: withFilters(spec, filters),
    timeRange: rangeMessage({ fromMs: 0, toMs: dayMs }),
  });
  planOf(readQuestion('', request));
}
