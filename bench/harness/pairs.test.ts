// Pairs of runs: their order, their checks and their medians, with contenders that do nothing.

import { describe, expect, it } from 'vitest';
import { comparePairs, median, spreadOf } from './pairs.ts';

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

  it('begin with the other side every second time where they are to swap', async () => {
    const calls: string[] = [];
    const contender = (name: string, result: number) => ({
      run() {
        calls.push(name);
        return result;
      },
    });
    const options = { pairs: 2, warmUps: 1, swaps: true };
    const pairing = await comparePairs(contender('a', 1), contender('b', 2), options);
    expect(calls).toEqual(['a', 'b', 'b', 'a', 'a', 'b']);
    expect(pairing).toMatchObject({ subjectResult: 1, calibrationResult: 2 });
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

  it('tell between which ranks the median lies', () => {
    // Of a hundred values below 50 in a binomial distribution: 40 to 60 with 95 % confidence.
    const values = Array.from({ length: 100 }, (_, n) => (n * 37) % 100);
    expect(spreadOf(values)).toEqual({ median: 49.5, min: 0, max: 99, low: 40, high: 59 });
    expect(spreadOf([2, 1, 3])).toEqual({ median: 2, min: 1, max: 3, low: 1, high: 3 });
  });
});
