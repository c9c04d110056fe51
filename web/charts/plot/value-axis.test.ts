import { expect, it } from 'vitest';
import { tickText, valueAxis } from './value-axis.ts';

const ticks = (low: number, high: number, most = 5, isWhole = true) =>
  valueAxis({ low, high }, 'number', most, isWhole).ticks;

it('has round steps from zero on', () => {
  expect(ticks(3, 442)).toEqual([0, 100, 200, 300, 400, 500]);
  expect(ticks(0, 7)).toEqual([0, 2, 4, 6, 8]);
  expect(ticks(0, 1_234_567)).toEqual([0, 500_000, 1_000_000, 1_500_000]);
  expect(ticks(0, 0.3, 5, false)).toEqual([0, 0.1, 0.2, 0.3]);
});

it('has no part of an event, and an axis where nothing was counted', () => {
  expect(ticks(0, 2)).toEqual([0, 1, 2]);
  expect(ticks(0, 0)).toEqual([0, 1]);
  expect(ticks(0, 0, 5, false).at(-1)).toBe(1);
});

it('has zero among its ticks where values hang below it', () => {
  expect(ticks(-332, 442)).toEqual([-400, -200, 0, 200, 400, 600]);
  expect(ticks(-5, -1)).toEqual([-5, -4, -3, -2, -1, 0]);
});

it('holds every value that it is made for', () => {
  for (const high of [1, 3, 9, 10, 11, 99, 100, 101, 12_345])
    for (const low of [0, -1, -17, -4_321])
      for (const most of [1, 3, 6]) {
        const axis = valueAxis({ low, high }, 'number', most, true);
        expect(axis.low).toBeLessThanOrEqual(low);
        expect(axis.high).toBeGreaterThanOrEqual(high);
        expect(axis.ticks).toContain(0);
        expect(axis.ticks.length).toBeLessThanOrEqual(most + 3);
      }
});

it('steps through times as clocks do', () => {
  const { ticks: steps } = valueAxis({ low: 0, high: 111 }, 'seconds', 5, false);
  expect(steps.map((tick) => tickText(tick, 'seconds'))).toEqual([
    ...['0', '30 s', '1 min', '1 min 30 s', '2 min'],
  ]);
  const long = valueAxis({ low: 0, high: 5 * 3600 }, 'seconds', 5, false);
  expect(long.ticks.map((tick) => tickText(tick, 'seconds')).slice(1, 3)).toEqual(['1 h', '2 h']);
  expect(tickText(0.5, 'seconds')).toBe('500 ms');
});

it('writes shares in per cent, and numbers below zero with a minus', () => {
  const { ticks: steps } = valueAxis({ low: 0, high: 0.8 }, 'share', 5, false);
  expect(steps.map((tick) => tickText(tick, 'share'))).toEqual(['0%', '20%', '40%', '60%', '80%']);
  expect(tickText(0.025, 'share')).toBe('2.5%');
  expect(tickText(-400, 'number')).toBe('−400');
  expect(tickText(20_000, 'number')).toBe('20K');
});
