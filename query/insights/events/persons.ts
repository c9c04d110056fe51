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

/** A set of the profile_keys of deleted persons. Where nobody is deleted, next to nothing is read for it. */
export function gonePersonsSql(project: string): string {
  return `(SELECT profile_key ${edgesSql(project)} AND root_id IN ${deletedSql(project)}
    UNION ALL SELECT profile_key FROM (${deletedRootsSql(project)}))`;
}

/** A set of the profile_keys that were ever merged into another or had others merged into them. */
export function mergedKeysSql(project: string): string {
  return `(SELECT arrayJoin([profile_key, ${profileKeySql('root_id')}]) FROM profiles
    WHERE project_id = ${project} AND edge AND root != '')`;
}

/**
 * The ids that are merged or deleted, each once. A deletion from before a merge does not count: the root's does. To
 * group rows of both took twice the time of reading them.
 */
function personsSql(project: string): string {
  return `SELECT profile_key, ${profileKeySql('root_id')} AS root_key, root_id IN ${deletedSql(project)} AS is_gone ${edgesSql(project)}
    UNION ALL SELECT profile_key, toUInt64(0) AS root_key, toUInt8(1) AS is_gone FROM (${deletedRootsSql(project)})`;
}

/** FROM and WHERE of the ids that are merged into another. */
function edgesSql(project: string): string {
  return `FROM profiles FINAL WHERE project_id = ${project} AND edge AND root != ''`;
}

/** SELECT of profile_key: the deleted ids that are not merged. */
function deletedRootsSql(project: string): string {
  const gone = deletedSql(project);
  return `SELECT ${profileKeySql('profile_id')} AS profile_key FROM ${gone}
    WHERE profile_id NOT IN (SELECT profile_id ${edgesSql(project)} AND profile_id IN ${gone})`;
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
