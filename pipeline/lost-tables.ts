// Tells a ClickHouse that has lost its tables from a new one: the ledgers say how much was stored. Without this check a
// start would make the tables anew, with another secret in them, under which the same people are other profiles.

import { ClickHouseError } from '@clickhouse/client';
import { buckets } from '../platform/broker/buckets.ts';
import type { NatsConnection } from '../platform/broker/nats.ts';
import { openBucket } from '../platform/broker/record-bucket.ts';
import { eventsLedgerKey, profilesLedgerKey } from '../platform/broker/streams.ts';
import type { DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import { readLedgerRecord } from './write/ledger-record.ts';

const written = [
  { table: 'events', things: 'events', keyOf: eventsLedgerKey, mayBeEmpty: false },
  // A change without effect counts as stored and writes no row.
  { table: 'profiles', things: 'changes', keyOf: profilesLedgerKey, mayBeEmpty: true },
] as const;

const unknownTable = '60';
const unknownDatabase = '81';

/**
 * Call it before the migrations. Throws one sentence where a table is missing, or has no event, although the ledgers
 * say that something was stored in it. A table with fewer rows passes: an operator may have deleted the others.
 */
export async function refuseLostTables(options: {
  nats: NatsConnection;
  clickhouse: DatabaseClient;
  /** Whose rows it has. */
  shards: readonly number[];
  /** In the sentence: `ClickHouse`, or which of several. */
  name: string;
  /** Whether it is known to be the ClickHouse of before (store-identity.ts). */
  isSame: boolean;
}): Promise<void> {
  const { nats, clickhouse, shards, name, isSame } = options;
  const ledgers = await openBucket(nats, buckets.ledger, readLedgerRecord);
  for (const { table, things, keyOf, mayBeEmpty } of written) {
    let stored = 0;
    for (const shard of shards) {
      const read = await ledgers.get(keyOf(shard));
      if (read.kind === 'found') stored += read.record.totals.stored;
    }
    if (stored === 0) continue;
    const state = await tableState(clickhouse, table);
    if (state === 'filled' || (state === 'empty' && mayBeEmpty)) continue;
    const what = `${name} has lost its data${isSame ? '' : ', or is another one than before'}`;
    throw new Error(
      `${what}: the table ${table} is ${state}, and ${stored} ${things} were stored in it: ` +
        'put its data back, or go on without it by starting once with --accept-empty-tables ' +
        '(people will have other profile ids than before)',
    );
  }
}

type TableState = 'missing' | 'empty' | 'filled';

export async function tableState(
  clickhouse: DatabaseClient,
  table: (typeof written)[number]['table'],
): Promise<TableState> {
  try {
    const result = await clickhouse.query({
      query: 'SELECT 1 FROM {table:Identifier} LIMIT 1',
      query_params: { table },
      format: 'JSONEachRow',
    });
    return (await result.json()).length > 0 ? 'filled' : 'empty';
  } catch (error) {
    const code = error instanceof ClickHouseError ? error.code : undefined;
    if (code === unknownTable || code === unknownDatabase) return 'missing';
    throw error;
  }
}
