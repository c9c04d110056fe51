// The statement behind a page of profiles: those that Identify named and those that only events know, in one order. A
// condition that no profile without traits can meet keeps the engine from looking at the latter: it folds the
// condition.

import type { Position } from './cursor.ts';
import { profileKeySql } from './identity-sql.ts';
import type { ProfileSelection } from './profile-selection.ts';

export interface ProfilesPage
  extends Pick<ProfileSelection, 'condition' | 'readsActivity' | 'after'> {
  /** The placeholder of the project's id. */
  project: string;
  maxRows: number;
}

/** Rows of: id in hex, creation and update in ms, externalId, keys and values of traits. */
export function profilesSql(page: ProfilesPage): {
  sql: string;
  params: Readonly<Record<string, unknown>>;
} {
  const { after, maxRows } = page;
  const ordered = `ORDER BY created DESC, id DESC LIMIT {maxRows:UInt32}`;
  const sql = `${page.readsActivity ? withActivity(page) : ''}
    SELECT lower(hex(id)), toUnixTimestamp64Milli(created), toUnixTimestamp64Milli(updated), external_id,
      mapKeys(traits), mapValues(traits)
    FROM (
      SELECT id, created, updated, external_id, traits FROM (${namedSql(page)} ${ordered})
      UNION ALL
      SELECT id, created, updated, external_id, traits FROM (${anonymousSql(page)} ${ordered}))
    ${ordered}`;
  return {
    sql,
    params: { maxRows, ...(after && { afterMs: after.occurTimeMs, afterId: after.eventId }) },
  };
}

const noTraits = "CAST(map(), 'Map(LowCardinality(String), String)')";

function namedSql({ project, condition, readsActivity, after }: ProfilesPage): string {
  const from = readsActivity
    ? 'profiles AS named FINAL LEFT ANY JOIN activity ON activity.activity_id = named.profile_id'
    : 'profiles AS named FINAL';
  return `SELECT named.profile_id AS id, named.create_time AS created, named.update_time AS updated,
      named.distinct_id AS external_id, named.traits AS traits
    FROM ${from}
    WHERE named.project_id = ${project} AND NOT named.edge AND named.named AND NOT named.deleted
      AND named.root = '' AND ${afterSql(after)} AND (${condition})`;
}

/**
 * Ids that are named, deleted or merged are no anonymous profiles. They are left out by key: by the id itself, which is
 * what the table is sorted by, the engine would hold each of its granules against the whole set, at ten times the cost.
 */
function anonymousSql({ project, condition, readsActivity, after }: ProfilesPage): string {
  const others = `SELECT profile_key FROM profiles FINAL
    WHERE project_id = ${project} AND (named OR deleted OR root != '')`;
  const source = readsActivity
    ? `SELECT activity_id AS id, first_received AS created, ${activityColumns} FROM activity
       WHERE ${profileKeySql('activity_id')} NOT IN (${others})`
    : `SELECT profile_id AS id, min(first_received) AS created FROM profile_activity
       WHERE project_id = ${project} AND ${profileKeySql('profile_id')} NOT IN (${others}) GROUP BY profile_id`;
  return `SELECT id, created, created AS updated, '' AS external_id, ${noTraits} AS traits
    FROM (${source}) WHERE ${afterSql(after)} AND (${condition})`;
}

const activityColumns = 'browser, browser_version, os, os_version, device, country, region, city';

function afterSql(after: Position | undefined): string {
  if (after === undefined) return 'true';
  return `(created, id) < (fromUnixTimestamp64Milli({afterMs:Int64}, 'UTC'),
    toFixedString(unhex(replaceAll({afterId:String}, '-', '')), 16))`;
}

/** The latest browser, system, device and place of each person, by the id that is not merged. */
function withActivity({ project }: ProfilesPage): string {
  return `WITH activity AS (
    SELECT if(edges.root_id = toFixedString('', 16), seen.profile_id, edges.root_id) AS activity_id,
      min(seen.first_received) AS first_received, argMaxIfMerge(seen.agent) AS agent, argMaxIfMerge(seen.place) AS place,
      agent.1 AS browser, agent.2 AS browser_version, agent.3 AS os, agent.4 AS os_version, agent.5 AS device,
      place.1 AS country, place.2 AS region, place.3 AS city
    FROM profile_activity AS seen
    LEFT ANY JOIN (
      SELECT profile_id, root_id FROM profiles FINAL WHERE project_id = ${project} AND edge AND root != ''
    ) AS edges ON edges.profile_id = seen.profile_id
    WHERE seen.project_id = ${project} GROUP BY activity_id)`;
}
