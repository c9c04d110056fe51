import { expect, it } from 'vitest';
import { setBounded } from './bounded-map.ts';

it('drops the oldest entries, and only as many as must go', () => {
  const map = new Map([
    ['a', 1],
    ['b', 2],
    ['c', 3],
  ]);
  setBounded(map, 'd', 4, 5);
  expect([...map.keys()]).toEqual(['a', 'b', 'c', 'd']);
  setBounded(map, 'e', 5, 3);
  expect([...map]).toEqual([
    ['c', 3],
    ['d', 4],
    ['e', 5],
  ]);
});
