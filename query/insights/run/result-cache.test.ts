import { expect, it } from 'vitest';
import { ResultCache, type Rows } from './result-cache.ts';

const rows = (characters: number): Rows => ({ texts: ['x'.repeat(characters)], characters });

it('keeps within its bytes the rows that were used last', () => {
  const cache = new ResultCache(100_000);
  for (const key of ['a', 'b', 'c', 'd']) cache.set(key, rows(10_000));
  cache.get('a');
  cache.set('e', rows(10_000));
  expect(['a', 'b', 'c', 'd', 'e'].filter((key) => cache.get(key))).toEqual(['a', 'c', 'd', 'e']);
  expect(cache.bytes).toBeLessThanOrEqual(100_000);
});

it('keeps no rows that would take a great part of it, nor older ones in their place', () => {
  const cache = new ResultCache(100_000);
  cache.set('small', rows(10));
  cache.set('large', rows(10));
  cache.set('large', rows(20_000));
  expect(cache.get('large')).toBeUndefined();
  expect(cache.get('small')).toBeDefined();
});

it('counts rows, however short they are', () => {
  const cache = new ResultCache(100_000);
  const many = { texts: Array.from({ length: 1_000 }, () => ''), characters: 0 };
  cache.set('many', many);
  expect(cache.get('many')).toBeUndefined();
});
