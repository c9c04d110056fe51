// The stretches of time in which each user was active, a bit for each, from held days; and what is counted by these
// bits. They stay from question to question: a question adds the activity of other days, and takes it back.

import { setImmediate } from 'node:timers/promises';
import type { FirstDays } from '../first-days.ts';
import type { HeldDay } from '../held-days.ts';
import type { MergedProfiles } from '../merged-profiles.ts';
import { keyWords, pairWords } from '../packed-words.ts';
import type { ProfileNumbers } from '../profile-numbers.ts';
import type { QuarterWords } from '../quarter-words.ts';
import { bitOf, type Tally } from './tally.ts';

/** Who was active in one of these quarters of a day was active in the stretch with that place. */
export interface Stretch {
  place: number;
  quarters: QuarterWords;
}

/** A held day, and the stretches that have a part of it. */
export interface StretchedDay {
  day: HeldDay;
  stretches: readonly Stretch[];
}

/** What the bits of users are made of, and what is counted of them. */
export interface BitsOf {
  days: readonly StretchedDay[];
  withCookieless: boolean;
  tally: Tally;
  /** Who has an event before the day has the bit of the place 0, as who is active in that stretch. */
  older?: { day: number; firstDays: FirstDays } | undefined;
}

/** Of the room for users that are seen later. */
const growth = 1.25;
const pausedAfter = 20_000;

export class UserBits {
  readonly #of: BitsOf;
  readonly #name: string;
  readonly #merged: MergedProfiles;
  /** By the number of a user's root. */
  #lows: Uint32Array;
  #highs: Uint32Array;
  /** Of the tally's cells. */
  #counts: Float64Array;

  private constructor(of: BitsOf, merged: MergedProfiles, users: number) {
    this.#of = of;
    this.#name = nameOf(of);
    this.#merged = merged;
    this.#lows = new Uint32Array(users);
    this.#highs = new Uint32Array(users);
    this.#counts = new Float64Array(of.tally.cells);
  }

  static async of(of: BitsOf, merged: MergedProfiles, numbers: ProfileNumbers): Promise<UserBits> {
    const made = new UserBits(of, merged, numbers.size);
    for (const one of of.days) {
      eachActive(one, of.withCookieless, (profile, low, high) => {
        const user = merged.userOf(profile);
        if (user !== undefined) made.#set(user, low, high);
      });
      // A day of a large project takes milliseconds.
      await setImmediate();
    }
    of.older?.firstDays.eachBefore(of.older.day, (profile) => {
      const user = merged.userOf(profile);
      if (user !== undefined) made.#set(user, ...bitOf(0));
    });
    for (let user = 0; user < made.#lows.length; user++) {
      made.#tell(user, made.#add);
      if (user % pausedAfter === pausedAfter - 1) await setImmediate();
    }
    return made;
  }

  /** Whether these are the bits of the same. */
  isOf(of: BitsOf, merged: MergedProfiles): boolean {
    const { days, older } = this.#of;
    const areSame =
      of.days.length === days.length &&
      of.days.every(({ day }, at) => day === days[at]?.day) &&
      of.older?.firstDays === older?.firstDays;
    return this.isOfMerged(merged) && areSame && nameOf(of) === this.#name;
  }

  isOfMerged(merged: MergedProfiles): boolean {
    return merged === this.#merged;
  }

  /**
   * The users of each cell, with the activity of further days, and of `others`: pairs of a profile's key, whose number
   * is in `profiles`, and its bits.
   */
  count(days: readonly StretchedDay[], profiles: Uint32Array, others: Uint32Array): Float64Array {
    const counts = this.#counts.slice();
    const changes: number[] = [];
    const add = (profile: number, low: number, high: number): void => {
      const user = this.#merged.userOf(profile);
      if (user === undefined) return;
      const [hadLow, hadHigh] = [this.#lows[user] ?? 0, this.#highs[user] ?? 0];
      if (((low & ~hadLow) | (high & ~hadHigh)) === 0) return;
      changes.push(user, hadLow, hadHigh);
      this.#tell(user, this.#take);
      this.#set(user, low, high);
      this.#tell(user, this.#add);
    };
    try {
      for (const one of days) eachActive(one, this.#of.withCookieless, add);
      for (let place = 0; place < profiles.length; place++) {
        const at = place * pairWords + keyWords;
        add(profiles[place] ?? 0, others[at] ?? 0, others[at + 1] ?? 0);
      }
      return this.#counts;
    } finally {
      for (let at = changes.length - 3; at >= 0; at -= 3) {
        const user = changes[at] ?? 0;
        this.#lows[user] = changes[at + 1] ?? 0;
        this.#highs[user] = changes[at + 2] ?? 0;
      }
      this.#counts = counts;
    }
  }

  readonly #add = (cell: number): void => {
    this.#counts[cell] = (this.#counts[cell] ?? 0) + 1;
  };

  readonly #take = (cell: number): void => {
    this.#counts[cell] = (this.#counts[cell] ?? 0) - 1;
  };

  #tell(user: number, found: (cell: number) => void): void {
    const [low, high] = [this.#lows[user] ?? 0, this.#highs[user] ?? 0];
    if ((low | high) !== 0) this.#of.tally.each(low, high, found);
  }

  #set(user: number, low: number, high: number): void {
    if (user >= this.#lows.length) this.#grow(user);
    this.#lows[user] = (this.#lows[user] ?? 0) | low;
    this.#highs[user] = (this.#highs[user] ?? 0) | high;
  }

  #grow(user: number): void {
    const grown = (words: Uint32Array): Uint32Array => {
      const longer = new Uint32Array(Math.ceil((user + 1) * growth));
      longer.set(words);
      return longer;
    };
    this.#lows = grown(this.#lows);
    this.#highs = grown(this.#highs);
  }
}

function nameOf({ days, withCookieless, tally, older }: BitsOf): string {
  return JSON.stringify([
    withCookieless,
    tally.name,
    older?.day,
    days.map(({ stretches }) => stretches),
  ]);
}

/** Tells each stretch of the day in which a profile was active, by its bit. */
function eachActive(
  { day, stretches }: StretchedDay,
  withCookieless: boolean,
  found: (profile: number, low: number, high: number) => void,
): void {
  const { profiles, persons, quarters } = day;
  const [first, second, third] = quarters;
  const end = withCookieless ? profiles.length : persons;
  for (const { place, quarters: of } of stretches) {
    const [one, two, three] = of;
    const [low, high] = bitOf(place);
    for (let index = 0; index < end; index++) {
      const active =
        ((first[index] ?? 0) & one) | ((second[index] ?? 0) & two) | ((third[index] ?? 0) & three);
      if (active !== 0) found(profiles[index] ?? 0, low, high);
    }
  }
}
