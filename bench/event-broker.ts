// A broker of a bench's own with the shard's stream, and the product's two ends of it: the publisher that fills it and
// the source that empties it. No HTTP before, no builder behind.

import type { IngestParts } from '../ingest/accept.ts';
import { Publisher } from '../ingest/publish.ts';
import { MessageSource } from '../pipeline/consume.ts';
import { openEventStream, streamCreated } from '../pipeline/event-stream.ts';
import { packMessages } from '../pipeline/message-batch.ts';
import type { Messages } from '../pipeline/thread-messages.ts';
import { maxFrameBytes } from '../platform/limits.ts';
import { createLog } from '../platform/log.ts';
import { connectBroker, followConnection, type NatsConnection } from '../platform/nats.ts';
import { ensureTopology, eventsStream, eventsSubject } from '../platform/topology.ts';
import { type EncodedRequest, frameEvents } from '../proto/wire/frame.ts';
import { startBroker } from '../test/broker.ts';
import { check } from './bench.ts';

export interface EventBroker {
  pid: number;
  nats: NatsConnection;
  /** As the service has it, but for what is said; it is closed with the broker. */
  publisher(options: { lz4: boolean; maxFrameBytes?: number }): Publisher;
  /** What the shard's stream holds: messages, and the bytes that they take in its files. */
  stored(): Promise<{ messages: number; bytes: number }>;
  /** Throws away what the stream holds. */
  empty(): Promise<void>;
  stop(): Promise<void>;
}

export async function startEventBroker(): Promise<EventBroker> {
  const broker = await startBroker();
  const nats = await connectBroker(broker.url, createLog('silent'));
  await ensureTopology(nats, { eventsMaxBytes: 4 * 2 ** 30, shards: 1 });
  const manager = await nats.jetstreamManager();
  const publishers: Publisher[] = [];
  return {
    pid: broker.pid(),
    nats,
    publisher(options) {
      const publisher = new Publisher({
        ...{ broker: nats, state: followConnection(nats), subjectOf: eventsSubject },
        ...{ deadlineMs: 60_000, maxFrameBytes, maxInFlightBytes: 64 * 2 ** 20, ...options },
      });
      publishers.push(publisher);
      return publisher;
    },
    async stored() {
      const { messages, bytes } = (await manager.streams.info(eventsStream(0))).state;
      return { messages, bytes };
    },
    async empty() {
      await manager.streams.purge(eventsStream(0));
    },
    async stop() {
      for (const publisher of publishers) publisher.close();
      await nats.close();
      await broker.stop();
    },
  };
}

/**
 * Publishes `count` requests, going round through `requests`, as `connections` senders that each wait for the answer
 * before the next: so many of them are ready in one turn of the event loop. Throws where one is not stored.
 */
export async function publishAll(
  publisher: IngestParts['publisher'],
  requests: readonly EncodedRequest[],
  { count, connections }: { count: number; connections: number },
): Promise<void> {
  let next = 0;
  const send = async (): Promise<void> => {
    while (next < count) {
      const request = requests[next++ % requests.length];
      if (request === undefined) throw new RangeError('no requests to publish');
      const published = await publisher.publish(0, request, Number.POSITIVE_INFINITY);
      check(published === 'stored', `a request is stored, and not ${published}`);
    }
  };
  await Promise.all(Array.from({ length: connections }, send));
}

export interface Receiver {
  /** Receives and acknowledges batches of at most `maxRows` events until it has `events`. */
  receive(events: number): Promise<Messages[]>;
  stop(): void;
}

/** The pipeline's source, as its writer has it. One at a time for a broker. */
export async function openReceiver(nats: NatsConnection, maxRows: number): Promise<Receiver> {
  const stream = openEventStream({
    connection: nats,
    stream: eventsStream(0),
    created: await streamCreated(nats, eventsStream(0)),
    retry: (call) => call(),
  });
  const source = new MessageSource(stream, {
    ...{ maxRows, maxBytes: 32 * 2 ** 20, maxMessages: 8_000, maxWaitMs: 1_000, quietMs: 100 },
  });
  await source.start(0);
  return {
    async receive(events) {
      const batches: Messages[] = [];
      for (let left = events; left > 0; ) {
        const batch = await source.next();
        if (batch === undefined) throw new Error('the source has ended');
        for (const { data } of batch.messages) left -= frameEvents(data);
        batches.push(packMessages(batch));
        source.ack(batch);
      }
      return batches;
    },
    stop: () => source.stop(),
  };
}
