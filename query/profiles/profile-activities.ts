// The totals of the events of a page's profiles, whatever the order of the page.

import { createBindings } from '../filters/bindings.ts';
import { idBytesSql, mergedIntoSql, ofProjectSql } from '../identity/identity-sql.ts';
import type { Read } from './profile-page.ts';
import { activitySql, readActivity, type StoredActivity } from './stored-profile.ts';

// A page's hundred rows lie anywhere in each part: two threads that take 64 granules in turns need two thirds of the
// time of one.
const rowsAnywhere = `SETTINGS max_threads = 2, merge_tree_min_rows_for_concurrent_read = 4096,
  merge_tree_min_bytes_for_concurrent_read = 1, optimize_move_to_prewhere = 0, enable_analyzer = 0`;

/** The totals of the events of a page's profiles and of the ids merged into them, by profile id. */
export async function readActivities(
  read: Read,
  projectId: string,
  page: readonly { id: string }[],
): Promise<ReadonlyMap<string, StoredActivity>> {
  const activities = new Map<string, StoredActivity>();
  if (page.length === 0) return activities;
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const list = bindings.bind(
    'Array(String)',
    page.map(({ id }) => id),
  );
  const sql = `WITH arrayMap(id -> ${idBytesSql('id')}, ${list}) AS asked, ${mergedIntoSql(project, 'asked')} AS merged
    SELECT lower(hex(transform(profile_id, merged.1, merged.2, profile_id))) AS id, ${activitySql}
    FROM profile_activity
    WHERE ${ofProjectSql(project)} AND profile_id IN (SELECT arrayJoin(arrayConcat(asked, merged.1)))
    GROUP BY id ${rowsAnywhere}`;
  const { rows } = await read({ sql, params: bindings.params }, page.length);
  for (const [id, ...columns] of rows) {
    const activity = readActivity(columns);
    if (activity !== undefined) activities.set(String(id), activity);
  }
  return activities;
}
