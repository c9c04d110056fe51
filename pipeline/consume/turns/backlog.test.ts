import { expect, it } from 'vitest';
import { Backlog } from './backlog.ts';

const secondMs = 1_000;

/** Looks each second, from `fromMs` to `toMs`, at a writer of ten messages a second; says what it found last. */
function look(backlog: Backlog, fromMs: number, toMs: number, waiting: (atMs: number) => number) {
  let found = false;
  for (let atMs = fromMs; atMs <= toMs; atMs += secondMs)
    found = backlog.isTooLong(waiting(atMs), atMs / 100, atMs);
  return found;
}

it('is too long where it would take the writer more than five minutes', () => {
  const grown = (most: number) => (atMs: number) => Math.min(most, atMs);
  expect(look(new Backlog(), 0, 60_000, grown(3_000))).toBe(false);
  expect(look(new Backlog(), 0, 60_000, grown(3_100))).toBe(true);
});

it('goes by the last minute, and by nothing before ten seconds', () => {
  const backlog = new Backlog();
  expect(look(backlog, 0, 9_000, (atMs) => 10 * atMs)).toBe(false);
  expect(look(backlog, 10_000, 90_000, () => 4_000)).toBe(true);
  // Ten times as fast: it is known a minute later.
  let found = true;
  for (let atMs = 91_000; atMs <= 160_000; atMs += secondMs)
    found = backlog.isTooLong(4_000, 900 + (atMs - 90_000) / 10, atMs);
  expect(found).toBe(false);
});

it('does not count what waited when the writer began to store, at the start or after an interruption', () => {
  const backlog = new Backlog();
  expect(look(backlog, 0, 60_000, () => 50_000)).toBe(false);
  expect(look(backlog, 61_000, 90_000, () => 50_001)).toBe(true);
  backlog.interrupt();
  expect(look(backlog, 91_000, 150_000, () => 80_000)).toBe(false);
  expect(look(backlog, 151_000, 160_000, () => 80_001)).toBe(true);
});
