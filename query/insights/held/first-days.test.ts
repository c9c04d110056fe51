import { expect, it } from 'vitest';
import { FirstDays, loadFirstDays } from './first-days.ts';
import { HeldDays, holdDay } from './held-days.ts';
import type { ReadRows } from './load-days.ts';
import { pairWords } from './packed-words.ts';
import { ProfileNumbers } from './profile-numbers.ts';
import { ProfileSums } from './profile-sums.ts';

/** A profile's key and a day each. */
const pairsOf = (...rows: [profile: number, day: number][]): Uint32Array =>
  Uint32Array.from(rows.flatMap(([profile, day]) => [profile, 7, day, 0]));
const before = new Map([
  [20, 5],
  [21, 8],
]);
const olderThan = (firstDays: FirstDays, day: number): number[] => {
  const found: number[] = [];
  firstDays.eachBefore(day, (profile) => found.push(profile));
  return found;
};

it('first days are the earliest of several rows, and hold while as many events lie before', async () => {
  const numbers = new ProfileNumbers();
  numbers.of(1, 7);
  const firstDays = new FirstDays(before, numbers);
  for (const pairs of [pairsOf([1, 30], [2, 20]), pairsOf([1, 19], [3, 25], [2, 40])]) {
    firstDays.see(await numbers.ofAll(pairs, pairWords), pairs);
  }
  expect(olderThan(firstDays, 20)).toEqual([numbers.of(1, 7)]);
  expect(olderThan(firstDays, 21)).toEqual([numbers.of(1, 7), numbers.of(2, 7)]);
  expect(olderThan(firstDays, 65_000)).toHaveLength(3);
  expect([firstDays.holds(20, 5), firstDays.holds(20, 6), firstDays.holds(19, 5)]).toEqual([
    true,
    false,
    false,
  ]);
});

/** Answers that there are so many profiles, and one of them. */
const readOf =
  (profiles: number): ReadRows =>
  async ({ params }) => {
    const words = pairsOf([1, 19]);
    const isPart = params['part'] !== undefined;
    const text = Buffer.from(words.buffer).toString('base64');
    return { texts: [JSON.stringify(isPart ? [text] : [1, profiles])] };
  };

it('first days take half of the room at most: days need the rest', async () => {
  const held = new HeldDays(90_000_000, () => 0);
  await expect(loadFirstDays(held, 'of many', before, readOf(500_001))).rejects.toThrow(/no room/);
  await loadFirstDays(held, 'of some', before, readOf(400_000));
  const found = held.get('of some')?.firstDays;
  expect(found?.holds(20, 5)).toBe(true);
  expect(found === undefined ? [] : olderThan(found, 20)).toEqual([0]);
});

it('what was made of a day goes with it when the day is replaced', async () => {
  const held = new HeldDays(90_000_000, () => 0);
  await held.add('project', { days: 2, entries: 0, profiles: 0 }, async (project) => {
    const none = new Uint32Array(0);
    const day = { profiles: none, persons: 0, events: none, quarters: [none, none, none] } as const;
    holdDay(project, 1, { ...day, version: 1 });
    project.sums = await ProfileSums.of(project.numbers, [...project.days.values()]);
    holdDay(project, 2, { ...day, version: 1 });
    expect(project.sums).toBeDefined();
    holdDay(project, 1, { ...day, version: 2 });
    expect(project.sums).toBeUndefined();
  });
});
