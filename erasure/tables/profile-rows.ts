// What the events of a profile add up to cannot be taken back row by row: its first event, its visits, the newest
// device. So the rows of some profiles are deleted, and counted anew from the events that stay, as the views do it.

import type { RetainedWork } from '../../platform/erasure/retained-work.ts';
import type { StoredMark } from '../../platform/erasure/stored-marks.ts';
import { oldEventsSql, youngEventsSql } from './old-rows.ts';
import { projectsSql, storedSql } from './person-rows.ts';

/** Profiles of one slice: their keys are in the text of two deletions, and their sums in the memory of one insert. */
export const profilesAtOnce = 20_000;

export const profileTables = ['profile_activity', 'profile_listing'] as const;

/** SELECT of the keys of the slice's profiles: all that have an event which goes. Always the same ones. */
export function sliceKeysSql(work: RetainedWork): string {
  const { slices, slice } = work;
  return `SELECT DISTINCT profile_key FROM events
    WHERE ${oldEventsSql(work)} AND NOT cookieless AND profile_key % ${slices} = ${slice}`;
}

/** Of both tables. The keys are what the engine gave: numbers. */
export function profilesOfKeysSql(projectIds: readonly string[], keys: readonly string[]): string {
  for (const key of keys) if (!/^\d+$/.test(key)) throw new Error('erasure: this is no key');
  return `${projectsSql(projectIds)} AND ${keySql} IN (${keys.join(', ')})`;
}

const keySql = 'reinterpretAsUInt64(substring(profile_id, 1, 8))';

/** INSERTs of what the slice's profiles are without what goes, each a block: events that are stored, then records. */
export function recountSql(work: RetainedWork, takenOut: readonly StoredMark[]): string[] {
  const { projects } = work;
  const named = projectsSql(projects.map(({ projectId }) => projectId));
  const keys = sliceKeysSql(work);
  return [
    `INSERT INTO profile_activity (project_id, profile_id, first_seen, last_seen, first_received, total_events, pageviews,
        sessions, agent, place, person)
      WITH
        concat(reverse(reinterpretAsFixedString(toUnixTimestamp64Milli(occur_time))), reinterpretAsFixedString(event_id)) AS moment,
        char(255) AS gap
      SELECT project_id, millraceProfileHash(project_id, distinct_id) AS id, min(occur_time), max(occur_time),
        min(receive_time), count(), countIf(kind = 'page_view'), uniqExactState(session_id),
        maxIf(concat(moment, browser, gap, browser_version, gap, os, gap, os_version, gap, device),
          browser != '' OR os != '' OR device != ''),
        maxIf(concat(moment, country, gap, region, gap, city), country != ''),
        max(NOT bool_properties['$bot'])
      FROM events
      WHERE ${youngEventsSql(projects)} AND NOT cookieless AND ${storedSql(takenOut)}
        AND profile_key IN (${keys})
      GROUP BY project_id, id ORDER BY project_id, id`,
    `INSERT INTO profile_activity (project_id, profile_id, first_seen, first_received, record)
      SELECT project_id, profile_id, toDateTime64('2299-12-31 23:59:59.999', 3, 'UTC') AS never, never,
        millraceProfileRecord(version, root_id, named, deleted, create_time, update_time, distinct_id, traits)
      FROM profiles WHERE ${named} AND NOT edge AND ${keySql} IN (${keys}) ORDER BY profile_id, version`,
  ];
}
