// The choice of a merge: cases worked out by hand from ClickHouse's rules and our settings.

import { describe, expect, it } from 'vitest';
import { chooseMerge, maxMergeBytes, type Part } from './merge-selector.ts';

const MiB = 1_048_576;

/** Parts of these sizes, written at 0 s. */
function partsOf(mebibytes: readonly number[]): Part[] {
  return mebibytes.map((size) => ({ rows: 1, bytes: size * MiB, writtenSeconds: 0 }));
}

function chosen(mebibytes: readonly number[], { nowSeconds = 0, maxMiB = 1_000_000 } = {}) {
  const parts = partsOf(mebibytes);
  const state = { nowSeconds, partsInPartition: parts.length, maxBytes: maxMiB * MiB };
  const range = chooseMerge(parts, state);
  return range && [range.from, range.to];
}

const fresh = (count: number): number[] => Array(count).fill(9);

describe('a merge of events', () => {
  it('is of fourteen equal parts: the base of 15 is 13.7 there, and above 13 with one part less', () => {
    expect(chosen(fresh(13))).toBeUndefined();
    expect(chosen(fresh(14))).toEqual([0, 14]);
  });

  it('is of sixteen parts at most, and of fifteen where the partition has eighteen', () => {
    expect(chosen(fresh(17))).toEqual([1, 17]);
    expect(chosen(fresh(18))).toEqual([3, 18]);
  });

  it('leaves out a larger part before fresh ones', () => {
    expect(chosen([130, ...fresh(13)])).toBeUndefined();
    expect(chosen([130, ...fresh(14)])).toEqual([1, 15]);
  });

  it('leaves out parts of less than a hundredth at its end', () => {
    expect(chosen([...fresh(14), 0.5, 0.5])).toEqual([0, 14]);
  });

  it('is of fewer parts where they are old, the sooner the smaller they are', () => {
    expect(chosen(fresh(4), { nowSeconds: 600 })).toBeUndefined();
    expect(chosen([0.1, 0.1], { nowSeconds: 3_600 })).toEqual([0, 2]);
    expect(chosen(fresh(2), { nowSeconds: 3_600 })).toBeUndefined();
    expect(chosen(fresh(2), { nowSeconds: 30 * 86_400 })).toEqual([0, 2]);
  });

  it('is of two parts where fifty lie side by side', () => {
    const halving = Array.from({ length: 50 }, (_, index) => 2 ** (40 - index / 2));
    expect(chosen(halving.slice(0, 20))).toBeUndefined();
    expect(chosen(halving)).toBeDefined();
  });

  it('is of no more bytes than there are slots for', () => {
    expect(chosen(fresh(14), { maxMiB: 100 })).toBeUndefined();
    expect(maxMergeBytes(0)).toBe(150 * 1_024 * MiB);
    expect(maxMergeBytes(1)).toBe(150 * 1_024 * MiB);
    expect(maxMergeBytes(2) / MiB).toBeCloseTo(3.35, 2);
  });
});
