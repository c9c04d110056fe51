// Erased persons who have rows again: those that were received before, and came late. Whoever was received afterwards
// is somebody new.

import {
  type ErasureRecord,
  firstCompletionOf,
  unpackIds,
} from '../../platform/erasure/erasure-record.ts';
import type { StepContext } from '../erasure-parts.ts';
import { keyOf, keysSql, profileIdsSql } from './person-rows.ts';
import { selectRows } from './select-rows.ts';

/**
 * Those all of whose rows were received before the erasure was completed for the first time. Whoever has newer rows too
 * is left alone, because the sums do not say which rows they are of. Throws the engine's errors.
 */
export async function latePersons(
  store: StepContext['store'],
  requests: readonly ErasureRecord[],
): Promise<ErasureRecord[]> {
  if (requests.length === 0) return [];
  const persons = {
    projectIds: [...new Set(requests.map(({ projectId }) => projectId))],
    ids: [...new Set(requests.flatMap(({ ids }) => unpackIds(ids)))],
  };
  const rows = await selectRows(
    store,
    `SELECT project_id, toString(profile_key) AS key, toUnixTimestamp64Milli(max(receive_time)) FROM events
      WHERE ${keysSql(persons)} AND NOT cookieless GROUP BY project_id, key
    UNION ALL
    SELECT project_id, toString(reinterpretAsUInt64(substring(profile_id, 1, 8))) AS key,
      toUnixTimestamp64Milli(max(greatest(create_time, update_time, merge_time))) FROM profiles
      WHERE ${profileIdsSql(persons)} GROUP BY project_id, key`,
  );
  return requests.filter((request) => {
    const { projectId, ids } = request;
    const keys = new Set(unpackIds(ids).map((id) => String(keyOf(id))));
    const newest = rows.flatMap(([project, key, ms]) =>
      project === projectId && keys.has(String(key)) ? [Number(ms)] : [],
    );
    return newest.length > 0 && Math.max(...newest) < firstCompletionOf(request);
  });
}

/** Of those that were opened again: they have no row that came late any more, or newer ones too. */
export async function personsBack(
  store: StepContext['store'],
  requests: readonly ErasureRecord[],
): Promise<ErasureRecord[]> {
  const again = requests.filter(({ firstCompletedAtMs }) => firstCompletedAtMs !== undefined);
  const late = new Set(await latePersons(store, again));
  return again.filter((request) => !late.has(request));
}
