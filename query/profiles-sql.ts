// The statement behind a page of profiles: those that Identify named and those that only events know, in one order. A
// condition that no profile without traits can meet keeps the engine from looking at the latter: it folds the
// condition.

import type { Position } from './cursor.ts';
import { nobodySql, profileKeySql } from './identity-sql.ts';
import { latestSql } from './profile-message.ts';
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
  const found = page.readsActivity
    ? personsSql(page)
    : `SELECT * FROM (${namedSql(page)} ${ordered}) UNION ALL SELECT * FROM (${anonymousSql(page)} ${ordered})`;
  const sql = `SELECT lower(hex(id)), toUnixTimestamp64Milli(created), toUnixTimestamp64Milli(updated), external_id,
      mapKeys(traits), mapValues(traits)
    FROM (${found}) ${ordered}`;
  return {
    sql,
    params: { maxRows, ...(after && { afterMs: after.occurTimeMs, afterId: after.eventId }) },
  };
}

const ordered = 'ORDER BY created DESC, id DESC LIMIT {maxRows:UInt32}';
const noTraits = "CAST(map(), 'Map(LowCardinality(String), String)')";

function namedSql({ project, condition, after }: ProfilesPage): string {
  return `SELECT profile_id AS id, create_time AS created, update_time AS updated, distinct_id AS external_id, traits
    FROM profiles FINAL
    WHERE project_id = ${project} AND NOT edge AND named AND NOT deleted AND root = ''
      AND ${afterSql(after)} AND (${condition})`;
}

/**
 * Ids that are named, deleted or merged are no anonymous profiles. They are left out by key: by the id itself, which is
 * what the table is sorted by, the engine would hold each of its granules against the whole set, at ten times the cost.
 */
function anonymousSql({ project, condition, after }: ProfilesPage): string {
  return `SELECT id, created, created AS updated, '' AS external_id, ${noTraits} AS traits
    FROM (
      SELECT profile_id AS id, min(first_received) AS created FROM profile_listing
      WHERE project_id = ${project} AND ${profileKeySql('profile_id')} NOT IN (
        SELECT profile_key FROM profiles FINAL WHERE project_id = ${project} AND (named OR deleted OR root != ''))
      GROUP BY profile_id)
    WHERE ${afterSql(after)} AND (${condition})`;
}

function afterSql(after: Position | undefined): string {
  if (after === undefined) return 'true';
  return `(created, id) < (fromUnixTimestamp64Milli({afterMs:Int64}, 'UTC'),
    toFixedString(unhex(replaceAll({afterId:String}, '-', '')), 16))`;
}

/**
 * Both kinds at once, each with the latest browser, system, device and place of the person, by the id that is not
 * merged. Who has no events is here by their name, and who has no name by their events.
 */
function personsSql({ project, condition, after }: ProfilesPage): string {
  const seen = `SELECT if(edges.root_id = ${nobodySql}, listing.profile_id, edges.root_id) AS seen_id,
      min(listing.first_received) AS first_received, ${latestSql('listing.agent')} AS agent, ${latestSql('listing.place')} AS place
    FROM profile_listing AS listing
    LEFT ANY JOIN (
      SELECT profile_id, root_id FROM profiles FINAL WHERE project_id = ${project} AND edge AND root != ''
    ) AS edges ON edges.profile_id = listing.profile_id
    WHERE listing.project_id = ${project} GROUP BY seen_id`;
  const known = `SELECT profile_id AS known_id, named, deleted, root, create_time, update_time, distinct_id, traits
    FROM profiles FINAL WHERE project_id = ${project} AND NOT edge`;
  return `SELECT id, created, updated, external_id, traits
    FROM (
      SELECT known_id = ${nobodySql} AS anonymous, if(anonymous, seen_id, known_id) AS id,
        if(anonymous, first_received, create_time) AS created, if(anonymous, first_received, update_time) AS updated,
        distinct_id AS external_id, traits, anonymous OR (named AND NOT deleted AND root = '') AS visible,
        agent[1] AS browser, agent[2] AS browser_version, agent[3] AS os, agent[4] AS os_version, agent[5] AS device,
        place[1] AS country, place[2] AS region, place[3] AS city
      FROM (${known}) AS known FULL JOIN (${seen}) AS seen ON seen.seen_id = known.known_id)
    WHERE visible AND ${afterSql(after)} AND (${condition})`;
}
