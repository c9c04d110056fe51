// Reads past days of profiles into memory.

import type { Found } from '../kept/kept-parts.ts';
import type { Rows } from '../run/result-cache.ts';
import type { HeldDay, HeldDays } from './held-days.ts';
import { bytesSql, keyWords, packSql, readWords } from './packed-words.ts';
import type { ProfileNumbers } from './profile-numbers.ts';
import { quarterWords } from './quarter-words.ts';

/** Runs a statement within the bounds of a question. */
export type ReadRows = (statement: {
  sql: string;
  params: Readonly<Record<string, unknown>>;
  maxRows: number;
}) => Promise<Pick<Rows, 'texts'>>;

/** A question reads them all: more take longer than what held days save. */
const maxMergedIds = 400_000;

const daysSql =
  'FROM profile_days PREWHERE project_id = {project:String} AND day IN {days:Array(UInt16)}';
// The number of different profiles is estimated: it only bounds the memory.
const roomSql = `SELECT count(), uniq(profile_key), (SELECT count() FROM profiles_by_root WHERE project_id = {project:String} AND live)
  ${daysSql}`;
const columns = ['profile_key', 'sum', 'mornings', 'evenings'];
// A row for persons and one for cookieless visitors.
const daySql = `SELECT is_cookieless, ${packSql(`concat(${columns.map(bytesSql).join(', ')})`)} FROM (
    SELECT profile_key, max(cookieless) AS is_cookieless, sum(events) AS sum, groupBitOr(morning) AS mornings,
      groupBitOr(evening) AS evenings ${daysSql} GROUP BY profile_key)
  GROUP BY is_cookieless ORDER BY is_cookieless`;

/** Throws what `read` does, and where there is no room for them. */
export async function loadDays(
  held: HeldDays,
  projectId: string,
  found: Found,
  read: ReadRows,
): Promise<void> {
  const paramsOf = (days: Found) => ({ project: projectId, days: days.map(({ day }) => day) });
  const room = await read({ sql: roomSql, params: paramsOf(found), maxRows: 1 });
  const [entries, profiles, mergedIds] = room.texts.flatMap(valuesOf).map(Number);
  const isTooMuch = mergedIds === undefined || mergedIds > maxMergedIds;
  const project = isTooMuch
    ? undefined
    : held.withRoom(projectId, { entries: entries ?? 0, profiles: profiles ?? 0 });
  if (project === undefined) throw new Error('days of profiles have no room in memory');
  for (const { day, version } of found) {
    const rows = await read({ sql: daySql, params: paramsOf([{ day, version }]), maxRows: 2 });
    project.days.set(day, dayOf(version, rows.texts.map(valuesOf), project.numbers));
  }
}

function valuesOf(text: string): unknown[] {
  const values: unknown = JSON.parse(text);
  return Array.isArray(values) ? values : [];
}

function dayOf(version: number, rows: unknown[][], numbers: ProfileNumbers): HeldDay {
  const groups = rows.map(([isCookieless, packed]) => ({
    isCookieless: Number(isCookieless) === 1,
    words: readWords(String(packed)),
  }));
  const lengthOf = (words: Uint32Array): number => words.length / (columns.length * keyWords);
  const length = groups.reduce((sum, { words }) => sum + lengthOf(words), 0);
  const column = (): Uint32Array => new Uint32Array(length);
  const [profiles, events, first, second, third] = [
    column(),
    column(),
    column(),
    column(),
    column(),
  ];
  let [place, persons] = [0, 0];
  for (const { isCookieless, words } of groups) {
    if (!isCookieless) persons += lengthOf(words);
    for (let at = 0; at < words.length; at += columns.length * keyWords) {
      profiles[place] = numbers.of(words[at] ?? 0, words[at + 1] ?? 0);
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
