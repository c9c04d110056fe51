// Time windows by themselves, without an engine.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { dayMs } from '../../platform/clock.ts';
import { newestFirst } from './time-windows.ts';

const nowMs = Date.UTC(2026, 10, 20, 13, 30);
const day = (daysAgo: number): number => Date.UTC(2026, 10, 20) - daysAgo * dayMs;

it('the first window is today and the future, the next ones widen', () => {
  const range = { fromMs: 0, toMs: Date.UTC(2200, 0, 1) };
  expect([...newestFirst(range, nowMs, 1, 8)]).toEqual([
    { fromMs: day(0), toMs: range.toMs },
    { fromMs: day(8), toMs: day(0) },
    { fromMs: day(72), toMs: day(8) },
    { fromMs: day(584), toMs: day(72) },
    { fromMs: 0, toMs: day(584) },
  ]);
});

it('the first window of a past range is its last day', () => {
  const range = { fromMs: 0, toMs: day(100) };
  expect([...newestFirst(range, nowMs, 1, 8)][0]).toEqual({ fromMs: day(101), toMs: day(100) });
});

it('windows start and grow by the given numbers', () => {
  const range = { fromMs: 0, toMs: nowMs };
  expect([...newestFirst(range, nowMs, 16, 64)].map(({ fromMs }) => fromMs)).toEqual([day(15), 0]);
});

it('a range in the future is one window', () => {
  const range = { fromMs: nowMs + dayMs, toMs: nowMs + 2 * dayMs };
  expect([...newestFirst(range, nowMs, 1, 8)]).toEqual([range]);
});

it('an empty range has no window', () => {
  expect([...newestFirst({ fromMs: 5, toMs: 5 }, nowMs, 1, 8)]).toEqual([]);
});

it('windows leave no gap, do not overlap, and end', () => {
  const moment = fc.integer({ min: 0, max: Date.UTC(2199, 0, 1) });
  fc.assert(
    fc.property(moment, moment, moment, fc.integer({ min: 1, max: 64 }), (a, b, now, days) => {
      const range = { fromMs: Math.min(a, b), toMs: Math.max(a, b) };
      const windows = [...newestFirst(range, now, days, 8)];
      expect(windows.length).toBeLessThan(8);
      let toMs = range.toMs;
      for (const window of windows) {
        expect(window.toMs).toBe(toMs);
        expect(window.fromMs).toBeLessThan(window.toMs);
        toMs = window.fromMs;
      }
      expect(toMs).toBe(range.fromMs);
    }),
  );
});
