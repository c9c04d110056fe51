// How merges are resolved, as SQL: every id has a root, itself where nobody claimed it, and the ids of one root are one
// person. Arguments are SQL too: placeholders and fixed text, never a request's own.

/** The 16 bytes of the profile that `distinctId` names, before merges. */
export function profileIdSql(project: string, distinctId: string): string {
  return `millraceProfileHash(${project}, ${distinctId})`;
}

/** The root of who is not merged. */
export const nobodySql = "toFixedString('', 16)";

/** The 16 bytes of an id in hex. */
export function idBytesSql(hex: string): string {
  return `toFixedString(unhex(${hex}), 16)`;
}

/** The key by which events know a profile's 16 bytes. */
export function profileKeySql(id: string): string {
  return `reinterpretAsUInt64(substring(${id}, 1, 8))`;
}

/** The root of one id. */
export function rootSql(project: string, id: string): string {
  const claimed = `project_id = ${project} AND edge AND profile_id = ${id} AND root != ''`;
  return `assumeNotNull(ifNull((SELECT root_id FROM profiles FINAL WHERE ${claimed}), ${id}))`;
}

/** What a SELECT takes the ids merged into one root from, as profile_id. */
export function mergedSql(project: string, root: string): string {
  return `FROM profiles_by_root FINAL WHERE project_id = ${project} AND root_id = ${root} AND live`;
}

/**
 * Holds for rows of the project, where the condition beside it names ids of that project alone: no other's rows have
 * them. The index is used as it would be, and the column is not read.
 */
export function ofProjectSql(project: string): string {
  return `indexHint(project_id = ${project})`;
}

/** A set of one column: all ids of the person whose root is `root`, itself included. */
export function membersSql(project: string, root: string): string {
  return `(SELECT ${root} AS id UNION ALL SELECT profile_id ${mergedSql(project, root)})`;
}

/**
 * The ids merged into any of `ids`, an array of the project's own, and in the same order their roots: a tuple of two
 * arrays. It is asked once, as a constant: a join would ask again for the index. Not FINAL, which takes a third
 * longer where a hundred ids lie anywhere in a few parts.
 */
export function mergedIntoSql(project: string, ids: string): string {
  return `(SELECT (groupArray(profile_id), groupArray(root_id)) FROM (
    SELECT profile_id, root_id FROM profiles_by_root
    WHERE ${ofProjectSql(project)} AND root_id IN (SELECT arrayJoin(${ids}))
    GROUP BY profile_id, root_id HAVING argMax(live, version)))`;
}

/**
 * Events of the ids in `members`, a set of one column `id`, and those that meet `own`. profile_key is what the index
 * knows; the whole id decides, as two ids may share a key.
 */
export function eventsOfSql(members: string, own: string): string {
  return `profile_key IN (SELECT ${profileKeySql('id')} FROM ${members})
    AND (${own} OR (NOT cookieless AND ${profileIdSql('project_id', 'distinct_id')} IN ${members}))`;
}
