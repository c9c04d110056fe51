// The steps that take the old events of some projects out of every table. Each may be taken again from its beginning:
// what is inserted has a token, and what it is made of stays until the last deletion, that of the events.

import type { JsonValue } from '@bufbuild/protobuf';
import type { RetainedStep, RetainedWork } from '../../platform/erasure/retained-work.ts';
import { isObject } from '../../platform/json.ts';
import { atBoundary } from '../../platform/ledger/boundary.ts';
import type { ErasureParts, StepContext, StepEnd } from '../erasure-parts.ts';
import { dropEmptySums, forgetKept, insert, marksNow, NotStill, remove } from '../steps/cut.ts';
import { endExports } from '../steps/end-exports.ts';
import { settle } from '../steps/settle.ts';
import { oldAttemptsSql, oldEventsSql, oldRowsOf } from '../tables/old-rows.ts';
import {
  profilesOfKeysSql,
  profileTables,
  recountSql,
  sliceKeysSql,
} from '../tables/profile-rows.ts';
import { selectRows } from '../tables/select-rows.ts';
import { sharedSums } from '../tables/shared-sums.ts';

type RetainedParts = Pick<ErasureParts, 'nats' | 'clickhouse' | 'shards' | 'clock' | 'log'>;

export interface RetainedContext {
  work: RetainedWork;
  /** The projects' group of ClickHouse servers. */
  store: StepContext['store'];
  /** Those of the projects. */
  shards: readonly number[];
  /** Writes the work, and keeps the lease. Throws LeaseLost. */
  keep(work: RetainedWork): Promise<void>;
}

type TakeStep = (parts: RetainedParts, context: RetainedContext) => Promise<StepEnd>;

export const takeStep: Readonly<Record<RetainedStep, TakeStep>> = {
  sums: takeOutOfNames,
  profiles: countProfiles,
  rows: deleteRows,
  settle: (parts, { store }) => settle(parts, { store }),
  forget,
};

/** Rows of the other sum go by their own time. */
const timelessSums = sharedSums.filter(({ table }) => table === 'property_keys');

/**
 * The names of properties count all events of a project: old ones are taken out by their complement. `later`: there are
 * more slices. Each fits into a statement's time.
 */
async function takeOutOfNames(
  _: RetainedParts,
  { work, store, keep }: RetainedContext,
): Promise<StepEnd> {
  const { nameSlices, slice } = work;
  if (slice >= nameSlices) return 'done';
  const rows = `${oldEventsSql(work)} AND cityHash64(event_id) % ${nameSlices} = ${slice}`;
  for (const { table, insertSql } of timelessSums) {
    await insert(store, insertSql(rows), `retained:${work.id}:${table}:${slice}`);
  }
  await keep({ ...work, slice: slice + 1 });
  return 'later';
}

/** `later`: there are more slices, or a deletion is under way. */
async function countProfiles(parts: RetainedParts, context: RetainedContext): Promise<StepEnd> {
  const { store, keep } = context;
  let { work } = context;
  if (work.slice >= work.slices) return 'done';
  if (work.takenOut === undefined) {
    const found = await selectRows(store, sliceKeysSql(work));
    work = await takeOut(
      parts,
      { ...context, work },
      found.map(([key]) => String(key)),
    );
    await keep(work);
  }
  const name = `retained:${work.id}:${work.slice}:${work.attempts}`;
  for (const [place, sql] of recountSql(work, work.takenOut ?? []).entries()) {
    await insert(store, sql, `${name}:${place}`);
  }
  if ((await settle(parts, { store })) === 'later') return 'later';
  const { takenOut: _, ...rest } = work;
  await keep({ ...rest, slice: work.slice + 1 });
  return 'later';
}

/**
 * Deletes what the profiles add up to, at a moment at which no batch is half stored: a deletion changes what was there
 * when it began, and the events of just that are counted anew.
 */
async function takeOut(
  { nats, shards: ofAll }: RetainedParts,
  { work, store, shards }: RetainedContext,
  keys: readonly string[],
): Promise<RetainedWork> {
  const { taken } = await atBoundary({
    connection: nats,
    shards: ofAll,
    take: async (_, isStill) => {
      const marks = await marksNow(nats, shards);
      for (const table of keys.length === 0 ? [] : profileTables) {
        await remove(store, table, profilesOfKeysSql(projectIdsOf(work), keys));
        if (!(await isStill())) throw new NotStill();
      }
      return marks;
    },
  });
  return { ...work, takenOut: taken, attempts: work.attempts + 1 };
}

/** The events go last: the steps before are made of them. */
async function deleteRows(
  { nats, clickhouse, shards }: RetainedParts,
  { work, store }: RetainedContext,
): Promise<StepEnd> {
  const projectIds = projectIdsOf(work);
  for (const { table, rows } of oldRowsOf(work)) await remove(store, table, rows);
  await remove(clickhouse.first, 'webhook_attempts', oldAttemptsSql(work));
  await atBoundary({
    connection: nats,
    shards,
    take: async (_, isStill) => {
      await dropEmptySums(store, projectIds, timelessSums);
      if (!(await isStill())) throw new NotStill();
    },
  });
  // Says also that greatest values may be those of rows that are gone (sql/check/derived-tables.ts).
  await forgetKept(store, projectIds, 1);
  await remove(store, 'events', oldEventsSql(work));
  return 'done';
}

/** Readers keep no number, and exports no file, that counts what is gone. */
async function forget(
  parts: RetainedParts,
  { work, store, keep }: RetainedContext,
): Promise<StepEnd> {
  const { projects, startedMs } = work;
  const boundaries = new Map(projects.map(({ projectId, beforeMs }) => [projectId, beforeMs]));
  await forgetKept(store, projectIdsOf(work));
  return endExports(parts, projectIdsOf(work), {
    reason: 'it has events that are older than the project keeps them: ask for it again',
    isMeant: ({ query, createMs }, projectId) =>
      createMs < startedMs && mayHaveOld(query, boundaries.get(projectId) ?? 0),
    forgetsNames: false,
    renew: () => keep(work),
  });
}

function projectIdsOf({ projects }: RetainedWork): string[] {
  return projects.map(({ projectId }) => projectId);
}

/** Profiles are no events. A range without a beginning has all events from before its end. */
function mayHaveOld(query: JsonValue, beforeMs: number): boolean {
  if (!isObject(query) || query['what'] === 'EXPORT_WHAT_PROFILES') return false;
  const { timeRange } = query;
  const from = isObject(timeRange) ? timeRange['from'] : undefined;
  return typeof from !== 'string' || !(Date.parse(from) >= beforeMs);
}
