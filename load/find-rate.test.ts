// The search for a rate is a function of its samples: an instance is a limit here.

import { describe, expect, it } from 'vitest';
import { breachOf, foundSoFar, nextRate, type Sample, type Search } from './find-rate.ts';

const bounds = { p99Ms: 100, listedMs: 5_000 };
const search: Search = { first: 1_000, lowest: 100, highest: 1_000_000, bounds };

function sample(eventsPerSecond: number, changes: Partial<Sample> = {}): Sample {
  const good = { p99Ms: 5, listedMs: 900, failures: 0, unsentShare: 0 };
  return { eventsPerSecond, ...good, ...changes };
}

/** Steps against an instance that answers quickly up to `limit` events a second. */
function searchFor(
  limit: number,
  settings: Search = search,
): { rates: number[]; samples: Sample[] } {
  const samples: Sample[] = [];
  for (;;) {
    const rate = nextRate(samples, settings);
    if (rate === undefined) return { rates: samples.map((one) => one.eventsPerSecond), samples };
    samples.push(sample(rate, { p99Ms: rate <= limit ? 5 : 500 }));
  }
}

describe('the search', () => {
  it('doubles until a rate breaks twice, then narrows down to a tenth', () => {
    const { rates, samples } = searchFor(9_000);
    expect(rates).toEqual([
      ...[1_000, 2_000, 4_000, 8_000, 16_000, 16_000],
      ...[11_000, 11_000, 9_400, 9_400, 8_700],
    ]);
    expect(foundSoFar(samples, bounds)).toEqual({
      held: 8_700,
      broke: { eventsPerSecond: 9_400, breach: 'p99', tries: 2 },
    });
  });

  it('halves where the first rate breaks', () => {
    const { rates, samples } = searchFor(300);
    expect(rates).toEqual([1_000, 1_000, 500, 500, 250, 350, 350, 300, 320, 320]);
    expect(foundSoFar(samples, bounds).held).toBeLessThanOrEqual(300);
    expect(foundSoFar(samples, bounds).held).toBeGreaterThan(270);
  });

  it('ends where not even one request a second holds', () => {
    const { rates, samples } = searchFor(0);
    expect(rates.at(-1)).toBe(search.lowest);
    expect(foundSoFar(samples, bounds)).toMatchObject({ held: undefined });
  });

  it('ends at the highest rate where nothing breaks', () => {
    const { samples } = searchFor(Number.POSITIVE_INFINITY, { ...search, highest: 5_000 });
    expect(foundSoFar(samples, bounds)).toEqual({ held: 5_000, broke: undefined });
  });

  it('goes on where a rate broke once and held the second time', () => {
    const samples = [sample(1_000), sample(2_000, { p99Ms: 300 })];
    expect(nextRate(samples, search)).toBe(2_000);
    expect(nextRate([...samples, sample(2_000)], search)).toBe(4_000);
  });

  it('ends after a bounded number of steps whatever the instance does', () => {
    for (const limit of [0, 99, 100, 101, 777, 54_321, 999_999, 10_000_000]) {
      expect(searchFor(limit).rates.length).toBeLessThanOrEqual(30);
    }
  });
});

it.each([
  [{ failures: 1, p99Ms: 500 }, 'answers'],
  [{ p99Ms: 100.1 }, 'p99'],
  [{ p99Ms: Number.POSITIVE_INFINITY }, 'p99'],
  [{ unsentShare: 0.02 }, 'behind'],
  [{ listedMs: 5_001 }, 'listed'],
  [{ listedMs: Number.POSITIVE_INFINITY }, 'listed'],
  [{ p99Ms: 100, listedMs: 5_000, unsentShare: 0.01 }, undefined],
  [{ listedMs: undefined }, undefined],
] as const)('a step with %j breaks by %s', (changes, breach) => {
  expect(breachOf(sample(1_000, changes), bounds)).toBe(breach);
});
