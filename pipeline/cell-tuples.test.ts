import { expect, it } from 'vitest';
import { CellTuples } from './cell-tuples.ts';

it('gives equal tuples one number and others the next, however many there are', () => {
  const tuples = new CellTuples(3);
  const tupleOf = (n: number): Int32Array => Int32Array.of(n >> 8, n & 255, -n);
  for (let n = 0; n < 10_000; n++) expect(tuples.numberOf(tupleOf(n))).toBe(n);
  for (let n = 0; n < 10_000; n += 7) expect(tuples.numberOf(tupleOf(n))).toBe(n);
  expect(tuples.numberOf(Int32Array.of(0, 0, 1))).toBe(10_000);
  expect(tuples.count).toBe(10_001);
  tuples.clear();
  expect(tuples.numberOf(tupleOf(5))).toBe(0);
  expect(tuples.numberOf(tupleOf(4))).toBe(1);
  expect(tuples.numberOf(tupleOf(5))).toBe(0);
});
