import { beforeEach, expect, it } from 'vitest';
import { HeldDays } from './held-days.ts';

const hourMs = 3_600_000;
let nowMs = 0;
let held: HeldDays;
beforeEach(() => {
  nowMs = 0;
  held = new HeldDays(() => nowMs);
});

const million = 1_000_000;
const small = { entries: 1_000, profiles: 1_000 };

/** Holds days of so many entries, of one profile. */
function hold(projectId: string, entries: number): boolean {
  const project = held.withRoom(projectId, { entries, profiles: 1 });
  const [profiles, events] = [new Uint32Array(entries), new Uint32Array(entries)];
  const quarters = [events, events, events] as const;
  project?.days.set(1, { version: 1, profiles, persons: entries, events, quarters });
  return project !== undefined;
}

it('holds the days of a project as long as it asks, and of another where there is room', () => {
  expect(held.get('first')).toBeUndefined();
  expect(hold('first', 9 * million)).toBe(true);
  nowMs += hourMs / 2;
  expect(held.get('first')?.days.size).toBe(1);
  nowMs += hourMs;
  expect(hold('second', 2 * million)).toBe(false);
  expect(held.get('first')?.days.size).toBe(1);
});

it('drops a project that nobody asked about for an hour, where another needs its room', () => {
  hold('first', 9 * million);
  hold('little', 1_000);
  nowMs += hourMs + 1;
  expect(hold('second', 2 * million)).toBe(true);
  expect(held.get('first')).toBeUndefined();
  // There is room enough without it.
  expect(held.get('little')?.days.size).toBe(1);
});

it('refuses a project for an hour that has no room, and drops its days', () => {
  hold('first', 9 * million);
  expect(held.withRoom('first', { entries: 2 * million, profiles: 1 })).toBeUndefined();
  expect(held.get('first')).toBeUndefined();
  nowMs += hourMs - 1;
  expect(held.withRoom('first', small)).toBeUndefined();
  nowMs += 1;
  expect(held.withRoom('first', small)).toBeDefined();
});

it('counts profiles, too', () => {
  expect(held.withRoom('first', { entries: million, profiles: 3 * million })).toBeUndefined();
});
