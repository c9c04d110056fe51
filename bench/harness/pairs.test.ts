// Pairs of runs: their order, their checks and their medians, with contenders that do nothing.

import { describe, expect, it } from 'vitest';
import { comparePairs, median } from './pairs.ts';

describe('pairs', () => {
  it('take turns, and count neither warm-ups nor preparation', async () => {
    const calls: string[] = [];
    const contender = (name: string) => ({
      run: () => calls.push(name) * 0,
      prepare: async () => void calls.push(`prepare ${name}`),
    });
    const pairing = await comparePairs(contender('a'), contender('b'), { pairs: 2, warmUps: 1 });
    expect(calls).toEqual(Array(3).fill(['prepare a', 'a', 'prepare b', 'b']).flat());
    expect(pairing).toMatchObject({ subjectResult: 0, calibrationResult: 0 });
  });

  it('refuse a contender whose result changes', async () => {
    let runs = 0;
    const fickle = { run: () => runs++ };
    const steady = { run: () => 1 };
    const compared = comparePairs(fickle, steady, { pairs: 2, warmUps: 0 });
    await expect(compared).rejects.toThrow("a contender's results differ from run to run: 0, 1");
  });

  it('give the median', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    expect(() => median([])).toThrow('the median of nothing');
  });
});
