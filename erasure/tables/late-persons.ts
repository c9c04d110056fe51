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

type Store = StepContext['store'];

/**
 * Those all of whose rows were received before the erasure was completed for the first time. Whoever has newer rows too
 * is left alone, because the sums do not say which rows they are of. Throws the engine's errors.
 */
export async function latePersons(
  store: Store,
  requests: readonly ErasureRecord[],
): Promise<ErasureRecord[]> {
  const newestMs = await newestRowsMs(store, requests);
  return requests.filter(
    (request) => (newestMs.get(request) ?? Infinity) < firstCompletionOf(request),
  );
}

/**
 * Of those that were opened again: who has rows that were received since the first completion. Rows that only the sums
 * of a person have are nobody's return. Throws the engine's errors.
 */
export async function personsBack(
  store: Store,
  requests: readonly ErasureRecord[],
): Promise<ErasureRecord[]> {
  const again = requests.filter(({ firstCompletedAtMs }) => firstCompletedAtMs !== undefined);
  const newestMs = await newestRowsMs(store, again);
  return again.filter((request) => (newestMs.get(request) ?? 0) >= firstCompletionOf(request));
}

/** When the newest row of each was received, in ms since the epoch; who has no row is absent. */
async function newestRowsMs(
  store: Store,
  requests: readonly ErasureRecord[],
): Promise<Map<ErasureRecord, number>> {
  const newestMs = new Map<ErasureRecord, number>();
  if (requests.length === 0) return newestMs;
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
  for (const request of requests) {
    const keys = new Set(unpackIds(request.ids).map((id) => String(keyOf(id))));
    const own = rows.flatMap(([project, key, ms]) =>
      project === request.projectId && keys.has(String(key)) ? [Number(ms)] : [],
    );
    if (own.length > 0) newestMs.set(request, Math.max(...own));
  }
  return newestMs;
}
