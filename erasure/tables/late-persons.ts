// Erased persons who have rows again: those that were received before, and came late. Whoever was received afterwards
// is somebody new.

import { dayMs } from '../../platform/clock.ts';
import {
  type ErasureRecord,
  firstCompletionOf,
  unpackIds,
} from '../../platform/erasure/erasure-record.ts';
import type { StepContext } from '../erasure-parts.ts';
import { type StoreAndLog, selectAttempts } from './attempt-rows.ts';
import { keyOf, keysSql, personsOf, profileIdsSql } from './person-rows.ts';
import { selectRows } from './select-rows.ts';

type Store = StepContext['store'];

/**
 * Those all of whose rows were received before the erasure was completed for the first time. Whoever has newer rows too
 * is left alone, because the sums do not say which rows they are of. `log` has the log of webhooks. Throws the engine's
 * errors.
 */
export async function latePersons(
  { store, log }: StoreAndLog,
  requests: readonly ErasureRecord[],
): Promise<ErasureRecord[]> {
  if (requests.length === 0) return [];
  const told = await toldRows({ store, log }, requests);
  const newestMs = newestOf([...(await ownRows(store, requests)), ...told], requests);
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
  if (again.length === 0) return [];
  const newestMs = newestOf(await ownRows(store, again), again);
  return again.filter((request) => (newestMs.get(request) ?? 0) >= firstCompletionOf(request));
}

/** Rows of: project, key of a profile, when its newest row was received, in ms since the epoch. */
function ownRows(store: Store, requests: readonly ErasureRecord[]): Promise<unknown[][]> {
  const persons = personsOf(requests);
  return selectRows(
    store,
    `SELECT project_id, toString(profile_key) AS key, toUnixTimestamp64Milli(max(receive_time)) FROM events
      WHERE ${keysSql(persons)} AND NOT cookieless GROUP BY project_id, key
    UNION ALL
    SELECT project_id, toString(reinterpretAsUInt64(substring(profile_id, 1, 8))) AS key,
      toUnixTimestamp64Milli(max(greatest(create_time, update_time, merge_time))) FROM profiles
      WHERE ${profileIdsSql(persons)} GROUP BY project_id, key`,
  );
}

/**
 * The same of the newest event that webhooks told of, and the number of attempts, by first attempts of the day before
 * the first request and later.
 */
export function toldRows(
  stores: StoreAndLog,
  requests: readonly ErasureRecord[],
): Promise<unknown[][]> {
  const fromMs = Math.min(...requests.map(({ requestedAtMs }) => requestedAtMs)) - dayMs;
  return selectAttempts(
    stores,
    personsOf(requests),
    (rows, id) => `SELECT project_id, toString(reinterpretAsUInt64(substring(${id}, 1, 8))) AS key,
      toUnixTimestamp64Milli(max(accept_time)), count() FROM webhook_attempts
      WHERE attempt_time >= fromUnixTimestamp64Milli(toInt64(${fromMs})) AND ${rows} GROUP BY project_id, key`,
  );
}

/** Who has no row is absent. */
function newestOf(
  rows: readonly unknown[][],
  requests: readonly ErasureRecord[],
): Map<ErasureRecord, number> {
  const newestMs = new Map<ErasureRecord, number>();
  for (const request of requests) {
    const keys = new Set(unpackIds(request.ids).map((id) => String(keyOf(id))));
    const own = rows.flatMap(([project, key, ms]) =>
      project === request.projectId && keys.has(String(key)) ? [Number(ms)] : [],
    );
    if (own.length > 0) newestMs.set(request, Math.max(...own));
  }
  return newestMs;
}
