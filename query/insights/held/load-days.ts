// Reads past days of profiles into memory.

import type { Found } from '../kept/kept-parts.ts';
import type { Rows } from '../run/result-cache.ts';
import { type HeldDay, type HeldDays, type HeldProject, holdDay } from './held-days.ts';
import { bytesSql, keyWords, packSql, readWords } from './packed-words.ts';
import { quarterWords } from './quarter-words.ts';

/** Runs a statement within the bounds of a question. */
export type ReadRows = (statement: {
  sql: string;
  params: Readonly<Record<string, unknown>>;
  maxRows: number;
}) => Promise<Pick<Rows, 'texts'>>;

/** A question reads them all: more take longer than what held days save. */
const maxMergedIds = 150_000;
/** Of one statement, in about: some 9 MB of text. Each waits for its turn beside the project's questions. */
const entriesOfStatement = 200_000;

const isAsked = 'PREWHERE project_id = {project:String} AND day IN {days:Array(UInt16)}';
// The number of different profiles is estimated: it only bounds the memory.
const roomSql = `SELECT count(), uniqIf(profile_key, cookieless), uniqIf(profile_key, NOT cookieless), (SELECT count() FROM profiles_by_root WHERE project_id = {project:String} AND live)
  FROM profile_days ${isAsked}`;
const columns = ['profile_key', 'events', 'morning', 'evening'];
// A row for the persons of a day, and one for its cookieless visitors. FINAL takes half as long as a group for each.
const daySql = `SELECT toUInt16(day), cookieless, ${packSql(`concat(${columns.map(bytesSql).join(', ')})`)}
  FROM profile_days FINAL ${isAsked} GROUP BY day, cookieless ORDER BY day, cookieless`;

/** Holds these days. Throws what `read` does, and where there is no room for them. */
export async function loadDays(
  held: HeldDays,
  projectId: string,
  found: Found,
  read: ReadRows,
): Promise<void> {
  const paramsOf = (days: Found) => ({ project: projectId, days: days.map(({ day }) => day) });
  // Days that are read anew take the room that they had.
  const own = held.get(projectId);
  const added = found.filter(({ day }) => own?.days.has(day) !== true);
  const room = await read({ sql: roomSql, params: paramsOf(added), maxRows: 1 });
  const [entries = 0, cookieless = 0, persons = 0, mergedIds = 0] = room.texts
    .flatMap(valuesOf)
    .map(Number);
  if (mergedIds > maxMergedIds) throw new Error('too many profiles are merged');
  const step = Math.floor(entriesOfStatement / (entries / Math.max(added.length, 1) + 1)) + 1;
  // Whoever knows the first day of each person has numbered all of them.
  const profiles = own?.firstDays === undefined ? cookieless + persons : cookieless;
  await held.add(projectId, { days: added.length, entries, profiles }, async (project) => {
    for (let place = 0; place < found.length; place += step) {
      const some = found.slice(place, place + step);
      const rows = await read({ sql: daySql, params: paramsOf(some), maxRows: 2 * step });
      await holdDays(project, some, rows.texts);
    }
  });
}

async function holdDays(
  project: HeldProject,
  found: Found,
  texts: readonly string[],
): Promise<void> {
  const rows = texts.map(valuesOf);
  for (const { day, version } of found) {
    const groups = rows
      .filter(([of]) => Number(of) === day)
      .map(([, isCookieless, packed]) => ({
        isCookieless: Number(isCookieless) === 1,
        words: readWords(String(packed)),
      }));
    const numbers = [];
    for (const { words } of groups) numbers.push(await project.numbers.ofAll(words, rowWords));
    holdDay(project, day, dayOf(version, groups, numbers));
  }
}

const rowWords = columns.length * keyWords;

interface Group {
  isCookieless: boolean;
  words: Uint32Array;
}

function valuesOf(text: string): unknown[] {
  const values: unknown = JSON.parse(text);
  return Array.isArray(values) ? values : [];
}

/** Persons come first. */
function dayOf(
  version: number,
  groups: readonly Group[],
  numbers: readonly Uint32Array[],
): HeldDay {
  const length = numbers.reduce((sum, some) => sum + some.length, 0);
  const column = (): Uint32Array => new Uint32Array(length);
  const [profiles, events] = [column(), column()];
  const [first, second, third] = [column(), column(), column()];
  let [place, persons] = [0, 0];
  for (const [index, { isCookieless, words }] of groups.entries()) {
    const some = numbers[index] ?? new Uint32Array(0);
    profiles.set(some, place);
    if (!isCookieless) persons += some.length;
    for (let at = 0; at < words.length; at += rowWords) {
      events[place] = words[at + 2] ?? 0;
      if (words[at + 3] !== 0) throw new Error('a profile has more events in a day than are held');
      const quarters = quarterWords(
        [words[at + 4] ?? 0, words[at + 5] ?? 0],
        [words[at + 6] ?? 0, words[at + 7] ?? 0],
      );
      [first[place], second[place], third[place]] = quarters;
      place++;
    }
  }
  return { version, profiles, persons, events, quarters: [first, second, third] };
}
