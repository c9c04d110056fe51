// A batch that an older version promised, and had inserted in part when it was killed, when tables are made anew: the
// new tables do not know its tokens, so it is finished before, and stored once.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { buckets } from '../platform/broker/buckets.ts';
import { connectBroker, type NatsConnection } from '../platform/broker/nats.ts';
import { openBucket } from '../platform/broker/record-bucket.ts';
import { eventsLedgerKey, eventsStream, eventsSubject } from '../platform/broker/streams.ts';
import { ensureTopology } from '../platform/broker/topology.ts';
import { insertArrow } from '../platform/clickhouse/clickhouse.ts';
import { oneGroup } from '../platform/clickhouse/groups.ts';
import { systemClock } from '../platform/clock.ts';
import { createLog } from '../platform/log.ts';
import { createMetrics } from '../platform/metrics.ts';
import { encodeContext } from '../proto/wire/frame.ts';
import { encodeFrame } from '../proto/wire/frame-writer.ts';
import { compiledWorker } from '../test/harness/compiled-entries.ts';
import { useBroker } from '../test/harness/servers/use-servers.ts';
import { type OldDatabase, startOldDatabase } from '../test/harness/tables/old-database.ts';
import { expectRollupsOfEvents } from '../test/harness/tables/rollups.ts';
import { BatchBuilder } from './build/build-batch.ts';
import { streamCreated } from './consume/event-stream.ts';
import { packMessages } from './consume/message-batch.ts';
import { minSeenBytes } from './dedup/seen-set.ts';
import { finishPendingBatches } from './finish-pending.ts';
import { type PipelineOptions, startPipeline } from './start.ts';
import { readLedgerRecord } from './write/ledger-record.ts';

const broker = useBroker();
const log = createLog('silent');
const shard = 0;
const months = 30;
let database: OldDatabase;
let nats: NatsConnection;

beforeAll(async () => {
  database = await startOldDatabase('0028_years.sql');
  nats = await connectBroker(broker.url, log);
  await ensureTopology(nats, { eventsMaxBytes: 64 * 1_048_576, shards: 1 });
});
afterAll(async () => {
  await nats.close();
  await database.stop();
});

function frameOf(number: number): Uint8Array {
  const events = Array.from({ length: months }, (_, month) => ({
    eventId: `00000000-0000-4000-8000-${String(number * 1_000 + month).padStart(12, '0')}`,
    sessionId: `00000000-0000-4000-8000-${String(month % 7).padStart(12, '0')}`,
    distinctId: `v${month % 3}`,
    kind: 'page_view',
    occurTime: new Date(Date.UTC(2024, 5 + month, 3, 12)).toISOString(),
  }));
  const receiveTimeMs = Date.UTC(2026, 10, 20);
  const context = encodeContext({ projectId: 'p', credential: 'private', receiveTimeMs });
  const body = Buffer.from(JSON.stringify({ events }));
  return encodeFrame([{ context, body, events: events.length }]);
}

/** Stores messages as an older version did, an insert for each month, and dies within the last batch. */
async function writeAsBefore(messages: number, made: number): Promise<void> {
  const js = nats.jetstream();
  for (let number = 1; number <= messages; number++) {
    await js.publish(eventsSubject(shard), frameOf(number));
  }
  const built = Array.from({ length: months }, (_, place) => {
    const time = new Date(Date.UTC(2024, 5 + place, 1));
    const month = time.getUTCFullYear() * 100 + time.getUTCMonth() + 1;
    const builder = new BatchBuilder(Buffer.alloc(32));
    const all = Array.from({ length: messages }, (_, index) => ({
      seq: index + 1,
      data: frameOf(index + 1),
    }));
    builder.read(shard, packMessages({ messages: all }), month);
    const { rows } = builder.finish({ dropped: undefined });
    if (rows === undefined) throw new Error('no rows');
    return { month, token: `old:${month}`, ...rows };
  });
  for (const { arrow, token } of built.slice(0, made)) {
    await insertArrow(database.client, 'events', arrow, token);
  }
  const stored = messages * months;
  const ledgers = await openBucket(nats, buckets.ledger, readLedgerRecord);
  await ledgers.create(eventsLedgerKey(shard), {
    schemaVersion: 1,
    streamCreated: await streamCreated(nats, eventsStream(shard)),
    hwm: 0,
    pending: {
      seqs: [[1, messages]],
      inserts: built.map(({ month, token, rows, idsHash }) => ({ month, token, rows, idsHash })),
      counts: { accepted: stored, stored, duplicates: 0, deadLetters: 0 },
    },
    totals: { accepted: 0, stored: 0, duplicates: 0, deadLetters: 0 },
    writer: 'an older one',
    step: 1,
  });
}

function options(): PipelineOptions {
  return {
    ...{
      nats,
      clickhouse: oneGroup(database.client),
      shards: 1,
      threads: 1,
      seenMaxBytes: minSeenBytes,
    },
    webhooks: {
      webhooks: { webhooksOf: () => [] },
      organizationOf: () => undefined,
      privateOnly: false,
    },
    ...{ clock: systemClock, log, metrics: createMetrics(), workerFile: compiledWorker() },
  };
}

async function rows(query: string): Promise<unknown[][]> {
  const result = await database.client.query({ query, format: 'JSONCompactEachRow' });
  return result.json<unknown[]>();
}

it('is stored once, in the tables and in all that views make of them', async () => {
  const messages = 4;
  await writeAsBefore(messages, months / 2);
  const stored = String(messages * months);
  expect(await rows('SELECT count() FROM events')).toEqual([[String(Number(stored) / 2)]]);
  await database.finishMigration({ beforeRemake: () => finishPendingBatches(options(), [0]) });
  const counts = `SELECT (SELECT count() FROM events), (SELECT uniqExact(event_id) FROM events),
    (SELECT sum(events) FROM event_counts), (SELECT sum(total_events) FROM profile_activity)`;
  expect(await rows(counts)).toEqual([[stored, stored, stored, stored]]);
  await expectRollupsOfEvents(database.client);
  // The writers of this version find nothing promised, and go on.
  const pipeline = startPipeline(options());
  await nats.jetstream().publish(eventsSubject(shard), frameOf(messages + 1));
  const all = String((messages + 1) * months);
  await expect.poll(() => rows(counts)).toEqual([[all, all, all, all]]);
  await pipeline.stop();
  await expectRollupsOfEvents(database.client);
});
