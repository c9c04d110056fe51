import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { FilterOperator, LogicalOperator } from '../../proto/gen/common/v1/filter_pb.js';
import { InsightQuerySpecSchema } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { filtersInWords } from './filters-in-words.ts';

const { AND, OR } = LogicalOperator;
const noBots = { property: '$bot', operator: FilterOperator.NOT_EQUALS, value: 'true' };
const german = { property: '$country', operator: FilterOperator.EQUALS, value: 'DE' };

it('says that bots are left out where no other condition lets them in', () => {
  const says = (filterGroupsOperator: LogicalOperator, ...filterGroups: object[]) =>
    filtersInWords(create(InsightQuerySpecSchema, { filterGroups, filterGroupsOperator }));
  const both = [noBots, german];
  expect(says(AND, { filters: both, operator: AND })).toEqual([
    'Bots left out and Country is Germany',
  ]);
  expect(says(AND, { filters: both, operator: OR })).toEqual([
    'Bot is not true or Country is Germany',
  ]);
  expect(says(OR, { filters: [noBots] }, { filters: [german] })).toEqual([
    'Bot is not true or Country is Germany',
  ]);
  expect(says(OR, { filters: [noBots], operator: OR })).toEqual(['Bots left out']);
});
