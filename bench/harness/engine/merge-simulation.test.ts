// Merges of a known length rewrite the rows of the simulated table at known moments.

import { describe, expect, it } from 'vitest';
import { type Arrival, simulateMerges } from './merge-simulation.ts';

/** A part of 9.5 MB a second; a merge of fourteen takes 5.6 seconds. */
const arrival: Arrival = {
  ...{ rowsPerSecond: 100_000, rowsPerInsert: 100_000 },
  ...{ freshBytesPerRow: 95, mergedBytesPerRow: 90, mergeSecondsPerRow: 4e-6 },
};

describe('the simulated merges', () => {
  it('rewrite nothing before the fourteenth part, and then as far as they are', () => {
    const { aged, merged } = simulateMerges(arrival, [1_300_000, 1_400_000, 1_500_000]);
    expect(aged.map(({ rows }) => rows)).toEqual([1_300_000, 1_400_000, 1_500_000]);
    expect(aged.map(({ rewrites }) => rewrites * 1e6)).toEqual([0, 0, expect.closeTo(166_667, 0)]);
    expect(aged.map(({ partsMost }) => partsMost)).toEqual([13, 14, 15]);
    expect(merged.rewrites).toBeCloseTo(14 / 15);
  });

  it('count parts over time', () => {
    // No part for a second, one for the next, and so on.
    const { aged } = simulateMerges(arrival, [500_000]);
    expect(aged[0]?.partsMean).toBeCloseTo((0 + 1 + 2 + 3 + 4) / 5);
  });

  it('are the same for larger inserts, and fewer', () => {
    const rows = [50_000_000];
    const [small] = simulateMerges(arrival, rows).aged;
    const [large] = simulateMerges({ ...arrival, rowsPerInsert: 200_000 }, rows).aged;
    expect(large?.rewrites).toBeLessThan(small?.rewrites ?? 0);
  });

  it('rewrite more, the more rows there are: 0.9 at 4 million, 3.6 at a billion, as other simulations had it', () => {
    const others = { ...arrival, freshBytesPerRow: 106, mergedBytesPerRow: 93 };
    const slow = { ...others, rowsPerSecond: 70_000, rowsPerInsert: 50_000 };
    const { aged } = simulateMerges({ ...slow, mergeSecondsPerRow: 3.5e-6 }, [4e6, 200e6, 1e9]);
    expect(aged.map(({ rewrites }) => Math.round(10 * rewrites) / 10)).toEqual([0.9, 2.6, 3.6]);
  });

  it('hold inserts up at a thousand parts where they do not keep up', () => {
    const { aged } = simulateMerges({ ...arrival, mergeSecondsPerRow: 2e-5 }, [200e6]);
    expect(aged[0]?.partsMost).toBeLessThanOrEqual(1_000);
  });
});
