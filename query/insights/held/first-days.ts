// The UTC day of each profile's first event. Who is older than a day depends on the events before it alone, and holds
// as long as there are as many of these.

import { setImmediate } from 'node:timers/promises';
import { dayMs } from '../../../platform/clock.ts';
import { profileKeySql } from '../../identity/identity-sql.ts';
import type { HeldDays } from './held-days.ts';
import type { ReadRows } from './load-days.ts';
import { bytesSql, keyWords, packPairsSql, pairWords, readWords } from './packed-words.ts';
import type { ProfileNumbers } from './profile-numbers.ts';

/** No profile has this day. */
const noDay = 2 ** 16 - 1;
/** Of the room for profiles that are numbered meanwhile. */
const growth = 1.25;

export class FirstDays {
  readonly #eventsBefore: ReadonlyMap<number, number>;
  /** By the number of the profile. */
  #days: Uint16Array;

  /** `eventsBefore` has the number of all events before each day for which the first days will hold. */
  constructor(eventsBefore: ReadonlyMap<number, number>, numbers: ProfileNumbers) {
    this.#eventsBefore = eventsBefore;
    this.#days = new Uint16Array(numbers.size).fill(noDay);
  }

  /** Whether it is known who is older than the day, which so many events precede now. */
  holds(day: number, eventsBefore: number): boolean {
    return this.#eventsBefore.get(day) === eventsBefore;
  }

  /** Tells the profiles whose first event lies before the day. */
  eachBefore(day: number, found: (profile: number) => void): void {
    const days = this.#days;
    for (let profile = 0; profile < days.length; profile++) {
      if ((days[profile] ?? noDay) < day) found(profile);
    }
  }

  /** `pairs` are of a profile's key, whose number is in `profiles`, and a day; the earliest of a profile counts. */
  see(profiles: Uint32Array, pairs: Uint32Array): void {
    for (let place = 0; place < profiles.length; place++) {
      const profile = profiles[place] ?? 0;
      if (profile >= this.#days.length) this.#grow(profile);
      const day = pairs[place * pairWords + keyWords] ?? noDay;
      if (day < (this.#days[profile] ?? noDay)) this.#days[profile] = day;
    }
  }

  #grow(profile: number): void {
    const days = new Uint16Array(Math.ceil((profile + 1) * growth)).fill(noDay);
    days.set(this.#days);
    this.#days = days;
  }
}

const from = 'FROM profile_listing WHERE project_id = {project:String}';
const roomSql = `SELECT count(), uniq(profile_id) ${from}`;
const key = profileKeySql('profile_id');
const day = `least(greatest(intDiv(toUnixTimestamp64Milli(first_seen), ${dayMs}), 0), ${noDay - 1})`;
// A profile has several rows until they are merged. FINAL would take longer than to read them all.
const partSql = `SELECT ${packPairsSql(bytesSql(key), bytesSql(day))} ${from} AND ${key} % {parts:UInt32} = {part:UInt32}`;
/** Of one statement, in about: some 5 MB of text. */
const rowsOfStatement = 200_000;

/**
 * Holds the first days of all profiles; `eventsBefore` is as FirstDays takes it, of moments that are whole in the
 * tables. Throws what `read` does, and where there is no room.
 */
export async function loadFirstDays(
  held: HeldDays,
  projectId: string,
  eventsBefore: ReadonlyMap<number, number>,
  read: ReadRows,
): Promise<void> {
  const numbersOf = async (sql: string, params: Record<string, unknown>): Promise<unknown[]> => {
    const { texts } = await read({ sql, params: { project: projectId, ...params }, maxRows: 1 });
    return texts.flatMap((text): unknown[] => JSON.parse(text));
  };
  const [rows = 0, profiles = 0] = (await numbersOf(roomSql, {})).map(Number);
  if (profiles > held.maxProfiles / 2) throw new Error('first days would leave days no room');
  const known = held.get(projectId)?.numbers.size ?? 0;
  const added = { days: 0, entries: 0, profiles: Math.max(profiles - known, 0) };
  await held.add(projectId, added, async (project) => {
    const firstDays = new FirstDays(eventsBefore, project.numbers);
    const parts = Math.floor(rows / rowsOfStatement) + 1;
    for (let part = 0; part < parts; part++) {
      const [text] = await numbersOf(partSql, { parts, part });
      const pairs = readWords(String(text));
      firstDays.see(await project.numbers.ofAll(pairs, pairWords), pairs);
      await setImmediate();
    }
    project.firstDays = firstDays;
    project.bits = [];
  });
}
