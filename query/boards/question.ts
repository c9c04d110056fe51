// A tile's question with what its dashboard adds. Answers are ../insights/query-insight.ts's.

import { create } from '@bufbuild/protobuf';
import {
  type DashboardFilters,
  DashboardFiltersSchema,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import {
  type InsightQuerySpec,
  type QueryRequest,
  QueryRequestSchema,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import {
  fieldsBelow,
  isEmpty,
  ownFields,
  type SegmentFilter,
  withMore,
} from '../filters/segment-filter.ts';
import { type BoardTime, type Range, rangeMessage } from './board-time.ts';
import { filtersOfPeople, saysOfBots } from './bots.ts';
import { combinedFilters } from './combined-filters.ts';

/** Throws invalid_argument where the filters of both cannot be combined. */
export function questionOf(
  spec: InsightQuerySpec,
  board: {
    filters?: DashboardFilters | undefined;
    includeCookieless: boolean;
    leavesOutBots: boolean;
  },
  { granularity, timezone, weekStart }: Pick<BoardTime, 'granularity' | 'timezone' | 'weekStart'>,
  range: Range,
): QueryRequest {
  const includeCookieless = spec.includeCookieless || board.includeCookieless;
  const asked = withFilters(spec, board.filters);
  const isOfPeople = board.leavesOutBots && !saysOfBots(asked);
  const whole = isOfPeople ? withFilters(asked, filtersOfPeople()) : asked;
  return create(QueryRequestSchema, {
    spec: { ...whole, includeCookieless },
    timeRange: rangeMessage(range),
    granularity,
    ...{ timezone, weekStart },
  });
}

/** A dashboard's filters with more segments. Throws invalid_argument where they are too many together. */
export function withSegments(
  filters: DashboardFilters | undefined,
  more: SegmentFilter,
): DashboardFilters | undefined {
  if (isEmpty(more)) return filters;
  const own = filters ?? create(DashboardFiltersSchema);
  return { ...own, ...withMore(own, more, { fields: ownFields, whose: 'the filters' }) };
}

/** The question with a dashboard's filters besides its own. Throws invalid_argument as questionOf does. */
export function withFilters(
  spec: InsightQuerySpec,
  filters: DashboardFilters | undefined,
): InsightQuerySpec {
  if (filters === undefined) return spec;
  const segments = withMore(filters, spec, {
    fields: fieldsBelow('spec.'),
    whose: 'the dashboard',
  });
  if (filters.filterGroups.length === 0) return { ...spec, ...segments };
  const own = { groups: spec.filterGroups, operator: spec.filterGroupsOperator };
  const boards = { groups: filters.filterGroups, operator: filters.filterGroupsOperator };
  const { groups, operator } = combinedFilters(own, boards);
  return { ...spec, ...segments, filterGroups: [...groups], filterGroupsOperator: operator };
}
