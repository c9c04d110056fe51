// A shard's stream and the product's two ends of it: the publisher that fills it and the source that empties it. HTTP
// before it and the builder behind it are left out.

import { Publisher } from '../../ingest/publish/publish.ts';
import type { IngestParts } from '../../ingest/rpc/accept.ts';
import type { Messages } from '../../pipeline/build/thread-messages.ts';
import { openEventStream, streamCreated } from '../../pipeline/consume/event-stream.ts';
import { packMessages } from '../../pipeline/consume/message-batch.ts';
import { MessageSource } from '../../pipeline/consume/message-source.ts';
import { followConnection, type NatsConnection } from '../../platform/broker/nats.ts';
import { eventsStream, eventsSubject } from '../../platform/broker/streams.ts';
import { maxFrameBytes } from '../../platform/limits.ts';
import { decodeFrame, type EncodedRequest, frameEvents } from '../../proto/wire/frame.ts';
import { asOperator } from '../../test/harness/servers/broker.ts';
import type { ChildServer } from '../../test/harness/servers/child-server.ts';
import { check } from '../bench.ts';

interface PublisherChoice {
  lz4: boolean;
  /** The service's value by default. */
  maxFrameBytes?: number;
}

export function createPublisher(nats: NatsConnection, choice: PublisherChoice): Publisher {
  return new Publisher({
    ...{ broker: nats, state: followConnection(nats), subjectOf: eventsSubject },
    disk: { isScarce: () => false },
    ...{ deadlineMs: 60_000, maxFrameBytes, maxInFlightBytes: 64 * 2 ** 20, ...choice },
  });
}

/** The messages in the shard's stream, and the bytes that they take in its files. */
export async function storedInStream(
  nats: NatsConnection,
): Promise<{ messages: number; bytes: number }> {
  const manager = await nats.jetstreamManager();
  const { messages, bytes } = (await manager.streams.info(eventsStream(0))).state;
  return { messages, bytes };
}

/** Deletes every message of the shard's stream. */
export async function emptyStream(broker: ChildServer): Promise<void> {
  await asOperator(broker, ({ streams }) => streams.purge(eventsStream(0)));
}

/**
 * Publishes `count` requests, taken in rotation from `requests`, as `connections` senders that each wait for an answer
 * before the next request: that many requests are ready in one turn of the event loop. Throws where one is not stored.
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

/** The pipeline's source with its writer's settings. A broker takes one at a time. */
export async function openReceiver(nats: NatsConnection, maxRows: number): Promise<Receiver> {
  const stream = openEventStream({
    connection: nats,
    stream: eventsStream(0),
    created: await streamCreated(nats, eventsStream(0)),
    retry: (call) => call(),
  });
  const source = new MessageSource(stream, {
    ...{ maxRows, maxBytes: 32 * 2 ** 20, maxMessages: 8_000, enoughShare: 1 },
    maxQueuedBytes: 32 * 2 ** 20,
    ...{ minWaitMs: 1, minIntervalMs: 0, maxWaitMs: 1_000 },
  });
  const done = { hwm: 0, lastDone: 0, isDone: (seq: number) => seq <= done.hwm };
  await source.start(done);
  return {
    async receive(events) {
      const batches: Messages[] = [];
      for (let left = events; left > 0; ) {
        const batch = await source.next();
        if (batch === undefined) throw new Error('the source has ended');
        for (const { data } of batch.messages) left -= frameEvents(data);
        batches.push(packMessages(batch));
        done.hwm = batch.messages.at(-1)?.seq ?? done.hwm;
        source.ack(batch);
      }
      return batches;
    },
    stop: () => source.stop(),
  };
}

/** Unpacks every frame; returns the number of events in them. */
export function unpackAll(batches: readonly Messages[]): number {
  let events = 0;
  for (const { lengths, bytes } of batches) {
    let at = 0;
    for (const length of lengths) {
      for (const request of decodeFrame(bytes.subarray(at, at + length))) events += request.events;
      at += length;
    }
  }
  return events;
}
