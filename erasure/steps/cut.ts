// The cut: at one moment at which no batch is half stored, the events of the persons are taken out of all sums, and the
// deletion of their rows begins in every table. Whatever is stored later is not touched by it: a mutation changes the
// parts that were there when it began.
//
// A process may die between any two statements, and the cut is then made once more. So:
// 1. The marks of what is stored are written first. Rows that an earlier cut has counted out are left out by its marks.
// 2. Complements come before any deletion, under the cut's own token: an earlier cut's that may be missing is repeated
//    under its token, with the same rows.
// 3. Visits are deleted and counted anew before events are deleted: from these it is known which visits they are.
// 4. Events are deleted last.

import { buckets } from '../../platform/broker/buckets.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { type ErasureBatch, unpackIds } from '../../platform/erasure/erasure-record.ts';
import type { StoredMark } from '../../platform/erasure/stored-marks.ts';
import { atBoundary } from '../../platform/ledger/boundary.ts';
import { markOf, readLedgerMark } from '../../platform/ledger/stored-mark.ts';
import type { ErasureParts, StepContext, StepEnd } from '../erasure-parts.ts';
import {
  keysSql,
  type Persons,
  personsOf,
  profileIdsSql,
  projectsSql,
  storedSql,
} from '../tables/person-rows.ts';
import { selectRows } from '../tables/select-rows.ts';
import { type SharedSum, sharedSums } from '../tables/shared-sums.ts';
import { sessionsAtOnce, sessionsSql, visitTables } from '../tables/visit-rows.ts';
import { shardsOf } from './await-queue.ts';

/** More ranges than that are not written into a record: the next try finds fewer. */
const maxRanges = 200;

/** The writers did not stand still for long enough. Nothing was deleted. */
export class NotStill extends Error {
  constructor() {
    super('the writers did not stand still for long enough');
  }
}

export async function cut(parts: ErasureParts, context: StepContext): Promise<StepEnd> {
  const { nats, shards } = parts;
  let { batch } = context;
  const keep: StepContext['keep'] = async (next) => {
    await context.keep(next);
    batch = next;
  };
  await atBoundary({
    connection: nats,
    shards,
    take: async (_, isStill) => {
      await cutNow(parts, { ...context, batch, keep }, async () => {
        if (!(await isStill())) throw new NotStill();
      });
    },
  });
  return 'done';
}

async function cutNow(
  parts: ErasureParts,
  context: StepContext,
  requireStill: () => Promise<void>,
): Promise<void> {
  const { requests, store, keep } = context;
  const persons = personsOf(requests);
  const { batch } = context;
  const keys = keysSql(persons);
  const took = `${keys} AND NOT ${storedSql(batch.storedBefore)} AND ${storedSql(batch.stored)}`;
  if (batch.cuts > 0) await takeOut(store, took, `${batch.id}:${batch.cuts}`);
  const marks = await marksNow(parts.nats, shardsOf(requests, parts.shards));
  const rows = `${keys} AND NOT ${storedSql(batch.stored)}`;
  const next = {
    ...batch,
    ...{ cuts: batch.cuts + 1, storedBefore: batch.stored, stored: marks },
    events: addEvents(batch.events, requests, await countEvents(store, rows)),
  };
  await keep(next);
  await takeOut(store, rows, `${batch.id}:${next.cuts}`);
  await requireStill();
  await dropEmptySums(store, persons.projectIds);
  await recountVisits(store, persons, `${batch.id}:${next.cuts}`, requireStill);
  await requireStill();
  const ofId = profileIdsSql(persons);
  await remove(store, 'profile_days', keys);
  for (const table of ['profile_activity', 'profile_listing', 'profiles_by_creation'])
    await remove(store, table, ofId);
  await remove(store, 'profiles', ofId);
  await remove(store, 'profiles_by_root', ofId);
  await forgetKept(store, persons.projectIds);
  await remove(store, 'events', keys);
}

async function takeOut(store: StepContext['store'], rows: string, name: string): Promise<void> {
  for (const { table, insertSql } of sharedSums) {
    await insert(store, insertSql(rows), `erasure:${name}:${table}`);
  }
}

/** Rows that add up to nothing: a kind or a name of a property that only these persons had leaves with them. */
export async function dropEmptySums(
  store: StepContext['store'],
  projectIds: readonly string[],
  sums: readonly SharedSum[] = sharedSums,
): Promise<void> {
  const projects = projectsSql(projectIds);
  for (const { table, key } of sums) {
    const name = `sipHash64(${key})`;
    const found = await selectRows(
      store,
      `SELECT ${name} FROM ${table} WHERE ${projects} GROUP BY ${key} HAVING sum(events) = 0`,
    );
    if (found.length === 0) continue;
    await remove(
      store,
      table,
      `${projects} AND ${name} IN (${found.map(([hash]) => hash).join(', ')})`,
    );
  }
}

/** One block, whatever its size: a token stands for all of it. */
export async function insert(
  store: StepContext['store'],
  sql: string,
  token: string,
): Promise<void> {
  await store.command({
    query: sql,
    clickhouse_settings: {
      insert_deduplicate: 1,
      insert_deduplication_token: token,
      max_block_size: '1048576',
      min_insert_block_size_rows: '1048576',
      min_insert_block_size_bytes: '0',
      max_partitions_per_insert_block: '0',
      max_query_size: String(16 * 1_048_576),
    },
  });
}

/** Begins; `settle.ts` waits for the end. */
export async function remove(
  store: StepContext['store'],
  table: string,
  rows: string,
): Promise<void> {
  await store.command({
    query: `ALTER TABLE ${table} DELETE WHERE ${rows}`,
    clickhouse_settings: { mutations_sync: '0', max_query_size: String(16 * 1_048_576) },
  });
}

/** What readers have kept of past days counts the persons, and the number of a day's events may come back. */
export async function forgetKept(
  store: StepContext['store'],
  projectIds: readonly string[],
  deletions = 0,
): Promise<void> {
  for (const table of ['kept_days', 'kept_cells', 'kept_active_profiles']) {
    await remove(store, table, projectsSql(projectIds));
  }
  // Results in memory hold as long as this and the number of events stay the same.
  const rows = projectIds.map((id) => `('${id}', 0, 1, ${deletions})`);
  await store.command({
    query: `INSERT INTO project_changes (project_id, newest_version, changes, deletions) VALUES ${rows.join(', ')}`,
  });
}

async function recountVisits(
  store: StepContext['store'],
  persons: Persons,
  name: string,
  requireStill: () => Promise<void>,
): Promise<void> {
  const keys = keysSql(persons);
  const found = await selectRows(store, `SELECT DISTINCT session_id FROM events WHERE ${keys}`);
  const sessions = found.map(([id]) => String(id));
  for (let at = 0; at < sessions.length; at += sessionsAtOnce) {
    const some = sessionsSql(persons.projectIds, sessions.slice(at, at + sessionsAtOnce));
    await requireStill();
    for (const { table, columns, select, group } of visitTables) {
      await remove(store, table, some);
      const sql = `INSERT INTO ${table} (${columns}) ${select} FROM events WHERE ${some} AND NOT (${keys}) ${group}`;
      await insert(store, sql, `erasure:${name}:${table}:${at}`);
    }
  }
}

function addEvents(
  before: ErasureBatch['events'],
  requests: StepContext['requests'],
  counts: ReadonlyMap<string, number>,
): ErasureBatch['events'] {
  return Object.fromEntries(
    requests.map(({ requestId, ids }) => {
      const more = unpackIds(ids).reduce((sum, id) => sum + (counts.get(id) ?? 0), 0);
      return [requestId, (before[requestId] ?? 0) + more];
    }),
  );
}

/** By profile id. */
async function countEvents(
  store: StepContext['store'],
  rows: string,
): Promise<Map<string, number>> {
  const counted = await selectRows(
    store,
    `SELECT lower(hex(millraceProfileHash(project_id, distinct_id))) AS id, count() FROM events WHERE ${rows} GROUP BY id`,
  );
  return new Map(counted.map(([id, events]) => [String(id), Number(events)]));
}

/** What is stored of these shards. Throws where it cannot be written down. */
export async function marksNow(
  nats: ErasureParts['nats'],
  shards: readonly number[],
): Promise<StoredMark[]> {
  const ledgers = await openBucket(nats, buckets.ledger, readLedgerMark);
  const marks: StoredMark[] = [];
  for (const shard of shards) {
    const mark = await markOf(ledgers, shard);
    if (mark === undefined) continue;
    const { streamCreated, hwm, ahead } = mark;
    if (ahead.length > maxRanges) throw new Error('events are stored in too many pieces now');
    marks.push({ shard, streamCreated, hwm, ahead });
  }
  return marks;
}
