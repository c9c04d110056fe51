// Tricks on the way to the broker and back: the same requests are published, stored, received and unpacked, once with
// the trick and once without. CPU of this process and of the broker.

import type { IngestParts } from '../ingest/accept.ts';
import type { Messages } from '../pipeline/thread-messages.ts';
import { decodeFrame } from '../proto/wire/frame.ts';
import { makeBodies } from './bodies.ts';
import { type EventBroker, openReceiver, publishAll, startEventBroker } from './event-broker.ts';
import { requestOf } from './frames.ts';
import type { Contender } from './pairs.ts';
import { createPublishEach } from './publish-each.ts';
import { compareWays, type Trick } from './trick.ts';
import { cpuMsOf } from './usage.ts';

const over = 'publish, broker, receive, unpack';
const seed = 10;
const nowMs = Date.UTC(2026, 10, 20, 12);
/** Closes a frame after its first request. */
const oneRequest = 1;

export const brokerTricks: readonly Trick[] = [
  brokerTrick('LZ4 frames', 'frames as they are', 100, (broker) => ({
    on: broker.publisher({ lz4: true }),
    off: broker.publisher({ lz4: false }),
  })),
  brokerTrick('LZ4 frames', 'frames as they are', 1, (broker) => ({
    on: broker.publisher({ lz4: true }),
    off: broker.publisher({ lz4: false }),
  })),
  brokerTrick('requests of one turn share a frame', 'a frame a request', 1, (broker) => ({
    on: broker.publisher({ lz4: true }),
    off: broker.publisher({ lz4: true, maxFrameBytes: oneRequest }),
  })),
  brokerTrick('core publish, one inbox; a frame a request', 'js.publish', 1, (broker) => ({
    on: broker.publisher({ lz4: false, maxFrameBytes: oneRequest }),
    off: createPublishEach(broker.nats),
  })),
];

interface Publishers {
  on: IngestParts['publisher'];
  off: IngestParts['publisher'];
}

function brokerTrick(
  name: string,
  instead: string,
  batch: number,
  publishersOf: (broker: EventBroker) => Publishers,
): Trick {
  return {
    ...{ name, instead, over, batch },
    async measure(mode) {
      const bodies = makeBodies({ size: 'medium', batch, count: 200, seed, nowMs });
      const requests = bodies.map((body) => requestOf(body, nowMs));
      const real = { count: batch === 1 ? 20_000 : 1_000, connections: batch === 1 ? 64 : 16 };
      const sending = mode === 'smoke' ? { count: 20, connections: 4 } : real;
      const events = sending.count * batch;
      const broker = await startEventBroker();
      const receiver = await openReceiver(broker.nats, events);
      const contender = (publisher: IngestParts['publisher']): Contender => ({
        async run() {
          await publishAll(publisher, requests, sending);
          return unpackAll(await receiver.receive(events));
        },
      });
      const { on, off } = publishersOf(broker);
      const ways = { on: contender(on), off: contender(off), events };
      try {
        return await compareWays({ ...ways, othersCpuMs: () => cpuMsOf(broker.pid) }, mode);
      } finally {
        receiver.stop();
        await broker.stop();
      }
    },
  };
}

/** How many events the frames hold. */
function unpackAll(batches: readonly Messages[]): number {
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
