import { afterAll, beforeAll, expect, it } from 'vitest';
import { buckets } from '../platform/broker/buckets.ts';
import { connectBroker, type NatsConnection } from '../platform/broker/nats.ts';
import { openBucket } from '../platform/broker/record-bucket.ts';
import { eventsLedgerKey, profilesLedgerKey } from '../platform/broker/streams.ts';
import { ensureTopology } from '../platform/broker/topology.ts';
import { createClickHouse, type DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import { createLog } from '../platform/log.ts';
import { migrate } from '../sql/migrate.ts';
import { useBroker, useEngine } from '../test/harness/servers/use-servers.ts';
import { refuseLostTables } from './lost-tables.ts';
import { takeOverLedger } from './write/ledger.ts';
import { readLedgerRecord } from './write/ledger-record.ts';

const broker = useBroker();
const engine = useEngine({ migrated: false });
const log = createLog('silent');
const shards = 2;
let nats: NatsConnection;
let clickhouse: DatabaseClient;

beforeAll(async () => {
  nats = await connectBroker(broker.url, log);
  await ensureTopology(nats, { eventsMaxBytes: 64 * 1_048_576, shards });
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 1 });
});
afterAll(async () => {
  await clickhouse.close();
  await nats.close();
});

/** A batch of so many events or changes that are all stored. */
async function store(key: string, accepted: number): Promise<void> {
  const bucket = await openBucket(nats, buckets.ledger, readLedgerRecord);
  const streamCreated = '2026-11-20T10:00:00.123456789Z';
  const retry = <T>(call: () => Promise<T>): Promise<T> => call();
  const { ledger } = await takeOverLedger({ bucket, key, streamCreated, writer: key, retry });
  const counts = { accepted, stored: accepted, duplicates: 0, deadLetters: 0 };
  await ledger.begin({ seqs: [[1, accepted]], inserts: [], counts });
  await ledger.finish();
}

const check = (isSame = true): Promise<void> =>
  refuseLostTables({ ...{ nats, clickhouse, isSame }, shards: [0, 1], name: 'ClickHouse' });

it('refuses a ClickHouse without the tables or rows that the ledgers speak of, and says how to go on', async () => {
  await check();
  await store(eventsLedgerKey(1), 12);
  const lost = (state: string): string =>
    `ClickHouse has lost its data: the table events is ${state}, and 12 events were stored in it: put its data back, ` +
    'or go on without it by starting once with --accept-empty-tables (people will have other profile ids than before)';
  await expect(check()).rejects.toThrow(lost('missing'));
  const unknown = 'ClickHouse has lost its data, or is another one than before: the table events';
  await expect(check(false)).rejects.toThrow(unknown);
  await migrate(clickhouse, log);
  await expect(check()).rejects.toThrow(lost('empty'));
  await clickhouse.command({ query: "INSERT INTO events (project_id) VALUES ('p')" });
  await check();

  // Changes without effect leave no row.
  await store(profilesLedgerKey(0), 3);
  await check();
  await clickhouse.command({ query: 'RENAME TABLE profiles TO elsewhere' });
  await expect(check()).rejects.toThrow('the table profiles is missing, and 3 changes were stored');
});
