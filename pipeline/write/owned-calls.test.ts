// What a writer does that begins an effect long after its shard was known to be its own, on a real broker.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { buckets } from '../../platform/broker/buckets.ts';
import { connectBroker, type NatsConnection } from '../../platform/broker/nats.ts';
import { openBucket, type RecordBucket } from '../../platform/broker/record-bucket.ts';
import { eventsLedgerKey } from '../../platform/broker/streams.ts';
import { ensureTopology } from '../../platform/broker/topology.ts';
import { createLog } from '../../platform/log.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import { createInsert } from './insert.ts';
import { takeOverLedger } from './ledger.ts';
import { type LedgerRecord, readLedgerRecord } from './ledger-record.ts';
import { createOwnedCalls, ShardLost } from './owned-calls.ts';

const broker = useBroker();
const key = eventsLedgerKey(0);
let nats: NatsConnection;
let bucket: RecordBucket<LedgerRecord>;

beforeAll(async () => {
  nats = await connectBroker(broker.url, createLog('silent'));
  await ensureTopology(nats, { eventsMaxBytes: 64 * 1_048_576, shards: 1 });
  bucket = await openBucket(nats, buckets.ledger, readLedgerRecord);
});
afterAll(() => nats.close());

function takeOver(writer: string) {
  return takeOverLedger({ bucket, key, writer, streamCreated: 'now', retry: (call) => call() });
}

it('an effect that comes late happens only where the shard is still its writer’s', async () => {
  let nowMs = 0;
  let reads = 0;
  const get: typeof bucket.get = (of) => {
    reads++;
    return bucket.get(of);
  };
  await takeOver('first');
  const clock = { nowMs: () => nowMs };
  const asOwner = createOwnedCalls({ bucket: { get }, key, writer: 'first', clock });
  const call = async () => 'called';
  expect(await asOwner(call)).toBe('called');
  nowMs = 5_000;
  expect(await asOwner(call)).toBe('called');
  expect(reads).toBe(0);
  nowMs = 5_001;
  expect(await asOwner(call)).toBe('called');
  nowMs = 10_001;
  expect(await asOwner(call)).toBe('called');
  expect(reads).toBe(1);
  await takeOver('second');
  nowMs = 10_002;
  await expect(asOwner(() => Promise.reject(new Error('called')))).rejects.toThrow(ShardLost);
});

it('an insert that failed is not tried again once another writer has the shard', async () => {
  let nowMs = 0;
  let tries = 0;
  await takeOver('first');
  const asOwner = createOwnedCalls({ bucket, key, writer: 'first', clock: { nowMs: () => nowMs } });
  const insert = createInsert({
    insertArrow: () =>
      asOwner(async () => {
        tries++;
        // The process stands still in it until another one has stored the batch.
        await takeOver('second');
        nowMs = 3_600_000;
        throw new Error('the connection is closed');
      }),
    signal: new AbortController().signal,
    log: createLog('silent'),
    onInserted: () => {},
    onFailures: () => {},
  });
  const rows = { rows: 1, arrow: new Uint8Array(), idsHash: '', partitions: 1 };
  await expect(insert(rows, 'token')).rejects.toThrow(ShardLost);
  expect(tries).toBe(1);
});
