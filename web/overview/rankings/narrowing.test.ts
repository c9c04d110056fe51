import { expect, it } from 'vitest';
import { FilterOperator } from '../../../proto/gen/common/v1/filter_pb.js';
import { canExclude, namedLike, narrowedTo } from './narrowing.ts';

const { CONTAINS, NOT_IN, IS_SET } = FilterOperator;
const said = (property: string, text: string, known: (string | undefined)[] = []) =>
  narrowedTo(property, text, known).map(({ operator, value, values }) => [
    operator,
    ...(value === '' ? values : [value]),
  ]);

it('asks for values that have a text, and are none of those that are known', () => {
  expect(said('plan', 'pro')).toEqual([[CONTAINS, 'pro']]);
  expect(said('plan', '', ['a', 'b'])).toEqual([[NOT_IN, 'a', 'b']]);
  expect(said('plan', 'pro', ['a', undefined])).toEqual([
    [CONTAINS, 'pro'],
    [NOT_IN, 'a'],
    [IS_SET],
  ]);
  expect(said('plan', '', [undefined])).toEqual([[IS_SET]]);
});

it('looks for a path as browsers send it', () => {
  expect(said('$pathname', '/ōkami a')).toEqual([[CONTAINS, '/%C5%8Dkami%20a']]);
  // The field ends within an emoji.
  expect(said('$pathname', '/\ud83d')).toEqual([[CONTAINS, '/\ud83d']]);
  expect(said('$pathname', `/${'ō'.repeat(80)}`)).toEqual([
    [CONTAINS, `/${'%C5%8D'.repeat(42)}%C5`],
  ]);
  expect(said('$title', 'ōkami')).toEqual([[CONTAINS, 'ōkami']]);
});

it('knows values by what they are called', () => {
  expect(namedLike('$country', 'germ')).toContain('DE');
  expect(namedLike('$country', 'de')).not.toContain('DE');
  expect(namedLike('$referrerDomain', 'pinTEREST')).toContain('pin.it');
  expect(namedLike('$browser', 'fire')).toEqual([]);
});

it('leaves room for the conditions of the page in a request', () => {
  const texts = (count: number, length: number) =>
    Array.from({ length: count }, (_, index) => String(index).padEnd(length, 'x'));
  expect(canExclude(texts(900, 10))).toBe(true);
  expect(canExclude(texts(901, 10))).toBe(false);
  expect(canExclude(texts(100, 1_000))).toBe(false);
});
