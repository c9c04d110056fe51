// SQL that resolves merges when something is read. Every id has a root, the id itself if no other claimed it; the ids
// of one root are one person. Arguments are SQL too: placeholders and fixed text, never a request's text.

/** The 16 bytes of the profile id of `distinctId`, before merges. */
export function profileIdSql(project: string, distinctId: string): string {
  return `millraceProfileHash(${project}, ${distinctId})`;
}

/** The stored root of an id that is not merged. */
export const noRootSql = "toFixedString('', 16)";

/** The 16 bytes of an id in hex. */
export function idBytesSql(hex: string): string {
  return `toFixedString(unhex(${hex}), 16)`;
}

/** The 64-bit key that events store in place of a profile id's 16 bytes. */
export function profileKeySql(id: string): string {
  return `reinterpretAsUInt64(substring(${id}, 1, 8))`;
}

/** The root of one id. */
export function rootSql(project: string, id: string): string {
  const claimed = `project_id = ${project} AND edge AND profile_id = ${id} AND root != ''`;
  return `assumeNotNull(ifNull((SELECT root_id FROM profiles FINAL WHERE ${claimed}), ${id}))`;
}

/** The FROM clause of the ids merged into one root; their column is profile_id. */
export function mergedSql(project: string, root: string): string {
  return `FROM profiles_by_root FINAL WHERE project_id = ${project} AND root_id = ${root} AND live`;
}

/**
 * In place of `project_id = …` beside a condition on ids that only this project's rows have: uses the index as usual
 * and does not read the column.
 */
export function ofProjectSql(project: string): string {
  return `indexHint(project_id = ${project})`;
}

/** A set with the column `id`: all ids of the person whose root is `root`, the root included. */
export function membersSql(project: string, root: string): string {
  return `(SELECT ${root} AS id UNION ALL SELECT profile_id ${mergedSql(project, root)})`;
}

/**
 * A tuple of two arrays in one order: the ids merged into any of `ids`, and their roots. `ids` is an array of this
 * project's ids. The engine runs it once, as a constant; a join would run it again for the index. Not FINAL, which
 * takes a third longer for a hundred ids spread over a few parts.
 */
export function mergedIntoSql(project: string, ids: string): string {
  return `(SELECT (groupArray(profile_id), groupArray(root_id)) FROM (
    SELECT profile_id, root_id FROM profiles_by_root
    WHERE ${ofProjectSql(project)} AND root_id IN (SELECT arrayJoin(${ids}))
    GROUP BY profile_id, root_id HAVING argMax(live, version)))`;
}

/**
 * Holds for events of the ids in `members`, a set with the column `id`, and for events that meet `own`. The index has
 * profile_key only; the whole id decides, as two ids may share a key.
 */
export function eventsOfSql(members: string, own: string): string {
  return `profile_key IN (SELECT ${profileKeySql('id')} FROM ${members})
    AND (${own} OR (NOT cookieless AND ${profileIdSql('project_id', 'distinct_id')} IN ${members}))`;
}

/** FROM and WHERE of the profiles that have traits: neither merged nor deleted. More conditions may follow with AND. */
export function livingProfilesSql(project: string): string {
  return `FROM profiles FINAL WHERE project_id = ${project} AND NOT edge AND NOT deleted AND root = ''`;
}
