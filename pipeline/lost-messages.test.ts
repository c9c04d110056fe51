// A stream that a real broker has lost the end of: its ledger says that more messages are done than it ever held.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { buckets } from '../platform/broker/buckets.ts';
import { connectBroker, type NatsConnection } from '../platform/broker/nats.ts';
import { openBucket } from '../platform/broker/record-bucket.ts';
import {
  deadLetterStream,
  eventsLedgerKey,
  eventsStream,
  eventsSubject,
  profilesLedgerKey,
  profilesStream,
  profilesSubject,
} from '../platform/broker/streams.ts';
import { ensureTopology } from '../platform/broker/topology.ts';
import { createClickHouse } from '../platform/clickhouse/clickhouse.ts';
import { systemClock } from '../platform/clock.ts';
import { createLog } from '../platform/log.ts';
import { createMetrics } from '../platform/metrics.ts';
import { compiledWorker } from '../test/harness/compiled-entries.ts';
import { noWebhooks } from '../test/harness/models/webhook-records.ts';
import { useBroker } from '../test/harness/servers/use-servers.ts';
import { queueState } from './consume/queue-state.ts';
import { haltedByLoss, passLostMessages } from './lost-messages.ts';
import { startPipeline } from './start.ts';
import { takeOverLedger } from './write/ledger.ts';
import { readLedgerRecord } from './write/ledger-record.ts';

const shards = 2;
const shard = 1;
const held = 20;
const done = 700;
const log = createLog('silent');
const broker = useBroker();
let nats: NatsConnection;

beforeAll(async () => {
  nats = await connectBroker(broker.url, log);
  await ensureTopology(nats, { eventsMaxBytes: 64 * 1_048_576, shards });
  const queues = [
    { stream: eventsStream(shard), key: eventsLedgerKey(shard), subject: eventsSubject(shard) },
    {
      stream: profilesStream(shard),
      key: profilesLedgerKey(shard),
      subject: profilesSubject(shard),
    },
  ];
  const bucket = await openBucket(nats, buckets.ledger, readLedgerRecord);
  const retry = <T>(call: () => Promise<T>): Promise<T> => call();
  for (const { stream, key, subject } of queues) {
    const publish = () => nats.jetstream().publish(subject, Buffer.from('left over'));
    await Promise.all(Array.from({ length: held }, publish));
    const { created: streamCreated } = await queueState(nats, stream);
    const { ledger } = await takeOverLedger({ bucket, key, streamCreated, writer: key, retry });
    const counts = { accepted: 0, stored: 0, duplicates: 0, deadLetters: 0 };
    await ledger.begin({ seqs: [[1, done]], inserts: [], counts });
    await ledger.finish();
  }
});
afterAll(() => nats.close());

function start() {
  // Nothing listens there: neither a halted writer nor one without messages needs an answer.
  const clickhouse = createClickHouse('http://127.0.0.1:9', { log, maxConnections: 1 });
  const pipeline = startPipeline({
    ...{ nats, clickhouse, shards, log, clock: systemClock, metrics: createMetrics() },
    ...{ threads: 1, seenMaxBytes: 0, stopGraceMs: 0, workerFile: compiledWorker() },
    webhooks: noWebhooks,
  });
  const stop = async () => {
    await pipeline.stop();
    await clickhouse.close();
  };
  return { pipeline, stop };
}

it('halts the writers of a stream that ends before its mark, and deletes nothing there', async () => {
  const { pipeline, stop } = start();
  await expect.poll(() => pipeline.state(), { timeout: 10_000 }).toEqual(['waiting', 'halted']);
  expect(pipeline.ready()).toBe(false);
  await stop();
  expect(await queueState(nats, eventsStream(shard))).toMatchObject({ messages: held });
});

it('fills a lost stream up to its mark, so that new messages come after it', async () => {
  await passLostMessages({ nats, shards, log });
  const { seq } = await nats.jetstream().publish(eventsSubject(shard), Buffer.from('new'));
  expect(seq).toBe(done + 1);
  for (const [stream, last] of [
    [eventsStream(shard), done + 1],
    [profilesStream(shard), done],
    [eventsStream(0), 0],
  ] as const) {
    const { created: streamCreated, lastSeq } = await queueState(nats, stream);
    expect(lastSeq).toBe(last);
    expect(await haltedByLoss(nats, stream, { streamCreated, lastDone: last })).toBeUndefined();
  }
  const { pipeline, stop } = start();
  await expect.poll(() => pipeline.ready(), { timeout: 10_000 }).toBe(true);
  // Of all messages the writer takes the new one alone, which is unreadable; the others are deleted.
  const letters = async () => (await queueState(nats, deadLetterStream)).messages;
  await expect.poll(letters, { timeout: 10_000 }).toBe(1);
  const left = async () => (await queueState(nats, eventsStream(shard))).messages;
  await expect.poll(left, { timeout: 10_000 }).toBe(0);
  expect(await letters()).toBe(1);
  await stop();
});
