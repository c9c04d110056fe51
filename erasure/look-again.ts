// Looks again at what was erased or deleted: a process that stood still meanwhile may have handed on afterwards what it
// had received before, and nothing else would ever find these rows. Each hour, for a day.

import { dayMs } from '../platform/clock.ts';
import { type ErasureRecord, erasureKey, unpackIds } from '../platform/erasure/erasure-record.ts';
import { type ErasureParts, maxRequests, type StepContext } from './erasure-parts.ts';
import { keyOf, keysSql, profileIdsSql, projectsSql } from './tables/person-rows.ts';
import { selectRows } from './tables/select-rows.ts';
import { tablesWith } from './whole/project-rows.ts';

/** After the completion. */
const lookedAtMs = dayMs;
type LookParts = Pick<ErasureParts, 'clickhouse' | 'requests' | 'clock' | 'log'>;
type Store = StepContext['store'];

/** Opens those requests again that have rows. A group whose engine fails is told in the log, and the others go on. */
export async function lookAgain(parts: LookParts): Promise<void> {
  const { clickhouse, requests, clock, log } = parts;
  const nowMs = clock.nowMs();
  const done = [...requests.records()]
    .map(([, record]) => record)
    .filter((one) => one.status === 'completed' && one.projectId !== '')
    .filter(({ completedAtMs }) => Math.abs(nowMs - completedAtMs) < lookedAtMs);
  for (const [group, store] of clickhouse.all.entries()) {
    const here = done.filter(
      ({ projectId, whole }) =>
        clickhouse.placeOf(projectId) === group ||
        // It has the log of webhooks of all projects.
        (whole !== undefined && store === clickhouse.first),
    );
    try {
      await lookIn(parts, store, here);
    } catch (error) {
      log.warn({ err: error, group }, 'rows that came after their erasure are looked for later');
    }
  }
}

/** Throws the engines' errors. */
async function lookIn(
  parts: LookParts,
  store: Store,
  requests: readonly ErasureRecord[],
): Promise<void> {
  for (let at = 0; at < requests.length; at += maxRequests) {
    const some = requests.slice(at, at + maxRequests);
    const projects = some.filter(({ whole }) => whole !== undefined);
    const persons = some.filter(({ whole }) => whole === undefined);
    const found = [
      ...(await lateProjects(store, projects)),
      ...(await latePersons(store, persons)),
    ];
    for (const request of found) await openAgain(parts, request);
    if (found.length > 0) {
      parts.log.info({ requests: found.length }, 'rows came after their erasure');
    }
  }
}

/** Deleted projects that any table names. */
async function lateProjects(
  store: Store,
  requests: readonly ErasureRecord[],
): Promise<ErasureRecord[]> {
  if (requests.length === 0) return [];
  const rows = projectsSql(requests.map(({ projectId }) => projectId));
  const found = new Set<string>();
  for (const table of await tablesWith(store, 'project_id')) {
    const named = await selectRows(store, `SELECT DISTINCT project_id FROM ${table} WHERE ${rows}`);
    for (const [id] of named) found.add(String(id));
  }
  return requests.filter(({ projectId }) => found.has(projectId));
}

/**
 * Erased persons with late rows: all of their rows were received before the erasure was completed. Whoever has newer
 * rows too is somebody new, and the sums do not say which rows they are of.
 */
async function latePersons(
  store: Store,
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
  return requests.filter(({ projectId, ids, completedAtMs }) => {
    const keys = new Set(unpackIds(ids).map((id) => String(keyOf(id))));
    const newest = rows.flatMap(([project, key, ms]) =>
      project === projectId && keys.has(String(key)) ? [Number(ms)] : [],
    );
    return newest.length > 0 && Math.max(...newest) < completedAtMs;
  });
}

/** Another process may have done so meanwhile. */
async function openAgain(
  { requests }: LookParts,
  { requestId, completedAtMs }: ErasureRecord,
): Promise<void> {
  const key = erasureKey(requestId);
  const read = await requests.ask(key);
  if (read.kind !== 'found' || read.record.completedAtMs !== completedAtMs) return;
  await requests.update(
    key,
    { ...read.record, status: 'processing', completedAtMs: 0 },
    read.revision,
  );
}
