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
import { oneGroup } from '../platform/clickhouse/groups.ts';
import { systemClock } from '../platform/clock.ts';
import { createLog } from '../platform/log.ts';
import { createMetrics } from '../platform/metrics.ts';
import { compiledWorker } from '../test/harness/compiled-entries.ts';
import { noWebhooks } from '../test/harness/models/webhook-records.ts';
import { useBroker } from '../test/harness/servers/use-servers.ts';
import { queueState } from './consume/queue-state.ts';
import { haltedByLoss, passLostMessages } from './lost-messages.ts';
import { startPipeline } from './start.ts';
import { type Ledger, takeOverLedger } from './write/ledger.ts';
import { readLedgerRecord } from './write/ledger-record.ts';
import type { WriterState } from './write/writer-state.ts';

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
    // What fills the stream later is newer, and no message for all that.
    await ledger.begin({ seqs: [[1, done]], inserts: [], counts }, Date.now());
    await ledger.finish();
  }
});
afterAll(() => nats.close());

function start(connection = nats) {
  // Nothing listens there: neither a halted writer nor one without messages needs an answer.
  const clickhouse = createClickHouse('http://127.0.0.1:9', { log, maxConnections: 1 });
  const pipeline = startPipeline({
    ...{
      nats: connection,
      clickhouse: oneGroup(clickhouse),
      shards,
      log,
      clock: systemClock,
      metrics: createMetrics(),
    },
    ...{ threads: 1, seenMaxBytes: 0, stopGraceMs: 0, workerFile: compiledWorker() },
    webhooks: noWebhooks,
  });
  const stop = async () => {
    await pipeline.stop();
    await clickhouse.close();
  };
  return { pipeline, stop };
}

/** Looks at a stream whose info has these ends, one after the other, and the last one for ever. */
async function look(
  ends: readonly number[],
  storedMs?: number,
  stop = new AbortController(),
  marks: Partial<Pick<Ledger, 'newestMs' | 'lost'>> = {},
) {
  const waitsMs: number[] = [];
  const states: WriterState[] = [];
  const mark = {
    ...{ lastPromised: done, streamCreated: 'then' },
    ...{ newestMs: marks.newestMs, lost: marks.lost },
  };
  const state = async () => {
    const lastSeq = ends[Math.min(waitsMs.length, ends.length - 1)] ?? 0;
    return { created: 'then', messages: 0, bytes: 0, firstSeq: 1, lastSeq, oldestMs: 0 };
  };
  const end = await haltedByLoss(
    {
      ...{ nats, stream: eventsStream(shard), shard, mark, log, clock: { nowMs: () => 1_000 } },
      ...{ stop: stop.signal, abort: new AbortController().signal },
      untilAnswered: (call) => call(),
      onState: (next) => void states.push(next),
    },
    {
      stored: { state, storedMs: async () => storedMs },
      wait: async (ms) => {
        if (waitsMs.push(ms) === 100) throw new Error('still halted');
      },
    },
  );
  return { end, waitsMs, states };
}

it('asks on while a leader may be young, and halts nobody', async () => {
  const { end, waitsMs, states } = await look([...Array.from({ length: 58 }, () => held), done]);
  expect(end).toBeUndefined();
  expect(waitsMs.reduce((sum, ms) => sum + ms)).toBe(29_000);
  expect(states).toEqual([]);
});

it('leaves the halt by itself once the stream has caught up', async () => {
  const { end, states } = await look([...Array.from({ length: 80 }, () => held), done]);
  expect(end).toBeUndefined();
  expect(new Set(states)).toEqual(new Set(['halted']));
});

it('does not take new messages for an applied log', async () => {
  // The messages of before, then one of after the first look where the last done one was.
  expect((await look([held, done], 999)).end).toBeUndefined();
  await expect(look([held, done], 1_001)).rejects.toThrow('still halted');
});

it('tells new messages under done sequences by the broker’s time, whatever its own clock says', async () => {
  const never = new AbortController();
  // The stream was never seen to end earlier: it had counted past the mark before this writer began.
  await expect(look([done], 501, never, { newestMs: 500 })).rejects.toThrow('still halted');
  expect((await look([done], 500, never, { newestMs: 500 })).states).toEqual([]);
  expect((await look([held, done], 2_000, never, { newestMs: 2_000 })).end).toBeUndefined();
  // Of a mark that an older version has written nothing is known.
  expect((await look([done], 501)).end).toBeUndefined();
});

it('stays halted where an earlier writer has found a sequence given anew', async () => {
  const lost = { seq: held, newestMs: 500 };
  const never = new AbortController();
  await expect(look([done], 501, never, { newestMs: 900, lost })).rejects.toThrow('still halted');
  // The store is put back: the sequence has its first message again, or none.
  expect((await look([done], 500, never, { newestMs: 900, lost })).end).toBeUndefined();
  expect((await look([done], undefined, never, { newestMs: 900, lost })).end).toBeUndefined();
});

it('tells a writer that is stopped from the start of the halt, and offers no deletion', async () => {
  const stop = new AbortController();
  stop.abort();
  const { end, waitsMs } = await look([held], undefined, stop);
  expect(waitsMs).toHaveLength(59);
  expect(end).toMatchObject({ kind: 'halted', reason: expect.stringContaining(`ends at ${held}`) });
  expect(JSON.stringify(end)).not.toContain('delete');
});

it('holds up the writers of a stream that ends before its mark, and deletes nothing there', async () => {
  const { pipeline, stop } = start();
  await expect.poll(() => pipeline.state()).toEqual(['waiting', 'loading']);
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
    expect((await queueState(nats, stream)).lastSeq).toBe(last);
  }
  const { pipeline, stop } = start();
  await expect.poll(() => pipeline.ready()).toBe(true);
  // Of all messages the writer takes the new one alone, which is unreadable; the others are deleted.
  const letters = async () => (await queueState(nats, deadLetterStream)).messages;
  await expect.poll(letters).toBe(1);
  const left = async () => (await queueState(nats, eventsStream(shard))).messages;
  await expect.poll(left).toBe(0);
  expect(await letters()).toBe(1);
  await stop();
});

/** A connection to which the streams' leaders answer an older end, as before they have applied their log. */
function withYoungLeaders(isYoung: () => boolean): NatsConnection {
  const jetstreamManager: NatsConnection['jetstreamManager'] = async (options) => {
    const manager = await nats.jetstreamManager(options);
    const info: typeof manager.streams.info = async (...asked) => {
      const answer = await manager.streams.info(...asked);
      return isYoung() ? { ...answer, state: { ...answer.state, last_seq: 0 } } : answer;
    };
    const streams = Object.assign(Object.create(manager.streams), { info });
    return Object.assign(Object.create(manager), { streams });
  };
  return Object.assign(Object.create(nats), { jetstreamManager });
}

it('begins to write once the new leader of its stream has applied its log', async () => {
  let asks = 0;
  const { pipeline, stop } = start(withYoungLeaders(() => ++asks < 30));
  await expect.poll(() => asks).toBeGreaterThan(20);
  expect(pipeline.state()).toEqual(['waiting', 'loading']);
  await expect.poll(() => pipeline.ready()).toBe(true);
  await stop();
});
