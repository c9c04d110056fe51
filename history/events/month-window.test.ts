import { expect, it } from 'vitest';
import { MonthWindow } from './month-window.ts';
import type { ReadyEvent } from './ready-event.ts';

const event = (day: string, text = '{}'): ReadyEvent => ({
  ...{ text, eventId: day, kind: 'k', distinctId: 'd', hasSession: true },
  timeMs: Date.parse(`${day}T00:00:00Z`),
});
const days = (events: readonly ReadyEvent[]): string[] => events.map(({ eventId }) => eventId);

it('gives the fullest month first, and at the end the earliest, each in the order of time', () => {
  const window = new MonthWindow({ maxEvents: 6, maxCharacters: 1e6 });
  const some = ['2024-02-03', '2023-02-02', '2024-02-01', '2024-03-01', '2024-02-02'];
  for (const day of some) window.add(event(day));
  expect(window.isFull).toBe(false);
  window.add(event('2024-01-31'));
  expect(window.isFull).toBe(true);
  expect(days(window.takeLargest())).toEqual(['2024-02-01', '2024-02-02', '2024-02-03']);
  expect(window.isFull).toBe(false);
  expect(days(window.takeEarliest())).toEqual(['2023-02-02']);
  expect(days(window.takeEarliest())).toEqual(['2024-01-31']);
  expect(days(window.takeEarliest())).toEqual(['2024-03-01']);
  expect([window.takeEarliest(), window.takeLargest()]).toEqual([[], []]);
});

it('is full by its texts, too, and empties what it gives', () => {
  const window = new MonthWindow({ maxEvents: 100, maxCharacters: 10 });
  window.add(event('2024-01-01', 'x'.repeat(10)));
  expect(window.isFull).toBe(true);
  window.takeLargest();
  expect(window.isFull).toBe(false);
});
