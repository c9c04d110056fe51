import { expect, it } from 'vitest';
import { timeTicks } from './time-axis.ts';

const dayMs = 86_400_000;
const from = (first: string, count: number, stepMs: number) =>
  Array.from({ length: count }, (_, index) =>
    new Date(Date.parse(`${first}Z`) + index * stepMs).toISOString().replace('.000Z', '+00:00'),
  );
const texts = (labels: readonly string[], most: number) =>
  timeTicks(labels, most).map(({ text }) => text);

it('names every day where they fit, else every second one, else Mondays', () => {
  const week = from('2026-11-20T00:00:00', 7, dayMs);
  expect(texts(week, 8)).toEqual(
    ['20', '21', '22', '23', '24', '25', '26'].map((day) => `${day} Nov`),
  );
  expect(texts(week, 4)).toEqual(['21 Nov', '23 Nov', '25 Nov']);
  const month = from('2026-11-01T00:00:00', 30, dayMs);
  expect(texts(month, 8)).toEqual(['2 Nov', '9 Nov', '16 Nov', '23 Nov', '30 Nov']);
});

it('names months at their first bucket', () => {
  const quarter = from('2026-08-20T00:00:00', 100, dayMs);
  expect(texts(quarter, 4)).toEqual(['Sept 2026', 'Oct 2026', 'Nov 2026'].map(british));
  const weeks = from('2026-01-05T00:00:00', 48, 7 * dayMs);
  expect(timeTicks(weeks, 5).map(({ index }) => index)[0]).toBeGreaterThan(0);
  expect(texts(weeks, 5).length).toBeGreaterThan(1);
});

it('names hours by the clock, and midnights by their day', () => {
  const hours = from('2026-11-23T00:00:00', 48, dayMs / 24);
  expect(texts(hours, 4)).toEqual(['23 Nov', '12:00', '24 Nov', '12:00']);
});

it('takes the clock of the labels, also where it changes', () => {
  const labels = ['2026-11-01T00:00:00-07:00', '2026-11-01T01:00:00-07:00'];
  labels.push('2026-11-01T01:00:00-08:00', '2026-11-01T02:00:00-08:00');
  expect(texts(labels, 4)[0]).toBe('1 Nov');
});

it('never names more than fit, whatever the buckets are', () => {
  for (const stepMs of [1_000, 60_000, 3_600_000, dayMs, 7 * dayMs, 31 * dayMs])
    for (const count of [1, 2, 5, 31, 200])
      for (const most of [1, 2, 5, 9]) {
        const ticks = timeTicks(from('2026-03-05T00:00:00', count, stepMs), most);
        expect(ticks.length).toBeGreaterThan(0);
        expect(ticks.length).toBeLessThanOrEqual(most);
      }
  expect(timeTicks([], 5)).toEqual([]);
});

/** Which of both the version of the language's data writes. */
function british(text: string): string {
  const sample = new Intl.DateTimeFormat('en-GB', { month: 'short' }).format(Date.UTC(2026, 8));
  return text.replace('Sept', sample);
}
