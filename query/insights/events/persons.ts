// SQL that finds the user of each event when a question is asked: the 64-bit key of its profile's root. Among ten
// million users, the chance that any two share a key is three in a million.

import { profileKeySql } from '../../identity/identity-sql.ts';

/**
 * The FROM and WHERE of the profiles that have traits: neither merged nor deleted. More conditions may follow with AND.
 */
export function livingProfilesSql(project: string): string {
  return `FROM profiles FINAL WHERE project_id = ${project} AND NOT edge AND NOT deleted AND root = ''`;
}

/**
 * JOIN clause that adds to rows with a profile_key what merges and deletions made of it: root_key, 0 for an id that is
 * its own root, and is_gone. Few ids have a row here, so that the join costs little for an event.
 */
export function personJoinSql(project: string): string {
  return `LEFT ANY JOIN (${personsSql(project)}) AS person USING (profile_key)`;
}

/** A set of the profile_keys of deleted persons. */
export function gonePersonsSql(project: string): string {
  return `(SELECT profile_key FROM (${personsSql(project)}) WHERE is_gone)`;
}

/** A set of the profile_keys that were ever merged into another or had others merged into them. */
export function mergedKeysSql(project: string): string {
  return `(SELECT arrayJoin([profile_key, ${profileKeySql('root_id')}]) FROM profiles
    WHERE project_id = ${project} AND edge AND root != '')`;
}

/** The ids that are merged or deleted. A deletion from before a merge does not count: the root's does. */
function personsSql(project: string): string {
  const gone = deletedSql(project);
  return `SELECT profile_key, max(owner_key) AS root_key, argMax(was_deleted, owner_key) AS is_gone FROM (
    SELECT profile_key, ${profileKeySql('root_id')} AS owner_key, root_id IN ${gone} AS was_deleted
    FROM profiles FINAL WHERE project_id = ${project} AND edge AND root != ''
    UNION ALL
    SELECT ${profileKeySql('profile_id')} AS profile_key, toUInt64(0) AS owner_key, true AS was_deleted FROM ${gone}
  ) GROUP BY profile_key`;
}

// Two steps: who was ever deleted are few, and only their newest rows are looked for.
function deletedSql(project: string): string {
  const rows = `FROM profiles WHERE project_id = ${project} AND NOT edge`;
  return `(SELECT profile_id ${rows} AND profile_id IN (SELECT profile_id ${rows} AND deleted)
    GROUP BY profile_id HAVING argMax(deleted, version))`;
}

/** The key of an event's user after personJoinSql, 0 where it has none. */
export function userKeySql(includeCookieless: boolean): string {
  const cookieless = includeCookieless ? 'profile_key' : '0';
  return `multiIf(cookieless, ${cookieless}, person.is_gone, 0, person.root_key != 0, person.root_key, profile_key)`;
}
