// The statements that find a page's profiles. Named profiles and anonymous ones, which only events know, have a
// statement each, with the same columns in the same order. The choice of statements is profile-page.ts's.

import type { Position } from '../cursor.ts';
import { idBytesSql, mergedIntoSql, noRootSql, ofProjectSql } from '../identity/identity-sql.ts';
import type { Statement } from '../read-rows.ts';
import { latestSql } from './stored-profile.ts';

export interface ProfilesPage {
  /** The placeholder of the project's id. */
  project: string;
  /** SQL over `traits`, and for allProfilesSql over the activity's columns too. */
  condition: string;
  /** The last profile of the page before. */
  after: Position | undefined;
  maxRows: number;
}

// Rows of: id in hex, creation and update in ms, externalId, keys and values of traits.
export const columns = `lower(hex(id)), toUnixTimestamp64Milli(created), toUnixTimestamp64Milli(updated), external_id,
  mapKeys(traits), mapValues(traits)`;
const ordered = 'ORDER BY created DESC, id DESC LIMIT {maxRows:UInt32}';
const noTraits = "CAST(map(), 'Map(LowCardinality(String), String)')";

const epoch = "toDateTime64(0, 3, 'UTC')";

/**
 * Named profiles that meet the condition, among the newest `newestRows` rows and rows of the same moment as their last;
 * among all rows if undefined. A last column has the moment of the oldest row looked at, in ms; 0 for all rows.
 */
export function namedSql(page: ProfilesPage, newestRows: number | undefined): Statement {
  const { project, condition, after } = page;
  const rows = `FROM profiles_by_creation`;
  const where = `WHERE project_id = ${project} AND ${untilSql('listed_time', after)}`;
  const since =
    newestRows === undefined
      ? epoch
      : `ifNull((SELECT listed_time ${rows} ${where} ORDER BY listed_time DESC LIMIT 1 OFFSET {newestRows:UInt32}), ${epoch})`;
  const sql = `SELECT profile_id AS id, listed_time AS created, update_time AS updated, distinct_id AS external_id, traits
    ${rows} FINAL
    ${where} AND listed_time >= since AND live AND ${afterSql(after)} AND (${condition}) ${ordered}`;
  return {
    sql: `WITH ${since} AS since SELECT ${columns}, toUnixTimestamp64Milli(since) FROM (${sql}) ${ordered}`,
    params: { ...paramsOf(page), ...(newestRows !== undefined && { newestRows }) },
  };
}

/**
 * Anonymous profiles that meet the condition, created since `sinceMs` if given: only ids with a row since then are
 * grouped. Named, deleted and merged ids are no anonymous profiles.
 */
export function anonymousSql(page: ProfilesPage, sinceMs: number | undefined): Statement {
  const { project, condition, after } = page;
  const rows = `FROM profile_listing WHERE project_id = ${project}`;
  const since = "fromUnixTimestamp64Milli({sinceMs:Int64}, 'UTC')";
  const until = untilSql('first_received', after);
  const recent =
    sinceMs === undefined
      ? 'true'
      : `profile_id IN (SELECT profile_id ${rows} AND first_received >= ${since} AND ${until})`;
  const sql = `SELECT id, created, created AS updated, '' AS external_id, ${noTraits} AS traits
    FROM (
      SELECT profile_id AS id, min(first_received) AS created ${rows} AND ${recent} AND profile_id NOT IN (
        SELECT profile_id FROM profiles FINAL
        WHERE project_id = ${project} AND (named OR deleted OR root != '') AND ${recent})
      GROUP BY profile_id)
    WHERE ${afterSql(after)} AND ${sinceMs === undefined ? 'true' : `created >= ${since}`} AND (${condition})`;
  return {
    sql: `SELECT ${columns} FROM (${sql}) ${ordered} ${indexForFew}`,
    params: { ...paramsOf(page), ...(sinceMs !== undefined && { sinceMs }) },
  };
}

// With a large set the index would compare each granule with every id, at ten times the cost of reading all rows.
const indexForFew = 'SETTINGS use_index_for_in_with_subqueries_max_values = 1000';

function paramsOf({ after, maxRows }: ProfilesPage): Statement['params'] {
  return { maxRows, ...(after && { afterMs: after.timeMs, afterId: after.id }) };
}

const afterTime = "fromUnixTimestamp64Milli({afterMs:Int64}, 'UTC')";

/** A condition that the table's order serves; afterSql is exact. */
function untilSql(column: string, after: Position | undefined): string {
  return after === undefined ? 'true' : `${column} <= ${afterTime}`;
}

function afterSql(after: Position | undefined): string {
  if (after === undefined) return 'true';
  return `(created, id) < (${afterTime}, toFixedString(unhex(replaceAll({afterId:String}, '-', '')), 16))`;
}

const activityFields = `agent[1] AS browser, agent[2] AS browser_version, agent[3] AS os, agent[4] AS os_version,
  agent[5] AS device, place[1] AS country, place[2] AS region, place[3] AS city`;

// Two threads share a part of any size.
export const everyRow = `SETTINGS max_threads = 2, merge_tree_min_rows_for_concurrent_read = 8192,
  merge_tree_min_bytes_for_concurrent_read = 1`;

/** Selects the ids among `ids`, in hex, whose activity meets `condition`. None of `ids` may be merged. */
export function matchingSql(project: string, condition: string, ids: readonly string[]): Statement {
  // The UNION adds ids without events: their activity has no values.
  const sql = `WITH arrayMap(id -> ${idBytesSql('id')}, {ids:Array(String)}) AS asked, ${mergedIntoSql(project, 'asked')} AS merged
    SELECT lower(hex(id))
    FROM (
      SELECT transform(profile_id, merged.1, merged.2, profile_id) AS id,
        ${latestSql('agent')} AS agent, ${latestSql('place')} AS place, ${activityFields},
        max(seen) AND NOT max(person) AS bot
      FROM (
        SELECT profile_id, agent, place, person, true AS seen FROM profile_listing
        WHERE ${ofProjectSql(project)} AND profile_id IN (SELECT arrayJoin(arrayConcat(asked, merged.1)))
        UNION ALL SELECT arrayJoin(asked), '', '', false, false)
      GROUP BY id)
    WHERE ${condition} ${everyRow}`;
  return { sql, params: { ids } };
}

/**
 * Named and anonymous profiles at once, by root, each with its latest browser, system, device and place. A profile
 * without events comes from `profiles`, an anonymous one from its events.
 */
export function allProfilesSql(page: ProfilesPage): Statement {
  const { condition, after } = page;
  const sql = `SELECT id, created, updated, external_id, traits
    FROM ${everybodySql(page.project, 'profile_listing')}
    WHERE visible AND ${afterSql(after)} AND (${condition})`;
  return { sql: `SELECT ${columns} FROM (${sql}) ${ordered}`, params: paramsOf(page) };
}

/** In profile_activity a row without events has only an identity record. */
const summed = `min(listing.first_seen) AS first_seen, max(listing.last_seen) AS last_seen,
      sum(listing.total_events) AS total_events, sum(listing.pageviews) AS pageviews, uniqExactMerge(listing.sessions) AS sessions`;
const listed = 'min(listing.first_seen) AS first_seen';

/**
 * A FROM clause of every profile by its root, the invisible ones too, with its record and its activity: the engine
 * reads the columns that are used. Sums of events are columns of profile_activity alone, whose reading takes longer.
 */
export function everybodySql(
  project: string,
  table: 'profile_listing' | 'profile_activity',
): string {
  const seen = `SELECT if(edges.root_id = ${noRootSql}, listing.profile_id, edges.root_id) AS seen_id,
      min(listing.first_received) AS first_received, ${table === 'profile_activity' ? summed : listed},
      ${latestSql('listing.agent')} AS agent, ${latestSql('listing.place')} AS place,
      max(listing.person) AS person
    FROM ${table} AS listing
    LEFT ANY JOIN (
      SELECT profile_id, root_id FROM profiles FINAL WHERE project_id = ${project} AND edge AND root != ''
    ) AS edges ON edges.profile_id = listing.profile_id
    WHERE listing.project_id = ${project}${table === 'profile_activity' ? ' AND listing.total_events > 0' : ''} GROUP BY seen_id`;
  const known = `SELECT profile_id AS known_id, named, deleted, root, create_time, update_time, distinct_id, traits
    FROM profiles FINAL WHERE project_id = ${project} AND NOT edge`;
  const sums = table === 'profile_activity' ? 'last_seen, total_events, pageviews, sessions,' : '';
  return `(
      SELECT known_id = ${noRootSql} AS anonymous, if(anonymous, seen_id, known_id) AS id,
        if(anonymous, first_received, create_time) AS created, if(anonymous, first_received, update_time) AS updated,
        distinct_id AS external_id, traits, anonymous OR (named AND NOT deleted AND root = '') AS visible,
        seen_id != ${noRootSql} AS has_events, has_events AND NOT person AS bot, first_seen,
        ${sums} ${activityFields}
      FROM (${known}) AS known FULL JOIN (${seen}) AS seen ON seen.seen_id = known.known_id)`;
}
