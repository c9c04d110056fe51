import { expect, it } from 'vitest';
import { joined, type MoreRow } from './joined.ts';

const row = (name: string, value: number): MoreRow => ({
  ...{ key: `=${name}`, name, texts: [name], value, second: undefined, isRest: false },
});
const rest = (value: number, groups?: number): MoreRow => ({
  ...{ key: 'rest', name: 'All others', texts: [], value, second: undefined, isRest: true },
  ...(groups !== undefined && { groups }),
});
const namesOf = ({ rows }: { rows: readonly MoreRow[] }) => rows.map(({ name }) => name);

it('takes what came later from all others, so that the sum stays', () => {
  const here = [row('a', 9), row('b', 8)];
  const first = joined(here, [rest(7, 3)]);
  expect(first).toMatchObject({ count: 5, rest: { value: 7 } });
  const next = joined(here, [rest(7, 3), row('c', 4), row('d', 2), rest(1, 1)]);
  expect(namesOf(next)).toEqual(['a', 'b', 'c', 'd']);
  expect(next).toMatchObject({ count: 5, rest: { value: 1 } });
  const all = joined(here, [rest(7, 3), row('c', 4), row('d', 2), rest(1, 1), row('e', 1)]);
  expect(all).toMatchObject({ count: 5, rest: undefined });
});

it('joins what is known by its name with what the service found', () => {
  const found = joined([row('de', 9)], [row('tr', 20), row('de', 9), row('x', 3), rest(2, 2)]);
  expect(namesOf(found)).toEqual(['tr', 'de', 'x']);
  expect(found).toMatchObject({ count: 5, rest: { value: 2 } });
});

it('knows no number of rows where an answer does not say how many all others are', () => {
  expect(joined([row('a', 2)], [rest(1)]).count).toBeUndefined();
  expect(joined([row('a', 2)], []).count).toBe(1);
});
