// Looks again at what was erased or deleted: a process that stood still meanwhile may have handed on afterwards what it
// had received before, and nothing else would ever find these rows. Each hour, for a day.

import { dayMs, hourMs } from '../platform/clock.ts';
import {
  type ErasureRecord,
  erasureKey,
  erasureLeaseMs,
  erasureWorkKey,
  firstCompletionOf,
  noWork,
} from '../platform/erasure/erasure-record.ts';
import { HeldRecord, isLeased, LeaseLost } from '../platform/turns/held-record.ts';
import { type ErasureParts, maxRequests, type StepContext } from './erasure-parts.ts';
import { latePersons } from './tables/late-persons.ts';
import { projectsSql } from './tables/person-rows.ts';
import { selectRows } from './tables/select-rows.ts';
import { tablesWith } from './whole/project-rows.ts';

/** After the completion. */
const lookedForMs = dayMs;
/** Between two looks, whichever processes take them. */
const everyMs = hourMs;
const againMs = 500;

type LookParts = Pick<ErasureParts, 'clickhouse' | 'requests' | 'clock' | 'log'>;
type Store = StepContext['store'];

/** One process looks in an hour, under the lease of the erasures' work. Returns when the next turn is. */
export async function takeLookTurn(parts: LookParts & Pick<ErasureParts, 'work'>): Promise<number> {
  const { work: states, clock, log } = parts;
  const nowMs = clock.nowMs();
  const found = await states.get(erasureWorkKey);
  if (found.kind === 'unreadable') throw new Error('the work cannot be read by this version');
  const record = found.kind === 'found' ? found.record : noWork;
  const { lookedAtMs = 0 } = record;
  // Far ahead: the clock was set back meanwhile.
  if (Math.abs(nowMs - lookedAtMs) < everyMs) return lookedAtMs + everyMs;
  if (isLeased(record, nowMs, erasureLeaseMs)) return nowMs + againMs;
  const lease = { states, clock, leaseMs: erasureLeaseMs };
  const held = await HeldRecord.take(lease, erasureWorkKey, found, record);
  if (held === undefined) return nowMs + againMs;
  try {
    await lookAgain(parts, () => held.renew());
    await held.write({ ...held.record, lookedAtMs: nowMs });
    await held.release();
    return nowMs + everyMs;
  } catch (error) {
    if (!(error instanceof LeaseLost)) {
      await held.release();
      throw error;
    }
    // Whoever took the lease may do something else with it: this look is not over.
    log.warn(error.message);
    return nowMs + againMs;
  }
}

/**
 * Opens those requests again that have rows; `renew` is called between statements. A group whose engine fails is told
 * in the log, and the others go on. Throws LeaseLost.
 */
export async function lookAgain(parts: LookParts, renew = async () => {}): Promise<void> {
  const { clickhouse, requests, clock, log } = parts;
  const nowMs = clock.nowMs();
  const done = [...requests.records()]
    .map(([, record]) => record)
    .filter((one) => one.status === 'completed' && one.projectId !== '')
    .filter(({ completedAtMs }) => Math.abs(nowMs - completedAtMs) < lookedForMs);
  for (const [group, store] of clickhouse.all.entries()) {
    const here = done.filter(
      ({ projectId, whole }) =>
        clickhouse.placeOf(projectId) === group ||
        // It has the log of webhooks of all projects.
        (whole !== undefined && store === clickhouse.first),
    );
    try {
      await lookIn(parts, store, here, renew);
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      log.warn({ err: error, group }, 'rows that came after their erasure are looked for later');
    }
  }
}

/** Throws the engines' errors and LeaseLost. */
async function lookIn(
  parts: LookParts,
  store: Store,
  requests: readonly ErasureRecord[],
  renew: () => Promise<void>,
): Promise<void> {
  for (let at = 0; at < requests.length; at += maxRequests) {
    const some = requests.slice(at, at + maxRequests);
    const projects = some.filter(({ whole }) => whole !== undefined);
    const persons = some.filter(({ whole }) => whole === undefined);
    const found = [
      ...(await lateProjects(store, projects, renew)),
      ...(await latePersons({ store, log: parts.clickhouse.first }, persons)),
    ];
    await renew();
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
  renew: () => Promise<void>,
): Promise<ErasureRecord[]> {
  if (requests.length === 0) return [];
  const rows = projectsSql(requests.map(({ projectId }) => projectId));
  const found = new Set<string>();
  for (const table of await tablesWith(store, 'project_id')) {
    const named = await selectRows(store, `SELECT DISTINCT project_id FROM ${table} WHERE ${rows}`);
    for (const [id] of named) found.add(String(id));
    await renew();
  }
  return requests.filter(({ projectId }) => found.has(projectId));
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
    {
      ...read.record,
      status: 'pending',
      completedAtMs: 0,
      firstCompletedAtMs: firstCompletionOf(read.record),
    },
    read.revision,
  );
}
