// Rows of rankings: two measures for each group, and hosts of one site as one row where its number is exact.

import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { FilterOperator } from '../../../proto/gen/common/v1/filter_pb.js';
import { QueryResponseSchema } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { conditionOf, cutRows, groupsOf, rankedRows, searched, withSites } from './rows.ts';

const group = (text: string | undefined, value: number) => ({ text, value, isRest: false });
const rest = { text: undefined, value: 5, isRest: true };
const nameOf = (text: string | undefined): string => text ?? '(none)';
const siteOf = (text: string): string | undefined =>
  text.startsWith('www.google.') ? 'Google' : undefined;

it('groups are those of both forms of an answer', () => {
  const series = [
    { breakdown: { $country: 'DE' }, value: 3 },
    { breakdown: {}, value: 2 },
    { isOthers: true, value: 5 },
  ];
  const visits = create(QueryResponseSchema, {
    result: { case: 'segmentation', value: { series } },
  });
  const expected = [group('DE', 3), group(undefined, 2), rest];
  expect(groupsOf(visits, '$country')).toEqual(expected);
  const rows = [
    { dimensionValue: 'DE', value: 3 },
    { isAbsent: true, value: 2 },
    { isOthers: true, value: 5 },
  ];
  const top = create(QueryResponseSchema, { result: { case: 'topK', value: { rows } } });
  expect(groupsOf(top, '$country')).toEqual(expected);
});

it('a row has the second measure of its own group, in whatever order', () => {
  const second = [group(undefined, 0.5), rest, group('/b', 0.25)];
  const rows = rankedRows(
    [group('/a', 9), group('/b', 8), group(undefined, 7), rest],
    second,
    nameOf,
  );
  expect(rows.map(({ name, value, second }) => [name, value, second])).toEqual([
    ['/a', 9, undefined],
    ['/b', 8, 0.25],
    ['(none)', 7, 0.5],
    ['All others', 5, undefined],
  ]);
});

it('hosts of one site are one row, with the rate of all their visits', () => {
  const groups = [group(undefined, 6), group('www.google.de', 4), group('a.org', 3)];
  const more = group('www.google.com', 3);
  const rates = [group('www.google.de', 0.25), group('www.google.com', 2 / 3), group('a.org', 1)];
  const rows = withSites(rankedRows([...groups, more], rates, nameOf), siteOf);
  expect(rows.map(({ value, second }) => [value, second])).toEqual([
    [7, 3 / 7],
    [6, undefined],
    [3, 1],
  ]);
  expect(rows[0]?.texts).toEqual(['www.google.de', 'www.google.com']);
});

it('nothing is put together where a site may have more among all others', () => {
  const rows = rankedRows(
    [group('www.google.de', 4), group('www.google.com', 3), rest],
    [],
    nameOf,
  );
  expect(withSites(rows, siteOf)).toEqual(rows);
});

it('what is beyond the greatest rows adds up', () => {
  const rows = rankedRows([group('a', 4), group('b', 3), group('c', 2), rest], [], nameOf);
  expect(cutRows(rows, 3)).toEqual(rows);
  expect(cutRows(rows, 2).map(({ value, isRest }) => [value, isRest])).toEqual([
    [4, false],
    [3, false],
    [7, true],
  ]);
});

it('a row filters by all that it stands for', () => {
  const [one, none, others] = rankedRows([group('a', 4), group(undefined, 3), rest], [], nameOf);
  if (!one || !none || !others) throw new Error('three rows');
  expect(conditionOf('p', one)).toMatchObject({ operator: FilterOperator.EQUALS, values: ['a'] });
  expect(conditionOf('p', none)).toMatchObject({ operator: FilterOperator.IS_NOT_SET });
  expect(conditionOf('p', others)).toBeUndefined();
  const both = conditionOf('p', { ...one, texts: ['a', 'b'] });
  expect(both).toMatchObject({ operator: FilterOperator.IN, values: ['a', 'b'] });
});

it('a search finds names and values, and never all others', () => {
  const named = (text: string | undefined) => (text === 'DE' ? 'Germany' : 'Other land');
  const rows = rankedRows([group('DE', 4), group('FR', 3), rest], [], named);
  const found = (text: string) => searched(rows, text).map(({ name }) => name);
  expect(found(' GERM ')).toEqual(['Germany']);
  expect(found('fr')).toEqual(['Other land']);
  expect(found('other')).toEqual(['Other land']);
  expect(found('')).toHaveLength(3);
});
