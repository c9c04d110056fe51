import { expect, it } from 'vitest';
import { lastDayThatGoes } from './last-day.ts';

const nowMs = Date.UTC(2026, 10, 20, 9, 30);

it.each([
  [0, 30, '2026-10-20'],
  [365, 30, '2026-10-20'],
  [30, 1, '2026-11-18'],
  [30, 30, undefined],
  [30, 365, undefined],
  [30, 0, undefined],
  [0, 0, undefined],
  [0, Number.NaN, undefined],
  [0, 1.5, undefined],
])('of %s days, then %s, goes all up to %s', (before, after, day) => {
  expect(lastDayThatGoes(before, after, nowMs)).toBe(day);
});
