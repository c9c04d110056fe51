// The source and the reads of its batches against a real broker; its counters against a stream that lies.

import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  connectBroker,
  type JetStreamManager,
  type NatsConnection,
} from '../../platform/broker/nats.ts';
import { eventsStream, eventsSubject, writerConsumer } from '../../platform/broker/streams.ts';
import { ensureTopology } from '../../platform/broker/topology.ts';
import { createLog } from '../../platform/log.ts';
import { retry } from '../../platform/retry.ts';
import { encodeContext } from '../../proto/wire/frame.ts';
import { encodeFrame } from '../../proto/wire/frame-writer.ts';
import { asOperator } from '../../test/harness/servers/broker.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import { type EventStream, openEventStream, streamCreated } from './event-stream.ts';
import { forgetBytes, type MessageBatch, packMessages, readAgain } from './message-batch.ts';
import type { BatchLimits } from './message-queue.ts';
import { MessageSource } from './message-source.ts';

const broker = useBroker();
let nats: NatsConnection;
let manager: JetStreamManager;

beforeAll(async () => {
  nats = await connectBroker(broker.url, createLog('silent'));
  manager = await nats.jetstreamManager();
});

afterAll(async () => {
  await nats.close();
});

beforeEach(async () => {
  await forgetStream();
  await ensureTopology(nats, { eventsMaxBytes: 256 * 1_048_576, shards: 1 });
});

function forgetStream(): Promise<void> {
  return asOperator(broker, async ({ streams }) => {
    for (const name of [eventsStream(0), 'KV_instance']) await streams.delete(name).catch(() => {});
  });
}

const limits: BatchLimits = {
  maxRows: 50_000,
  maxBytes: 32 * 1_048_576,
  maxMessages: 8_000,
  maxQueuedBytes: 32 * 1_048_576,
  enoughShare: 1,
  minWaitMs: 100,
  minIntervalMs: 0,
  maxWaitMs: 1_000,
};

async function openStream(connection = nats): Promise<EventStream> {
  const ended = new AbortController();
  onTestFinished(() => ended.abort(new Error('the test has ended')));
  return openEventStream({
    connection,
    stream: eventsStream(0),
    created: await streamCreated(nats, eventsStream(0)),
    retry: (call) => retry(call, { signal: ended.signal, baseMs: 10, capMs: 200 }),
  });
}

async function openSource(hwm = 0, override: Partial<BatchLimits> = {}): Promise<MessageSource> {
  const source = new MessageSource(await openStream(), { ...limits, ...override });
  onTestFinished(() => source.stop());
  const done = doneTo(hwm);
  ledgers.set(source, done);
  await source.start(done);
  return source;
}

/** What a ledger has as done: up to `hwm`, and each batch that the test has acked. */
function doneTo(hwm: number) {
  const seqs = new Set<number>();
  return {
    hwm,
    get lastDone() {
      return Math.max(hwm, ...seqs);
    },
    isDone: (seq: number) => seq <= hwm || seqs.has(seq),
    add: (batch: MessageBatch) => {
      for (const { seq } of batch.messages) seqs.add(seq);
    },
  };
}

const ledgers = new WeakMap<MessageSource, ReturnType<typeof doneTo>>();

/** Acks a batch that the ledger has as done from now on. */
function ack(source: MessageSource, batch: MessageBatch): void {
  ledgers.get(source)?.add(batch);
  source.ack(batch);
}

function frameOf(events: number, padding = 0): Uint8Array {
  const context = { projectId: 'p', credential: 'public', receiveTimeMs: 1 } as const;
  return encodeFrame([
    { context: encodeContext(context), body: Buffer.alloc(padding, ' '), events },
  ]);
}

async function publish(count: number, events = 1, padding = 0): Promise<void> {
  const js = nats.jetstream();
  const frame = frameOf(events, padding);
  for (let from = 0; from < count; from += 500) {
    const some = Math.min(500, count - from);
    await Promise.all(Array.from({ length: some }, () => js.publish(eventsSubject(0), frame)));
  }
}

function seqsOf(batch: MessageBatch | undefined): number[] {
  return batch?.messages.map(({ seq }) => seq) ?? [];
}

/** Takes batches until they hold `count` messages. */
async function take(source: MessageSource, count: number): Promise<MessageBatch[]> {
  const batches: MessageBatch[] = [];
  let taken = 0;
  while (taken < count) {
    const batch = await source.next();
    if (batch === undefined) throw new Error('the source has ended');
    batches.push(batch);
    taken += batch.messages.length;
  }
  return batches;
}

async function stored(): Promise<number> {
  return (await manager.streams.info(eventsStream(0))).state.messages;
}

async function untilStored(count: number): Promise<void> {
  while ((await stored()) !== count) await new Promise((resolve) => setTimeout(resolve, 10));
}

async function untilDelivered(seq: number): Promise<void> {
  const delivered = async () =>
    (await manager.consumers.info(eventsStream(0), writerConsumer)).delivered.stream_seq;
  while ((await delivered()) < seq) await new Promise((resolve) => setTimeout(resolve, 5));
}

const upTo = (last: number, first = 1) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

describe('the source', () => {
  it('gives every message once, in order, and removes the acked ones from the stream', async () => {
    await publish(5_000);
    const source = await openSource();
    const batches = await take(source, 5_000);
    expect(batches.flatMap(seqsOf)).toEqual(upTo(5_000));
    expect(await stored()).toBe(5_000);
    for (const batch of batches) ack(source, batch);
    await untilStored(0);
  });

  it('closes a batch at its rows, bytes and messages, never in the middle of a message', async () => {
    await publish(9, 10_000);
    await publish(3, 60_000);
    const byRows = await openSource();
    expect((await take(byRows, 12)).map((batch) => batch.messages.length)).toEqual([5, 4, 1, 1, 1]);
    byRows.stop();
    const byMessages = await openSource(0, { maxMessages: 4, maxRows: 1_000_000 });
    expect((await take(byMessages, 12)).map((batch) => batch.messages.length)).toEqual([4, 4, 4]);
    byMessages.stop();
    const byBytes = await openSource(0, { maxBytes: 250, maxRows: 1_000_000 });
    const sizes = (await take(byBytes, 12)).map((batch) =>
      batch.messages.reduce((sum, { data }) => sum + data.length, 0),
    );
    expect(Math.max(...sizes)).toBeLessThanOrEqual(250);
  });

  it('closes a batch once its first message has waited', async () => {
    const source = await openSource(0, { minWaitMs: 150, maxWaitMs: 60_000 });
    const started = performance.now();
    await publish(1);
    expect(seqsOf(await source.next())).toEqual([1]);
    expect(performance.now() - started).toBeGreaterThan(140);
  });

  it('keeps a batch open for a while after the one before it', async () => {
    const source = await openSource(0, { minWaitMs: 1, minIntervalMs: 400, maxWaitMs: 60_000 });
    await publish(1);
    const first = await source.next();
    const started = performance.now();
    if (first !== undefined) ack(source, first);
    await publish(1);
    expect(seqsOf(await source.next())).toEqual([2]);
    expect(performance.now() - started).toBeGreaterThan(380);
  });

  it('lets a batch grow while the one before it is being stored', async () => {
    const source = await openSource(0, { minWaitMs: 1, maxWaitMs: 60_000 });
    await publish(1);
    const first = await source.next();
    const next = source.next();
    for (let seq = 2; seq <= 5; seq++) {
      await publish(1);
      await untilDelivered(seq);
    }
    if (first !== undefined) ack(source, first);
    expect(seqsOf(await next)).toEqual(upTo(5, 2));
  });

  it('closes a batch that is full or has waited for the longest, while the one before it is being stored', async () => {
    const source = await openSource(0, { minWaitMs: 1, maxWaitMs: 60_000, maxMessages: 2 });
    await publish(1);
    await source.next();
    await publish(2);
    expect(seqsOf(await source.next())).toEqual([2, 3]);
    source.stop();
    const impatient = await openSource(0, { minWaitMs: 1, maxWaitMs: 200 });
    await impatient.next();
    await publish(1);
    expect(seqsOf(await impatient.next())).toEqual([4]);
  });

  it('takes a message as large as the broker allows', async () => {
    await publish(1, 1_000, 8 * 1_048_576);
    await publish(3);
    const source = await openSource();
    const [batch] = await take(source, 4);
    expect(batch?.messages[0]?.data.length).toBeGreaterThan(8 * 1_048_576);
  });

  it('begins where the ledger says, and acks again the messages that the ledger has as done', async () => {
    await publish(10);
    const source = await openSource(4);
    const [batch] = await take(source, 6);
    expect(seqsOf(batch)).toEqual(upTo(10, 5));
    await untilStored(6);
  });

  it('gives at once, and in order, the messages that an earlier source received and never acked', async () => {
    await publish(50);
    const dead = await openSource();
    await take(dead, 50);
    dead.stop();
    await publish(5);
    const source = await openSource(20);
    const batches = await take(source, 35);
    expect(batches.flatMap(seqsOf)).toEqual(upTo(55, 21));
  });

  it('gives them where nothing new arrives to show the gap, too', async () => {
    await publish(7);
    const dead = await openSource();
    await take(dead, 7);
    dead.stop();
    const source = await openSource(0);
    expect((await take(source, 7)).flatMap(seqsOf)).toEqual(upTo(7));
  });

  it('misses nothing where another source takes messages at the same time', async () => {
    const other = await openSource();
    const source = await openSource();
    await publish(500);
    expect((await take(source, 500)).flatMap(seqsOf)).toEqual(upTo(500));
    expect((await take(other, 500)).flatMap(seqsOf)).toEqual(upTo(500));
  });

  it('passes over deleted messages', async () => {
    await publish(20);
    const dead = await openSource();
    await take(dead, 20);
    dead.stop();
    await asOperator(broker, async ({ streams }) => {
      for (const seq of [1, 2, 7, 20]) await streams.deleteMessage(eventsStream(0), seq);
    });
    await publish(1);
    const source = await openSource(0);
    const expected = upTo(21).filter((seq) => ![1, 2, 7, 20].includes(seq));
    expect((await take(source, expected.length)).flatMap(seqsOf)).toEqual(expected);
  });

  it('acks a message that it read by the delivery that comes later', async () => {
    await publish(3);
    const dead = await openSource();
    await take(dead, 3);
    dead.stop();
    const { config } = await manager.consumers.info(eventsStream(0), writerConsumer);
    await manager.consumers.update(eventsStream(0), writerConsumer, { ...config, ack_wait: 1e9 });
    const source = await openSource(0);
    const batches = await take(source, 3);
    for (const batch of batches) ack(source, batch);
    await untilStored(0);
  });

  it('ends with an error where the stream was made anew, and acks none of its messages', async () => {
    await publish(3);
    const source = await openSource();
    for (const batch of await take(source, 3)) ack(source, batch);
    await untilStored(0);
    const next = source.next();
    next.catch(() => {});
    await forgetStream();
    await ensureTopology(nats, { eventsMaxBytes: 256 * 1_048_576, shards: 1 });
    await publish(2);
    await expect(next).rejects.toThrow('the stream was made anew');
    expect(await stored()).toBe(2);
  });

  it('ends with an error where the stream ends before what is done, and acks none of its messages', async () => {
    await publish(3);
    const source = await openSource(5);
    await expect(source.next()).rejects.toThrow('has lost messages');
    expect(await stored()).toBe(3);
  });

  it('goes on where the broker is killed and comes back', async () => {
    const source = await openSource();
    await publish(100);
    const before = await take(source, 100);
    await broker.kill9();
    await broker.restart();
    const after = (async () => {
      while (nats.info === undefined || nats.isClosed()) await new Promise(setImmediate);
      for (;;) {
        try {
          await publish(100);
          return;
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
    })();
    const more = await take(source, 100);
    await after;
    expect([...before, ...more].flatMap(seqsOf).slice(0, 200)).toEqual(upTo(200));
    for (const batch of [...before, ...more]) ack(source, batch);
  });

  it('once stopped gives the queued messages and then nothing', async () => {
    await publish(10);
    const source = await openSource(0, { maxMessages: 4 });
    const first = await source.next();
    source.stop();
    const rest: number[] = [];
    for (;;) {
      const batch = await source.next();
      if (batch === undefined) break;
      rest.push(...seqsOf(batch));
    }
    expect([...seqsOf(first), ...rest]).toEqual(upTo(4 + rest.length));
    expect(await source.next()).toBeUndefined();
  });
});

/** A stream that holds message 6 alone and says that it is message `saysSeq`. */
function oneMessage(saysSeq: number): { stream: EventStream; acked: number[] } {
  const acked: number[] = [];
  const stream: EventStream = {
    receive: () => {},
    stored: async () => ({ seq: saysSeq, data: frameOf(1) }),
    firstSeq: async () => 6,
    lastDelivered: async () => 6,
    hasHeld: async () => true,
    ack: ({ seq }) => void acked.push(seq),
    working: () => {},
    close: () => {},
  };
  return { stream, acked };
}

describe('the counters', () => {
  it.each([
    ['beyond the expected one', 7],
    ['that was taken before', 3],
  ])('end the source where it is given a message %s', async (_, seq) => {
    const source = new MessageSource(oneMessage(seq).stream, limits);
    await source.start(doneTo(5));
    await expect(source.next()).rejects.toThrow(/^message-source: .* out of order$/);
  });

  it('reject the ack of a batch that was never taken, and ack none of its messages', async () => {
    const { stream, acked } = oneMessage(6);
    const source = new MessageSource(stream, limits);
    onTestFinished(() => source.stop());
    await source.start(doneTo(5));
    const batch = await source.next();
    expect(seqsOf(batch)).toEqual([6]);
    expect(() => source.ack({ messages: [{ seq: 7, data: frameOf(1) }] })).toThrow('out of order');
    expect(acked).toEqual([]);
  });

  it('allow an ack before the start: of the batch that an earlier writer left pending', async () => {
    const { stream, acked } = oneMessage(6);
    const source = new MessageSource(stream, limits);
    onTestFinished(() => source.stop());
    source.ack({ messages: [{ seq: 5, data: frameOf(1) }] });
    await source.start(doneTo(5));
    expect(seqsOf(await source.next())).toEqual([6]);
    expect(acked).toEqual([5]);
  });
});

it('asks the broker for lost deliveries once at a time, however long it is away', async () => {
  const { stream } = oneMessage(6);
  const asked: (() => void)[] = [];
  let silence = (): void => {};
  const source = new MessageSource(
    {
      ...stream,
      receive: ({ onSilence }) => {
        silence = onSilence;
      },
      lastDelivered: async () => {
        // The first look is that of the start.
        await new Promise<void>((resolve) => (asked.push(resolve) === 1 ? resolve() : undefined));
        return 6;
      },
    },
    limits,
  );
  onTestFinished(() => source.stop());
  await source.start(doneTo(5));
  for (let turn = 0; turn < 3; turn++) silence();
  expect(asked).toHaveLength(2);
  asked[1]?.();
  await new Promise(setImmediate);
  silence();
  expect(asked).toHaveLength(3);
});

describe('a pending batch', () => {
  it('is read again by its sequences, byte for byte', async () => {
    await publish(3, 1);
    await publish(40, 2, 500);
    const source = await openSource();
    const [batch = { messages: [] }] = await take(source, 43);
    const again = await readAgain(await openStream(), [
      [1, 2],
      [3, 43],
    ]);
    expect(again).toBeDefined();
    expect(packMessages(again ?? { messages: [] })).toEqual(packMessages(batch));
  });

  it('frees its own bytes and no others, delivered or read', async () => {
    const count = 12;
    await publish(count, 1, 20_000);
    const source = await openSource(0, { maxMessages: 1 });
    await untilDelivered(count);
    const batches = await take(source, count);
    const read = await readAgain(await openStream(), [[1, count]]);
    batches.push(...(read?.messages ?? []).map((message) => ({ messages: [message] })));
    expect(batches).toHaveLength(2 * count);
    for (const batch of batches) {
      expect(Buffer.from(packMessages(batch).bytes).equals(frameOf(1, 20_000))).toBe(true);
      forgetBytes(batch);
    }
  });

  it('is not read again where one of its messages is gone', async () => {
    await publish(3);
    await asOperator(broker, ({ streams }) => streams.deleteMessage(eventsStream(0), 2));
    expect(await readAgain(await openStream(), [[1, 3]])).toBeUndefined();
    expect(await readAgain(await openStream(), [[3, 4]])).toBeUndefined();
  });
});
