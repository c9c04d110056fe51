import { expect, it } from 'vitest';
import { daysBetween } from './zoom.ts';

const today = '2026-11-23';
const labels = (...days: string[]) => days.map((day) => `${day}T00:00:00+01:00`);
const days = labels('2026-11-20', '2026-11-21', '2026-11-22', '2026-11-23');

it('takes the days of both ends, in any order', () => {
  expect(daysBetween(days, 1, 2, today)).toEqual({ from: '2026-11-21', to: '2026-11-22' });
  expect(daysBetween(days, 3, 1, today)).toEqual({ from: '2026-11-21', to: '2026-11-23' });
});

it('takes the day of hours', () => {
  const hours = ['2026-11-20T22:00:00Z', '2026-11-20T23:00:00Z', '2026-11-21T00:00:00Z'];
  expect(daysBetween(hours, 0, 1, today)).toEqual({ from: '2026-11-20', to: '2026-11-20' });
  expect(daysBetween(hours, 1, 2, today)).toEqual({ from: '2026-11-20', to: '2026-11-21' });
});

it('takes weeks and months whole, as far as today', () => {
  const weeks = labels('2026-10-29', '2026-11-02', '2026-11-09', '2026-11-16', '2026-11-23');
  expect(daysBetween(weeks, 0, 2, today)).toEqual({ from: '2026-10-29', to: '2026-11-15' });
  expect(daysBetween(weeks, 3, 4, today)).toEqual({ from: '2026-11-16', to: today });
  expect(daysBetween(weeks, 3, 4, '2027-01-01')?.to).toBe('2026-11-29');
  const months = labels('2026-01-01', '2026-02-01');
  expect(daysBetween(months, 1, 1, today)).toEqual({ from: '2026-02-01', to: '2026-02-28' });
});

it('is none of buckets that are not there', () => {
  expect(daysBetween([], 0, 1, today)).toBeUndefined();
  expect(daysBetween(days, 2, 9, today)).toBeUndefined();
});
