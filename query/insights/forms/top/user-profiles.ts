// The profiles of the few users that TOP_K answers, looked up by literal keys: found within the statement that ranks
// all users, they cost as much as ranking them.

import { profileIdSql } from '../../../identity/identity-sql.ts';
import { both, type EventCondition, eventsWhere } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { textsOf } from '../../read/rows.ts';
import { keyDigits, keySetSql } from '../../sql/persons.ts';
import { readEventsSql } from '../../sql/read-events.ts';
import type { LookUp } from '../plan.ts';

/** The parts of the rows of the two look-ups. */
const storedPart = 1;
const otherPart = 2;

const idBytes = 16;
const idDigits = 2 * idBytes;
export interface UserProfile {
  /** In hex. */
  id: string;
  /** Absent for a cookieless visitor. */
  record: { externalId: string; traitKeys: string[]; traitValues: string[] } | undefined;
}

/** Profiles that the tables of profiles have; an external id and traits for those with a record. */
export function storedProfiles(
  { project, bindings }: Question,
  keys: readonly string[],
): LookUp | undefined {
  if (keys.length === 0) return undefined;
  const idOf = (text: string): string =>
    `toFixedString(unhex(${bindings.bind('String', text)}), ${idBytes})`;
  // Ranges in the tables' order: by a function of the id, each would be read whole.
  const ranges = keys.map(
    (key) =>
      `(profile_id >= ${idOf(key.padEnd(idDigits, '0'))} AND profile_id <= ${idOf(key.padEnd(idDigits, 'f'))})`,
  );
  const isAsked = `(${ranges.join(' OR ')})`;
  // An id with events is in profile_listing; a root without events of its own has a record.
  const found = `SELECT profile_id FROM profile_listing WHERE project_id = ${project} AND ${isAsked}`;
  // The newest row of a record is found here: FINAL would take half of the look-up.
  const sql = `SELECT ${storedPart} AS part, lower(hex(profile_id)) AS id, argMax(external_id, version) AS external_id,
      argMax(keys, version) AS trait_keys, argMax(values, version) AS trait_values
    FROM (
      SELECT profile_id, '' AS external_id, emptyArrayString() AS keys, emptyArrayString() AS values, toUInt64(0) AS version
      FROM (${found})
      UNION ALL
      SELECT profile_id, if(named, distinct_id, ''), CAST(mapKeys(traits), 'Array(String)'), mapValues(traits), version
      FROM profiles WHERE project_id = ${project} AND ${isAsked} AND NOT edge)
    GROUP BY profile_id`;
  return { sql, maxRows: 2 * keys.length };
}

/** Of the keys without a row yet: cookieless visitors, and profiles whose rows are on their way. */
export function otherProfiles(
  question: Question,
  condition: EventCondition,
  keys: readonly string[],
  rows: readonly unknown[][],
): LookUp | undefined {
  const known = readProfiles(rows);
  const others = keys.filter((key) => !known.has(key));
  if (others.length === 0) return undefined;
  const asked = question.bindings.bind('Array(String)', others);
  const isOther = `profile_key IN ${keySetSql(asked)}`;
  const events = readEventsSql(question, {
    condition: both(condition, eventsWhere(isOther)),
    columns: { id: profileIdSql('project_id', 'distinct_id'), is_person: 'NOT cookieless' },
  });
  const sql = `SELECT ${otherPart} AS part, lower(hex(id)) AS id, toUInt8(max(is_person)) AS is_person FROM (${events}) GROUP BY id`;
  return { sql, maxRows: 2 * others.length };
}

/** By their keys. */
export function readProfiles(rows: readonly unknown[][]): Map<string, UserProfile> {
  const profiles = new Map<string, UserProfile>();
  for (const [part, text, ...fields] of rows) {
    const id = String(text);
    const key = id.slice(0, keyDigits);
    if (Number(part) === storedPart) {
      const [externalId, keys, values] = fields;
      const record = {
        externalId: String(externalId),
        traitKeys: textsOf(keys),
        traitValues: textsOf(values),
      };
      profiles.set(key, { id, record });
    } else if (Number(part) === otherPart) {
      const [isPerson] = fields;
      const nothing = { externalId: '', traitKeys: [], traitValues: [] };
      profiles.set(key, { id, record: Number(isPerson) === 1 ? nothing : undefined });
    }
  }
  return profiles;
}
