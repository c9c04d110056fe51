// The deletion of messages that are done, on a broker that was killed before it had written their acks.

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  connectBroker,
  type JetStreamManager,
  type NatsConnection,
} from '../../platform/broker/nats.ts';
import { eventsStream, eventsSubject, writerConsumer } from '../../platform/broker/streams.ts';
import { ensureTopology } from '../../platform/broker/topology.ts';
import { createLog } from '../../platform/log.ts';
import { asOperator } from '../../test/harness/servers/broker.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import { deleteLeftovers } from './leftover-messages.ts';
import { openStoredMessages, queueState } from './queue-state.ts';

const stream = eventsStream(0);
const sent = 300;
const acked = 280;
const never = new AbortController().signal;
const broker = useBroker();
let nats: NatsConnection;
let manager: JetStreamManager;

beforeAll(async () => {
  nats = await connectBroker(broker.url, createLog('silent'));
  manager = await nats.jetstreamManager();
});
afterAll(() => nats.close());

beforeEach(async () => {
  await asOperator(broker, async ({ streams }) => {
    for (const name of [stream, 'KV_instance']) await streams.delete(name).catch(() => {});
  });
  await ensureTopology(nats, { eventsMaxBytes: 256 * 1_048_576, shards: 1 });
  const publish = () => nats.jetstream().publish(eventsSubject(0), Buffer.alloc(500));
  await Promise.all(Array.from({ length: sent }, publish));
});

/** Has the first messages acked, by a broker that forgets most of it; returns how many messages it holds then. */
async function loseAcks(): Promise<number> {
  await ackNext(acked);
  await expect.poll(() => held()).toBe(sent - acked);
  await broker.kill9();
  await broker.restart();
  await expect.poll(() => held().catch(() => 0)).toBeGreaterThan(sent - acked);
  return held();
}

async function ackNext(count: number): Promise<number[]> {
  const consumer = await nats.jetstream().consumers.get(stream, writerConsumer);
  const seqs: number[] = [];
  for await (const message of await consumer.fetch({ max_messages: count, expires: 2_000 })) {
    message.ack();
    seqs.push(message.seq);
  }
  return seqs;
}

async function held(): Promise<number> {
  return (await queueState(nats, stream)).messages;
}

async function ledgerAt(hwm: number): Promise<{ streamCreated: string; hwm: number }> {
  return { streamCreated: (await queueState(nats, stream)).created, hwm };
}

it('deletes every message up to the mark that a killed broker has kept, and none beyond it', async () => {
  const kept = (await loseAcks()) - (sent - acked);
  const stored = openStoredMessages(nats, stream);
  expect(await deleteLeftovers(stored, await ledgerAt(acked), never)).toBe(kept);
  expect(await queueState(nats, stream)).toMatchObject({ messages: 20, firstSeq: 281 });
  expect((await manager.consumers.info(stream, writerConsumer)).num_ack_pending).toBe(0);
  const rest = await ackNext(sent - acked);
  expect(rest).toEqual(Array.from({ length: 20 }, (_, index) => 281 + index));
  await expect.poll(async () => (await queueState(nats, stream)).bytes).toBe(0);
});

it('passes over sequences that hold nothing, a step at a time', async () => {
  const stored = openStoredMessages(nats, stream);
  for (let seq = 2; seq < 250; seq++) await stored.delete(seq);
  let looks = 0;
  const state = () => {
    looks++;
    return stored.state();
  };
  expect(await deleteLeftovers({ ...stored, state }, await ledgerAt(260), never)).toBe(12);
  expect(await held()).toBe(40);
  expect(looks).toBe(3);
});

it('touches nothing of a stream that is not the ledger’s, or that ends before the mark', async () => {
  const stored = openStoredMessages(nats, stream);
  const other = { streamCreated: '2026-01-01T00:00:00Z', hwm: 100 };
  await expect(deleteLeftovers(stored, other, never)).rejects.toThrow('not the stream');
  const beyond = await ledgerAt(sent + 1);
  await expect(deleteLeftovers(stored, beyond, never)).rejects.toThrow('not the stream');
  expect(await deleteLeftovers(stored, await ledgerAt(0), never)).toBe(0);
  expect(await held()).toBe(sent);
});

it('gives up where the broker keeps a message that it was told to delete', async () => {
  const stored = openStoredMessages(nats, stream);
  const keeping = { ...stored, delete: async (seq: number) => seq > 1 && stored.delete(seq) };
  const deleting = deleteLeftovers(keeping, await ledgerAt(10), never);
  await expect(deleting).rejects.toThrow('does not delete message 1');
  expect(await held()).toBe(sent - 9);
});
