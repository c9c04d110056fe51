// A cluster of three real servers whose stream changes its leader: what the servers say meanwhile halts no writer, and
// hides no message.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { ensureConsumer, ensureStream } from '../platform/broker/ensure-stream.ts';
import { connectBroker, type NatsConnection } from '../platform/broker/nats.ts';
import {
  eventsConfig,
  eventsStream,
  eventsSubject,
  writerConfig,
} from '../platform/broker/streams.ts';
import { systemClock } from '../platform/clock.ts';
import { createLog } from '../platform/log.ts';
import { retry } from '../platform/retry.ts';
import {
  type BrokerCluster,
  startBrokerCluster,
} from '../test/harness/servers/cluster/broker-cluster.ts';
import { openEventStream, streamCreated } from './consume/event-stream.ts';
import { haltedByLoss } from './lost-messages.ts';

const stream = eventsStream(0);
const log = createLog('silent');
const signal = new AbortController().signal;
const untilAnswered = <T>(call: () => Promise<T>): Promise<T> =>
  retry(call, { signal, baseMs: 50, capMs: 500 });
let cluster: BrokerCluster;
let nats: NatsConnection;
let lastDone = 0;

beforeAll(async () => {
  cluster = await startBrokerCluster();
  nats = await connectBroker(cluster.url, log);
  const manager = await untilAnswered(() => nats.jetstreamManager());
  await untilAnswered(() => ensureStream(manager, eventsConfig(0, 512 * 1_048_576, 3)));
  await untilAnswered(() => ensureConsumer(manager, stream, writerConfig));
});

afterAll(async () => {
  await nats.close();
  await cluster.stop();
});

async function publish(messages: number): Promise<void> {
  const jetstream = nats.jetstream();
  const content = Buffer.alloc(2_048);
  for (let left = messages; left > 0; left -= 64) {
    const one = () => untilAnswered(() => jetstream.publish(eventsSubject(0), content));
    const acks = Array.from({ length: 64 }, one);
    for (const { seq } of await Promise.all(acks)) lastDone = Math.max(lastDone, seq);
  }
}

/** The first end before `lastDone` that a server tells; undefined where none has for five minutes. */
async function olderEnd(): Promise<number | undefined> {
  const manager = await nats.jetstreamManager({ checkAPI: false, timeout: 500 });
  for (const endMs = performance.now() + 300_000; performance.now() < endMs; ) {
    const told = await manager.streams.info(stream).catch(() => undefined);
    if (told !== undefined && told.state.last_seq < lastDone) return told.state.last_seq;
  }
  return undefined;
}

it('a stream that loses its leader looks shorter, and neither halts its writer nor hides a message', async () => {
  await publish(640);
  const created = await untilAnswered(() => streamCreated(nats, stream));
  const [behind, ...others] = cluster.servers.values();
  behind?.pause();
  await publish(6_400);
  // The server that is left has missed the most, and leads nobody.
  await Promise.all(others.map((server) => server.kill9()));
  behind?.resume();
  expect(await olderEnd()).toBeLessThan(lastDone);
  const states: string[] = [];
  const ended = haltedByLoss({
    ...{ nats, stream, shard: 0, log, clock: systemClock, untilAnswered },
    mark: { lastPromised: lastDone, newestMs: undefined, lost: undefined, streamCreated: created },
    ...{ stop: signal, abort: signal },
    onState: (state) => void states.push(state),
  });
  const messages = openEventStream({ connection: nats, stream, created, retry: untilAnswered });
  const last = messages.stored(lastDone);
  await Promise.all(others.map((server) => server.restart()));
  expect(await ended).toBeUndefined();
  expect(states).toEqual([]);
  expect(await last).toMatchObject({ seq: lastDone });
});
