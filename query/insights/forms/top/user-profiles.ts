// The profiles of the few users that TOP_K answers, looked up by literal keys: found within the statement that ranks
// all users, they cost as much as ranking them.

import type { Bindings } from '../../../filters/bindings.ts';
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
const keyBytes = keyDigits / 2;
/** A thousandth of all keys: what lies between a hundred keys is a tenth of a project's profiles at most. */
const nearKeys = 2n ** 64n / 1_000n;

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
  const asked = bindings.bind('Array(String)', keys);
  const isAsked = `(${placesOf(keys, bindings).join(' OR ')})
    AND substring(profile_id, 1, ${keyBytes}) IN arrayMap(key -> unhex(key), ${asked})`;
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

/**
 * Conditions on profile_id that together hold for all ids of these keys, in the order of the tables: by a function of
 * the id alone, each table would be read whole. The engine plans 100 places in a tenth of a second, so keys near each
 * other are one.
 */
function placesOf(keys: readonly string[], bindings: Bindings): string[] {
  const places: { first: string; last: string }[] = [];
  for (const key of [...keys].sort()) {
    const place = places.at(-1);
    if (place !== undefined && BigInt(`0x${key}`) - BigInt(`0x${place.last}`) < nearKeys) {
      place.last = key;
    } else places.push({ first: key, last: key });
  }
  const bytes = (key: string): string => `unhex(${bindings.bind('String', key)})`;
  return places.map(({ first, last }) =>
    first === last
      ? `startsWith(profile_id, ${bytes(first)})`
      : `(profile_id >= ${bytes(first)} AND profile_id <= ${bytes(last.padEnd(2 * idBytes, 'f'))})`,
  );
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
