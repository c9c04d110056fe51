// Counts of users beside sets that are made anew each time.

import { describe, expect, it } from 'vitest';
import { createDraw } from '../../../../test/harness/insights/random.ts';
import type { HeldDay } from '../held-days.ts';
import { MergedProfiles } from '../merged-profiles.ts';
import { pairWords } from '../packed-words.ts';
import { ProfileNumbers } from '../profile-numbers.ts';
import type { QuarterWords } from '../quarter-words.ts';
import {
  bitsOf,
  byFirst,
  byNumber,
  cellByFirst,
  havingOneOf,
  maxStretches,
  type Tally,
} from './tally.ts';
import { type Stretch, UserBits } from './user-bits.ts';

const draw = createDraw(3);
const profiles = 1_500;
const key = (profile: number): [number, number] => [(profile * 2_654_435_761) >>> 0, profile];
const pack = (words: readonly number[]): string =>
  Buffer.from(Uint32Array.from(words.map((word) => word >>> 0)).buffer).toString('base64');

/** Quarters of a profile on a day. */
interface Active {
  profile: number;
  quarters: QuarterWords;
}

const wordWith = (quarters: readonly number[]): QuarterWords => {
  const words: [number, number, number] = [0, 0, 0];
  for (const quarter of quarters) {
    const word = quarter < 32 ? 0 : quarter < 64 ? 1 : 2;
    words[word] = (words[word] | (1 << (quarter % 32))) >>> 0;
  }
  return words;
};
const between = (from: number, to: number): QuarterWords =>
  wordWith(Array.from({ length: to - from }, (_, index) => from + index));

function someDay(count: number): Active[] {
  const found = new Set(Array.from({ length: count }, () => draw.below(profiles)));
  return [...found].map((profile) => ({
    profile,
    quarters: wordWith(Array.from({ length: 1 + draw.below(3) }, () => draw.below(96))),
  }));
}

const isCookieless = (profile: number): boolean => profile % 9 === 0;

function heldDay(numbers: ProfileNumbers, day: readonly Active[]): HeldDay {
  const persons = day.filter(({ profile }) => !isCookieless(profile));
  const all = [...persons, ...day.filter(({ profile }) => isCookieless(profile))];
  const column = (word: 0 | 1 | 2) => Uint32Array.from(all.map(({ quarters }) => quarters[word]));
  return {
    ...{ version: 1, persons: persons.length, events: new Uint32Array(all.length) },
    profiles: Uint32Array.from(all.map(({ profile }) => numbers.of(...key(profile)))),
    quarters: [column(0), column(1), column(2)],
  };
}

interface Change {
  merged: [number, number][];
  deleted: number[];
}

const mergedOf = (numbers: ProfileNumbers, { merged, deleted }: Change): Promise<MergedProfiles> =>
  MergedProfiles.of(
    { merged: pack(merged.flat().flatMap(key)), deleted: pack(deleted.flatMap(key)) },
    numbers,
  );

/** The users of each place. */
function expectedUsers(
  days: readonly { day: readonly Active[]; stretches: readonly Stretch[] }[],
  others: readonly { profile: number; place: number }[],
  { merged, deleted }: Change,
  withCookieless: boolean,
): Set<number>[] {
  const roots = new Map(merged);
  const users = Array.from({ length: maxStretches }, () => new Set<number>());
  const add = (profile: number, place: number): void => {
    const user = roots.get(profile) ?? profile;
    if (!deleted.includes(user)) users[place]?.add(user);
  };
  for (const { day, stretches } of days) {
    for (const { profile, quarters } of day) {
      if (isCookieless(profile) && !withCookieless) continue;
      for (const { place, quarters: of } of stretches) {
        if ([0, 1, 2].some((word) => ((quarters[word] ?? 0) & (of[word] ?? 0)) !== 0)) {
          add(profile, place);
        }
      }
    }
  }
  for (const { profile, place } of others) add(profile, place);
  return users;
}

const asked = Array.from({ length: maxStretches }, (_, place) => [place]);
asked.push(
  [0, 1, 2],
  [31, 32],
  [40, 63, 3],
  [],
  asked.map((_, place) => place),
);

/** The places of each user, ascending. */
function placesOf(users: readonly Set<number>[]): number[][] {
  const places = new Map<number, number[]>();
  for (const [place, found] of users.entries()) {
    for (const user of found) places.set(user, [...(places.get(user) ?? []), place]);
  }
  return [...places.values()];
}

const tallies: [string, Tally, (users: readonly Set<number>[]) => number[]][] = [
  [
    'who have one of some bits',
    havingOneOf(asked.map(bitsOf)),
    (users) =>
      asked.map((places) => new Set(places.flatMap((place) => [...(users[place] ?? [])])).size),
  ],
  [
    'by their number of bits',
    byNumber,
    (users) => {
      const numbers = Array.from({ length: byNumber.cells }, () => 0);
      for (const { length } of placesOf(users)) numbers[length] = (numbers[length] ?? 0) + 1;
      return numbers;
    },
  ],
  [
    'by their first bit and each other',
    byFirst,
    (users) => {
      const numbers = Array.from({ length: byFirst.cells }, () => 0);
      for (const places of placesOf(users)) {
        for (const place of places) {
          const cell = cellByFirst(places[0] ?? 0, place);
          numbers[cell] = (numbers[cell] ?? 0) + 1;
        }
      }
      return numbers;
    },
  ],
];

describe.each([[true], [false]])('the users of stretches of time', (withCookieless) => {
  it.each(tallies)('%s are those of sets, question after question', async (_, tally, countsOf) => {
    const numbers = new ProfileNumbers();
    const days = Array.from({ length: 63 }, (_, place) => ({
      day: someDay(40),
      // A day begins at eight in the morning.
      stretches: [
        { place, quarters: between(0, 32) },
        { place: place + 1, quarters: between(32, 96) },
      ],
    }));
    const held = days.map(({ day, stretches }) => ({ day: heldDay(numbers, day), stretches }));
    const of = { days: held, withCookieless, tally };
    const nobody = await mergedOf(numbers, { merged: [], deleted: [] });
    let [bits, merged] = [await UserBits.of(of, nobody, numbers), nobody];
    expect(bits.isOf({ ...of, days: [...held] }, nobody)).toBe(true);
    expect(bits.isOf({ ...of, days: held.slice(1) }, nobody)).toBe(false);
    expect(bits.isOf({ ...of, withCookieless: !withCookieless }, nobody)).toBe(false);
    const other = { ...of, tally: havingOneOf([]) };
    expect(bits.isOf(other, nobody)).toBe(false);
    const shifted = held.map(({ day }) => ({ day, stretches: [] }));
    expect(bits.isOf({ ...of, days: shifted }, nobody)).toBe(false);
    let change: Change = { merged: [], deleted: [] };
    for (let turn = 0; turn < 30; turn++) {
      if (turn % 3 === 1) {
        const persons = Array.from({ length: 30 }, () => 1 + 9 * draw.below(160));
        change = {
          merged: persons.map((id): [number, number] => [id, 2 + 9 * draw.below(160)]),
          deleted: turn % 4 === 0 ? [2 + 9 * draw.below(160)] : [],
        };
        merged = await mergedOf(numbers, change);
        expect(bits.isOf(of, merged)).toBe(false);
        bits = await UserBits.of(of, merged, numbers);
      }
      const cut = {
        day: someDay(50),
        stretches: [{ place: 63, quarters: between(0, turn * 3) }],
      };
      const others = Array.from({ length: turn }, () => ({
        profile: draw.below(profiles + 50),
        place: draw.below(maxStretches),
      }));
      const words = others.flatMap(({ profile, place }) => [...key(profile), ...bitsOf([place])]);
      const pairs = Uint32Array.from(words.map((word) => word >>> 0));
      const counts = bits.count(
        [{ day: heldDay(numbers, cut.day), stretches: cut.stretches }],
        await numbers.ofAll(pairs, pairWords),
        pairs,
      );
      const users = expectedUsers([...days, cut], others, change, withCookieless);
      expect([...counts]).toEqual(countsOf(users));
    }
  });
});
