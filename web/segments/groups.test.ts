import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { PropertyFilterSchema } from '../../proto/gen/common/v1/filter_pb.js';
import {
  conditionOf,
  groupOf,
  type Match,
  matchOf,
  mayAddGroup,
  mayAddTest,
  testOf,
  withMatch,
  withoutGaps,
} from './groups.ts';

const trait = (...values: string[]) =>
  testOf({ case: 'trait', value: create(PropertyFilterSchema, { property: 'plan', values }) });
const traits = (count: number) => groupOf(Array.from({ length: count }, () => trait('a')));

it.each<Match>(['all', 'any', 'none', 'not all'])('a group of which %s holds says so', (match) => {
  expect(matchOf(groupOf([trait('a')], match))).toBe(match);
  expect(matchOf(withMatch(groupOf([trait('a')], 'not all'), match))).toBe(match);
});

it('has no more tests and groups than the service takes', () => {
  expect(mayAddTest(conditionOf([traits(10), traits(9)]))).toBe(true);
  expect(mayAddTest(conditionOf([traits(10), traits(10)]))).toBe(false);
  const groups = (count: number) => conditionOf(Array.from({ length: count }, () => traits(1)));
  expect([mayAddGroup(groups(9)), mayAddGroup(groups(10))]).toEqual([true, false]);
});

it('has no second group that is empty', () => {
  expect(mayAddGroup(conditionOf([traits(1)]))).toBe(true);
  expect(mayAddGroup(conditionOf([traits(1), groupOf()]))).toBe(false);
});

it('is sent without values that nobody filled in', () => {
  const condition = conditionOf([groupOf([trait('a', '', 'b')], 'none')], true);
  expect(withoutGaps(condition)).toEqual(conditionOf([groupOf([trait('a', 'b')], 'none')], true));
});
