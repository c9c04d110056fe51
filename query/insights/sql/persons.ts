// SQL that finds the user of each event when a question is asked: the 64-bit key of its profile's root. Among ten
// million users, the chance that any two share a key is three in a million.

import { idBytesSql, profileKeySql } from '../../identity/identity-sql.ts';
import { type EventCondition, every } from '../read/event-condition.ts';
import type { Question } from '../read/question.ts';

/** Hex digits of a key: the first half of a profile's id. */
export const keyDigits = 16;
/** Those of a profile's id. */
const idDigits = 32;

/** The text of a key in hex, of SQL for the key as a number of its bytes, the greatest first. */
export function keyTextSql(number: string): string {
  return `lower(leftPad(hex(${number}), ${keyDigits}, '0'))`;
}

/** A set of keys, of SQL for a list of their texts. */
export function keySetSql(texts: string): string {
  return `(SELECT reinterpretAsUInt64(unhex(arrayJoin(${texts}))))`;
}

/** In place of a property's name: the breakdown by the person. No property has an empty name. */
export const byPerson = '';

/** A person as a group: the key as a number of its bytes, the greatest first, so that it has the order of its text. */
export const personGroupSql = 'byteSwap(user_key)';

/**
 * JOIN clause that adds root_key to rows with a profile_key: the key of the profile into which the id is merged, 0 for
 * an id that is its own root. Few ids have a row here, so that the join costs little for an event.
 */
export function personJoinSql(project: string): string {
  return `LEFT ANY JOIN (SELECT ${profileKeySql('profile_id')} AS profile_key, ${profileKeySql('root_id')} AS root_key
    ${mergedIdsSql(project)}) AS person USING (profile_key)`;
}

/** The key of an event's user after personJoinSql; 0 where it has none, or a deleted one. */
export function userKeySql(
  { project, hasDeletions }: Pick<Question, 'project' | 'hasDeletions'>,
  includeCookieless: boolean,
): string {
  const cookieless = includeCookieless ? 'profile_key' : '0';
  const root = 'if(person.root_key != 0, person.root_key, profile_key)';
  if (!hasDeletions()) return `if(cookieless, ${cookieless}, ${root})`;
  const deleted = `(SELECT ${profileKeySql('profile_id')} FROM ${deletedSql(project)})`;
  return `multiIf(cookieless, ${cookieless}, ${root} IN ${deleted}, 0, ${root})`;
}

/**
 * Holds for rows with user_key and cookieless of persons in all segments that the question names as a filter, and in
 * none that it excludes.
 */
export function inSegments({ spec, memberSql }: Question): EventCondition {
  const terms = [
    ...[...new Set(spec.segments)].map((id) => memberSql(id)),
    ...[...new Set(spec.notInSegments)].map((id) => `NOT ${memberSql(id)}`),
  ];
  if (terms.length === 0) return every;
  return { sql: `(${terms.join(' AND ')})`, usesUser: true, kind: 'filtered' };
}

/**
 * Holds for rows with a profile_key of all persons among whom a list of persons looks, and for few others; undefined
 * for a list of all. The set of all merged ids would be looked through for each row, three times as long.
 */
export function listedKeysSql({ project, behind }: Question): string | undefined {
  if (behind?.untilKey === undefined) return undefined;
  const { afterKey, untilKey } = behind;
  const key = 'byteSwap(profile_key)';
  const [first, last] = [keyNumberSql(afterKey), keyNumberSql(untilKey)];
  const [firstId, lastId] = [idSql(afterKey, '0'), idSql(untilKey, 'f')];
  return `(${key} >= ${first} AND ${key} <= ${last} OR profile_key IN (SELECT ${profileKeySql('profile_id')}
    FROM profiles_by_root WHERE project_id = ${project} AND root_id >= ${firstId} AND root_id <= ${lastId}))`;
}

/** A key in hex as a number of its bytes, the greatest first. SQL. */
export function keyNumberSql(key: string): string {
  return `toUInt64('${BigInt(`0x${key}`)}')`;
}

/** The least or the greatest id of a person with that key. SQL. */
function idSql(key: string, digit: '0' | 'f'): string {
  return idBytesSql(`'${key.padEnd(idDigits, digit)}'`);
}

/** A set of the profile_keys of deleted persons and of the ids merged into them. */
export function gonePersonsSql(project: string): string {
  const deleted = deletedSql(project);
  // A deletion from before a merge does not count: the root's does.
  return `(SELECT ${profileKeySql('profile_id')} ${mergedIdsSql(project)} AND root_id IN ${deleted}
    UNION ALL SELECT ${profileKeySql('profile_id')} FROM ${deleted}
      WHERE profile_id NOT IN (SELECT profile_id ${mergedIdsSql(project)} AND profile_id IN ${deleted}))`;
}

/** A set of the profile_keys that were ever merged into another or had others merged into them. */
export function mergedKeysSql(project: string): string {
  return `(SELECT arrayJoin([${profileKeySql('profile_id')}, ${profileKeySql('root_id')}]) FROM profiles_by_root
    WHERE project_id = ${project})`;
}

/** The same with those of deleted persons. */
export function changedKeysSql({ project, hasDeletions }: Question): string {
  const merged = mergedKeysSql(project);
  if (!hasDeletions()) return merged;
  return `(SELECT * FROM ${merged} UNION ALL SELECT ${profileKeySql('profile_id')} FROM ${deletedSql(project)})`;
}

/** FROM and WHERE of the ids that are merged into another, each once, with the profile_id and the root_id. */
export function mergedIdsSql(project: string): string {
  return `FROM profiles_by_root FINAL WHERE project_id = ${project} AND live`;
}

/** A table of the profile_ids of deleted persons. Two steps: few were ever deleted, only their newest rows count. */
export function deletedSql(project: string): string {
  const rows = `FROM profiles WHERE project_id = ${project} AND NOT edge`;
  return `(SELECT profile_id ${rows} AND profile_id IN (SELECT profile_id ${rows} AND deleted)
    GROUP BY profile_id HAVING argMax(deleted, version))`;
}
