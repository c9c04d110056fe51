// How days of events become files.

import { describe, expect, it } from 'vitest';
import { maxParts } from '../../platform/exports/export-record.ts';
import { cutsOf, readPlan } from './part-plan.ts';

const dayMs = 86_400_000;
const range = { fromMs: 0, toMs: 100 * dayMs };
const days = (...rows: number[]) => rows.map((count, day) => ({ day: day + 1, rows: count }));
const inDays = (cuts: readonly number[]) => cuts.map((cut) => cut / dayMs);

describe('cuts of events', () => {
  it('hold whole days while they are few, and the whole range', () => {
    expect(inDays(cutsOf(range, [], 10))).toEqual([0, 100]);
    expect(inDays(cutsOf(range, days(4, 4, 4, 4, 4), 10))).toEqual([0, 3, 5, 100]);
    expect(inDays(cutsOf(range, days(11), 20))).toEqual([0, 100]);
  });

  it('divide a day that is too large into equal times', () => {
    expect(inDays(cutsOf(range, days(4, 40, 4), 10))).toEqual([0, 2, 2.25, 2.5, 2.75, 3, 100]);
  });

  it('stay within a range that begins or ends in a large day', () => {
    const within = { fromMs: 1.5 * dayMs, toMs: 1.9 * dayMs };
    expect(inDays(cutsOf(within, days(40), 10))).toEqual([1.5, 1.75, 1.9]);
  });

  it('are never more than a record can name', () => {
    for (const rows of [1, 9, 10, 11, 1_000, 1_000_000]) {
      const many = Array.from({ length: 30_000 }, (_, day) => ({
        ...{ day, rows: day % 7 === 0 ? rows * 100 : rows },
      }));
      const cuts = cutsOf({ fromMs: 0, toMs: 30_000 * dayMs }, many, 10);
      expect(cuts.length - 1).toBeLessThanOrEqual(maxParts);
      expect(cuts).toEqual(cuts.toSorted((one, other) => one - other));
      expect(new Set(cuts).size).toBe(cuts.length);
    }
    const one = cutsOf(range, days(1_000_000_000), 10);
    expect(one.length - 1).toBeLessThanOrEqual(maxParts);
  });
});

it('a plan is read as it was written, and what is none is none', () => {
  const plan = {
    ...{ partCount: 2, cuts: [0, 1, 2], flat: [{ name: 'plan', types: ['string', 'int'] }] },
    schema: [{ name: 'kind', type: 'String' }],
  };
  expect(readPlan(JSON.stringify(plan))).toEqual(plan);
  expect(readPlan('{"partCount": 2}')).toBeUndefined();
  expect(readPlan(JSON.stringify({ ...plan, flat: ['plan'] }))).toBeUndefined();
});
