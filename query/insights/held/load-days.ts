// Reads past days of profiles into memory.

import type { Found } from '../kept/kept-parts.ts';
import type { Rows } from '../run/result-cache.ts';
import type { HeldDay, HeldDays } from './held-days.ts';
import { bytesSql, packPairsSql, pairWords, readWords } from './packed-words.ts';
import type { ProfileNumbers } from './profile-numbers.ts';

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
  ${daysSql} WHERE NOT cookieless`;
const daySql = `SELECT ${packPairsSql(bytesSql('profile_key'), bytesSql('sum'))} FROM (
    SELECT profile_key, sum(events) AS sum ${daysSql} WHERE NOT cookieless GROUP BY profile_key)`;

/** Throws what `read` does, and where there is no room for them. */
export async function loadDays(
  held: HeldDays,
  projectId: string,
  found: Found,
  read: ReadRows,
): Promise<void> {
  const paramsOf = (days: Found) => ({ project: projectId, days: days.map(({ day }) => day) });
  const room = await read({ sql: roomSql, params: paramsOf(found), maxRows: 1 });
  const [entries, profiles, mergedIds] = valuesOf(room).map(Number);
  const isTooMuch = mergedIds === undefined || mergedIds > maxMergedIds;
  const project = isTooMuch
    ? undefined
    : held.withRoom(projectId, { entries: entries ?? 0, profiles: profiles ?? 0 });
  if (project === undefined) throw new Error('days of profiles have no room in memory');
  for (const { day, version } of found) {
    const rows = await read({ sql: daySql, params: paramsOf([{ day, version }]), maxRows: 1 });
    const pairs = readWords(String(valuesOf(rows)[0]));
    project.days.set(day, dayOf(version, pairs, project.numbers));
  }
}

function valuesOf({ texts: [text = '[]'] }: Pick<Rows, 'texts'>): unknown[] {
  const values: unknown = JSON.parse(text);
  return Array.isArray(values) ? values : [];
}

function dayOf(version: number, pairs: Uint32Array, numbers: ProfileNumbers): HeldDay {
  const length = pairs.length / pairWords;
  const [profiles, events] = [new Uint32Array(length), new Uint32Array(length)];
  for (let place = 0, at = 0; place < length; place++, at += pairWords) {
    profiles[place] = numbers.of(pairs[at] ?? 0, pairs[at + 1] ?? 0);
    events[place] = pairs[at + 2] ?? 0;
    if (pairs[at + 3] !== 0) throw new Error('a profile has more events in a day than are held');
  }
  return { version, profiles, events };
}
