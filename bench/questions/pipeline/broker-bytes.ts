// Bytes in the broker's files for each byte that came in: the product's publisher in front of a real broker, measured
// by the stream's own size. Bodies are the demo's visits; every event differs, every id is random.

import { createHash } from 'node:crypto';
import { type Size, sizes } from '../../../demo/visits/sized-events.ts';
import type { NatsConnection } from '../../../platform/broker/nats.ts';
import { eventsStream } from '../../../platform/broker/streams.ts';
import { decodeFrame, type EncodedRequest } from '../../../proto/wire/frame.ts';
import { makeBodies } from '../../../test/harness/requests/bodies.ts';
import { startIngestService } from '../../../test/harness/services/ingest-service.ts';
import { type Bench, check } from '../../bench.ts';
import {
  createPublisher,
  emptyStream,
  publishAll,
  storedInStream,
} from '../../harness/event-stream.ts';
import { requestOf } from '../../harness/frames.ts';

interface Cell {
  size: Size;
  batch: number;
  /** Requests that are under way at once: requests of one turn share a message. */
  connections: number;
  requests: number;
}

const smoke: readonly Cell[] = sizes.map((size) => ({
  ...{ size, batch: 100, connections: 2, requests: 2 },
}));
const real: readonly Cell[] = sizes.flatMap((size) => [
  { size, batch: 1, connections: 64, requests: 6_400 },
  { size, batch: 10, connections: 32, requests: 1_600 },
  { size, batch: 100, connections: 1, requests: 160 },
  { size, batch: 100, connections: 16, requests: 160 },
]);

const seed = 9;
const nowMs = Date.UTC(2026, 10, 20, 12);

export const brokerBytesBench: Bench = {
  name: 'broker-bytes',
  question: 'How many bytes does the broker store of those that were received?',
  async run(mode) {
    const rows: string[][] = [];
    const hash = createHash('sha256');
    const service = await startIngestService({ eventsMaxBytes: 2 ** 32 });
    const { nats } = service;
    const publisher = createPublisher(nats, { lz4: true });
    try {
      for (const cell of mode === 'smoke' ? smoke : real) {
        const { size, batch, requests: count } = cell;
        const bodies = makeBodies({ size, batch, count, seed, nowMs });
        const requests = bodies.map((body) => requestOf(body, nowMs));
        await publishAll(publisher, requests, { count, ...cell });
        rows.push(rowOf(cell, requests, await storedInStream(nats)));
        hash.update(await storedBodies(nats, requests));
        await emptyStream(service.broker);
      }
    } finally {
      publisher.close();
      await service.stop();
    }
    return { tables: [{ title, columns, rows }], resultHash: hash.digest('hex') };
  },
};

const title =
  "Bytes of the stream's files over bytes of the bodies received; packed below 1 where it pays";
const columns = [
  ...['size', 'batch', 'connections', 'B/body', 'requests/message', 'B/message', 'ratio'],
];

function rowOf(
  { size, batch, connections }: Cell,
  requests: readonly EncodedRequest[],
  stored: { messages: number; bytes: number },
): string[] {
  const received = requests.reduce((sum, { body }) => sum + body.length, 0);
  const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
  return [
    ...[size, String(batch), String(connections), whole(received / requests.length)],
    (requests.length / stored.messages).toFixed(1),
    whole(stored.bytes / stored.messages),
    (stored.bytes / received).toFixed(2),
  ];
}

/** A digest of all bodies that can be read back, in any order; throws unless they are the sent ones. */
async function storedBodies(
  nats: NatsConnection,
  sent: readonly EncodedRequest[],
): Promise<string> {
  const manager = await nats.jetstreamManager();
  const { first_seq, last_seq } = (await manager.streams.info(eventsStream(0))).state;
  const bodies: Uint8Array[] = [];
  for (let seq = first_seq; seq <= last_seq; seq++) {
    const { data } = await manager.streams.getMessage(eventsStream(0), { seq });
    bodies.push(...decodeFrame(data).map(({ body }) => body));
  }
  const digest = digestOf(bodies);
  check(digest === digestOf(sent.map(({ body }) => body)), 'the broker holds every body');
  return digest;
}

function digestOf(bodies: readonly Uint8Array[]): string {
  const each = bodies.map((body) => createHash('sha256').update(body).digest('hex')).sort();
  return createHash('sha256').update(each.join()).digest('hex');
}
