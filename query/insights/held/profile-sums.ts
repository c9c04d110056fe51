// The events of each person's profile on some held days, and of each user, who may have merged profiles. They stay from
// question to question: a question adds the other events of its range, and takes them back.

import { setImmediate } from 'node:timers/promises';
import type { HeldDay } from './held-days.ts';
import type { MergedProfiles } from './merged-profiles.ts';
import { keyWords, numberAt, pairWords } from './packed-words.ts';
import type { ProfileNumbers } from './profile-numbers.ts';
import { Ranking } from './ranking.ts';

export interface MostEvents {
  /** The most events first, then by name, the text of a user's key. */
  users: { name: string; events: number }[];
  /** How many users have events, and how many events they have. */
  count: number;
  whole: number;
}

/** So many are found at once, ten times as many as a question asks for. */
const foundLeaders = 1_000;
/** With those that merges add: if there are more, they are found anew. */
const maxLeaders = 3_000;
/** Of the room for profiles that are seen later. */
const growth = 1.25;

export class ProfileSums {
  readonly #numbers: ProfileNumbers;
  readonly #days: readonly HeldDay[];
  /** By the number of the profile. */
  readonly #ofProfiles: Float64Array;
  /** By the number of a user's root. */
  #ofUsers: Float64Array;
  #merged: MergedProfiles | undefined;
  #count = 0;
  #whole = 0;
  /** Users who may have the most events: all others have at most `#least`. */
  #leaders: number[] = [];
  #least = 0;

  private constructor(numbers: ProfileNumbers, days: readonly HeldDay[], sums: Float64Array) {
    this.#numbers = numbers;
    this.#days = days;
    this.#ofProfiles = sums;
    this.#ofUsers = sums.slice();
    for (let profile = 0; profile < sums.length; profile++) {
      const events = this.#of(profile);
      this.#whole += events;
      if (events > 0) this.#count++;
    }
  }

  static async of(numbers: ProfileNumbers, days: readonly HeldDay[]): Promise<ProfileSums> {
    const sums = new Float64Array(numbers.size);
    for (const { profiles, persons, events } of days) {
      for (let place = 0; place < persons; place++) {
        const profile = profiles[place] ?? 0;
        sums[profile] = (sums[profile] ?? 0) + (events[place] ?? 0);
      }
      // A day of a large project takes milliseconds.
      await setImmediate();
    }
    return new ProfileSums(numbers, days, sums);
  }

  /** Whether these are the sums of the same days. */
  isOf(days: readonly HeldDay[]): boolean {
    return (
      days.length === this.#days.length && days.every((day, place) => day === this.#days[place])
    );
  }

  /** Moves the events of profiles that were merged or deleted since the last time, or are no longer. */
  follow(merged: MergedProfiles): void {
    if (merged === this.#merged) return;
    const moved: number[] = [];
    for (let profile = 0; profile < this.#ofProfiles.length; profile++) {
      const before = this.#userOf(profile);
      const now = merged.userOf(profile);
      if (before === now) continue;
      const events = this.#ofProfiles[profile] ?? 0;
      if (before !== undefined) this.#add(before, -events);
      if (now === undefined) continue;
      this.#add(now, events);
      moved.push(now);
    }
    const isFirst = this.#merged === undefined;
    this.#merged = merged;
    if (isFirst || this.#leaders.length + moved.length > maxLeaders) this.#findLeaders();
    else this.#leaders.push(...moved);
  }

  /** `others` are pairs of a profile's key, whose number is in `profiles`, and further events of it. */
  most(profiles: Uint32Array, others: Uint32Array, limit: number): MostEvents {
    const added: { user: number; events: number }[] = [];
    try {
      for (let place = 0; place < profiles.length; place++) {
        const user = this.#userOf(profiles[place] ?? 0);
        if (user === undefined) continue;
        const events = numberAt(others, place * pairWords + keyWords);
        this.#add(user, events);
        added.push({ user, events });
      }
      const touched = added.map(({ user }) => user);
      const users = this.#ranked(touched, limit).map((user) => ({
        name: this.#numbers.textOf(user),
        events: this.#of(user),
      }));
      return { users, count: this.#count, whole: this.#whole };
    } finally {
      for (const { user, events } of added) this.#add(user, -events);
    }
  }

  #userOf(profile: number): number | undefined {
    return this.#merged === undefined ? profile : this.#merged.userOf(profile);
  }

  #findLeaders(): void {
    this.#leaders = [...this.#rankedOfAll(foundLeaders)];
    const last = this.#leaders[foundLeaders - 1];
    this.#least = last === undefined ? 0 : this.#of(last);
  }

  #ranked(touched: readonly number[], limit: number): readonly number[] {
    const ranking = this.#ranking(limit);
    for (const user of this.#leaders) ranking.offer(user);
    for (const user of touched) ranking.offer(user);
    const first = ranking.first();
    const last = first[limit - 1];
    const isSure = last !== undefined && this.#of(last) > this.#least;
    return isSure ? first : this.#rankedOfAll(limit);
  }

  #rankedOfAll(limit: number): readonly number[] {
    const ranking = this.#ranking(limit);
    for (let user = 0; user < this.#ofUsers.length; user++) ranking.offer(user);
    return ranking.first();
  }

  #ranking(limit: number): Ranking {
    const numbers = this.#numbers;
    return new Ranking(
      limit,
      (user) => this.#of(user),
      (one, other) => numbers.compare(one, other),
    );
  }

  #of(user: number): number {
    return this.#ofUsers[user] ?? 0;
  }

  #add(user: number, events: number): void {
    if (user >= this.#ofUsers.length) this.#grow();
    const before = this.#of(user);
    const after = before + events;
    this.#ofUsers[user] = after;
    this.#whole += events;
    if (before === 0 && after > 0) this.#count++;
    if (before > 0 && after === 0) this.#count--;
  }

  #grow(): void {
    const sums = new Float64Array(Math.ceil(this.#numbers.size * growth));
    sums.set(this.#ofUsers);
    this.#ofUsers = sums;
  }
}
