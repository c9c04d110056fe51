// The stretches of time in which each user was active, a bit for each, from held days; and how many users have a bit.
// They stay from question to question: a question adds the activity of other days, and takes it back.

import { setImmediate } from 'node:timers/promises';
import type { HeldDay } from './held-days.ts';
import type { MergedProfiles } from './merged-profiles.ts';
import { keyWords, pairWords } from './packed-words.ts';
import type { ProfileNumbers } from './profile-numbers.ts';
import type { QuarterWords } from './quarter-words.ts';

const wordBits = 32;
/** The most stretches. */
export const maxStretches = 2 * wordBits;

/** Bits of all stretches in two words, the low one first. */
export type Bits = readonly [number, number];

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
  /** Each counts the users who have one of its bits. */
  counted: readonly Bits[];
}

/** Of the room for users that are seen later. */
const growth = 1.25;

export class UserBits {
  readonly #of: BitsOf;
  readonly #merged: MergedProfiles;
  /** By the number of a user's root. */
  #ofUsers: [Uint32Array, Uint32Array];
  /** How many users have the bit of each place, and one of several bits. */
  #ofPlaces = new Float64Array(maxStretches);
  #ofSeveral: Float64Array;
  readonly #several: readonly Bits[];

  private constructor(of: BitsOf, merged: MergedProfiles, users: number) {
    this.#of = of;
    this.#merged = merged;
    this.#ofUsers = [new Uint32Array(users), new Uint32Array(users)];
    this.#several = of.counted.filter((bits) => placeOf(bits) === undefined);
    this.#ofSeveral = new Float64Array(this.#several.length);
  }

  static async of(of: BitsOf, merged: MergedProfiles, numbers: ProfileNumbers): Promise<UserBits> {
    const made = new UserBits(of, merged, numbers.size);
    for (const one of of.days) {
      eachActive(one, of.withCookieless, (profile, place) => {
        const user = merged.userOf(profile);
        if (user !== undefined) made.#add(user, lowBit(place), highBit(place));
      });
      // A day of a large project takes milliseconds.
      await setImmediate();
    }
    return made;
  }

  /** Whether these are the bits of the same. */
  isOf({ days, ...of }: BitsOf, merged: MergedProfiles): boolean {
    const { days: own, ...others } = this.#of;
    const areSame = days.length === own.length && days.every(({ day }, at) => day === own[at]?.day);
    const stretchesOf = (all: BitsOf['days']) => all.map(({ stretches }) => stretches);
    const textOf = (...parts: unknown[]): string => JSON.stringify(parts);
    const isSame = textOf(of, stretchesOf(days)) === textOf(others, stretchesOf(own));
    return merged === this.#merged && areSame && isSame;
  }

  /**
   * The users of each of `counted`, with the activity of further days, and of `others`: pairs of a profile's key, whose
   * number is in `profiles`, and its bits.
   */
  count(days: readonly StretchedDay[], profiles: Uint32Array, others: Uint32Array): number[] {
    const counts = [this.#ofPlaces.slice(), this.#ofSeveral.slice()] as const;
    const changes: number[] = [];
    const add = (profile: number, low: number, high: number): void => {
      const user = this.#merged.userOf(profile);
      if (user === undefined) return;
      const [hadLow, hadHigh] = [this.#ofUsers[0][user] ?? 0, this.#ofUsers[1][user] ?? 0];
      if (((low & ~hadLow) | (high & ~hadHigh)) === 0) return;
      changes.push(user, hadLow, hadHigh);
      this.#add(user, low, high);
    };
    try {
      for (const one of days) {
        eachActive(one, this.#of.withCookieless, (profile, place) =>
          add(profile, lowBit(place), highBit(place)),
        );
      }
      for (let place = 0; place < profiles.length; place++) {
        const at = place * pairWords + keyWords;
        add(profiles[place] ?? 0, others[at] ?? 0, others[at + 1] ?? 0);
      }
      return this.#counted();
    } finally {
      for (let at = changes.length - 3; at >= 0; at -= 3) {
        const user = changes[at] ?? 0;
        this.#ofUsers[0][user] = changes[at + 1] ?? 0;
        this.#ofUsers[1][user] = changes[at + 2] ?? 0;
      }
      [this.#ofPlaces, this.#ofSeveral] = counts;
    }
  }

  #counted(): number[] {
    let several = 0;
    return this.#of.counted.map((bits) => {
      const place = placeOf(bits);
      return (place === undefined ? this.#ofSeveral[several++] : this.#ofPlaces[place]) ?? 0;
    });
  }

  #add(user: number, low: number, high: number): void {
    if (user >= this.#ofUsers[0].length) this.#grow(user);
    const [lows, highs] = this.#ofUsers;
    const [hadLow, hadHigh] = [lows[user] ?? 0, highs[user] ?? 0];
    const [newLow, newHigh] = [low & ~hadLow, high & ~hadHigh];
    if ((newLow | newHigh) === 0) return;
    lows[user] = hadLow | newLow;
    highs[user] = hadHigh | newHigh;
    this.#countPlaces(newLow, 0);
    this.#countPlaces(newHigh, wordBits);
    for (let index = 0; index < this.#several.length; index++) {
      const [someLow, someHigh] = this.#several[index] ?? [0, 0];
      const had = (hadLow & someLow) | (hadHigh & someHigh);
      const has = (newLow & someLow) | (newHigh & someHigh);
      if (had === 0 && has !== 0) this.#ofSeveral[index] = (this.#ofSeveral[index] ?? 0) + 1;
    }
  }

  #countPlaces(bits: number, first: number): void {
    for (let rest = bits; rest !== 0; rest &= rest - 1) {
      const place = first + wordBits - 1 - Math.clz32(rest & -rest);
      this.#ofPlaces[place] = (this.#ofPlaces[place] ?? 0) + 1;
    }
  }

  #grow(user: number): void {
    const length = Math.ceil((user + 1) * growth);
    const grown: [Uint32Array, Uint32Array] = [new Uint32Array(length), new Uint32Array(length)];
    grown[0].set(this.#ofUsers[0]);
    grown[1].set(this.#ofUsers[1]);
    this.#ofUsers = grown;
  }
}

const lowBit = (place: number): number => (place < wordBits ? 1 << place : 0);
const highBit = (place: number): number => (place < wordBits ? 0 : 1 << (place - wordBits));

export function bitsOf(places: readonly number[]): Bits {
  const bits: [number, number] = [0, 0];
  for (const place of places) {
    bits[0] |= lowBit(place);
    bits[1] |= highBit(place);
  }
  return bits;
}

/** The only place whose bit is set, if there is one. */
function placeOf([low, high]: Bits): number | undefined {
  const [word, other, first] = low === 0 ? [high, low, wordBits] : [low, high, 0];
  const isOne = other === 0 && word !== 0 && (word & (word - 1)) === 0;
  return isOne ? first + wordBits - 1 - Math.clz32(word) : undefined;
}

function eachActive(
  { day, stretches }: StretchedDay,
  withCookieless: boolean,
  found: (profile: number, place: number) => void,
): void {
  const { profiles, persons, quarters } = day;
  const [first, second, third] = quarters;
  const end = withCookieless ? profiles.length : persons;
  for (const { place, quarters: of } of stretches) {
    const [one, two, three] = of;
    for (let index = 0; index < end; index++) {
      const active =
        ((first[index] ?? 0) & one) | ((second[index] ?? 0) & two) | ((third[index] ?? 0) & three);
      if (active !== 0) found(profiles[index] ?? 0, place);
    }
  }
}
