// The question by which the filters of a dashboard are checked alone, when they are saved or when a rendering asks for
// them.

import { create } from '@bufbuild/protobuf';
import type { DashboardFilters } from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import {
  type InsightQuerySpec,
  InsightQuerySpecSchema,
  InsightType,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';

/** Asks for every event; the filters keep the places in which they were sent. */
export function questionOfFilters({
  filterGroups,
  filterGroupsOperator,
  segments,
  notInSegments,
}: DashboardFilters): InsightQuerySpec {
  return create(InsightQuerySpecSchema, {
    ...{ insightType: InsightType.TRENDS, events: [{}] },
    ...{ filterGroups, filterGroupsOperator, segments, notInSegments },
  });
}
