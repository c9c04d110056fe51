import { expect, it } from 'vitest';
import { bodyOf, type HeldEvent } from './held-event.ts';
import { MonthWindow } from './month-window.ts';
import type { ReadyEvent } from './ready-event.ts';

const event = (day: string, text = '{}'): ReadyEvent => ({
  ...{ text, eventId: day, kind: 'k', distinctId: 'd', hasSession: true },
  timeMs: Date.parse(`${day}T00:00:00Z`),
});
const days = (events: readonly HeldEvent[]): string[] => events.map(({ eventId }) => eventId);

it('gives the fullest month first, and at the end the earliest, each in the order of time', () => {
  const window = new MonthWindow({ maxEvents: 6, maxBytes: 1e6 });
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
  const window = new MonthWindow({ maxEvents: 100, maxBytes: 10 });
  window.add(event('2024-01-01', 'x'.repeat(10)));
  expect(window.isFull).toBe(true);
  window.takeLargest();
  expect(window.isFull).toBe(false);
});

it('holds each text as it is, with the session that was given to it', () => {
  const window = new MonthWindow();
  const long = 'Grüße 漢字 🎉 '.repeat(4_000);
  const texts = [
    '{"a":1}',
    JSON.stringify({ long }),
    ...Array(500).fill(JSON.stringify({ b: 'x' })),
  ];
  for (const text of texts) window.add(event('2024-01-01', text));
  const held = window.takeEarliest();
  expect(JSON.parse(bodyOf(held).toString()).events).toEqual(texts.map((text) => JSON.parse(text)));
  const sessionId = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
  const given = held.slice(0, 2).map((one) => ({ ...one, sessionId }));
  const sent = JSON.parse(bodyOf(given).toString()).events;
  expect(sent).toEqual([
    { sessionId, a: 1 },
    { sessionId, long },
  ]);
});
