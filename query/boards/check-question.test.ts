import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { overviewDashboard } from '../../platform/dashboards/overview-dashboard.ts';
import { FilterOperator, LogicalOperator } from '../../proto/gen/common/v1/filter_pb.js';
import { DashboardFiltersSchema } from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import {
  type FilterGroupSchema,
  InsightQuerySpecSchema,
  InsightType,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { checkFilters, checkQuestion } from './check-question.ts';

it('every question of the built-in dashboard can be answered', () => {
  const refused = overviewDashboard().tiles.flatMap(({ id, content }) => {
    if (content.case !== 'insight') return [];
    try {
      checkQuestion(content.value, undefined);
      return [];
    } catch (error) {
      return [`${id}: ${String(error)}`];
    }
  });
  expect(refused).toEqual([]);
});

type Groups = MessageInitShape<typeof FilterGroupSchema>[];
const { AND, OR } = LogicalOperator;
const good = { property: 'plan', operator: FilterOperator.EQUALS, value: 'pro' };
const bad = { ...good, property: '' };

const board = (filterGroups: Groups, filterGroupsOperator = AND) =>
  create(DashboardFiltersSchema, { filterGroups, filterGroupsOperator });

const tile = (filterGroups: Groups, filterGroupsOperator: number) =>
  create(InsightQuerySpecSchema, {
    ...{ insightType: InsightType.TRENDS, events: [{}], filterGroups, filterGroupsOperator },
  });

it.each<[string, Groups, number]>([
  ['spec.filterGroups[1].filters[0]', [{ filters: [good] }, { filters: [bad] }], OR],
  ['spec.filterGroups[1].filters[0]', [{ filters: [] }, { filters: [bad] }], AND],
  ['spec.filterGroupsOperator', [{ filters: [good] }, { filters: [good] }], 7],
])("names %s of a tile where it stands, with a dashboard's filters too", (path, ...own) => {
  const filters = board([{ filters: [good] }]);
  expect(() => checkQuestion(tile(...own), filters)).toThrow(path);
});

it.each<[string, Groups, LogicalOperator]>([
  ['filters.filterGroups[1].filters[0]', [{ filters: [] }, { filters: [bad] }], AND],
  ['filters.filterGroups[0].filters', [{ filters: [] }, { filters: [bad] }], OR],
  ['] filters: takes at most 50', [{ filters: Array(51).fill(good) }], AND],
])('names %s of filters as they were sent', (path, ...groups) => {
  expect(() => checkFilters(board(...groups))).toThrow(path);
});
