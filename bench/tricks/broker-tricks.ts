// Tricks between ingest and pipeline: the same requests are published, stored, received and unpacked, once with
// the trick and once with its reference. CPU of this process and of the broker.

import type { NatsConnection } from '../../platform/broker/nats.ts';
import { makeBodies } from '../../test/harness/requests/bodies.ts';
import { createPublisher, openReceiver, publishAll, unpackAll } from '../harness/event-stream.ts';
import { requestOf } from '../harness/frames.ts';
import type { Contender } from '../harness/pairs.ts';
import { cpuMsOf } from '../harness/usage.ts';
import { createPublishEach, type OpenPublisher } from './publish-each.ts';
import { compareWithReference, type Trick } from './trick.ts';

const over = 'publish, broker, receive, unpack';
const seed = 10;
const nowMs = Date.UTC(2026, 10, 20, 12);
/** Closes a frame after its first request. */
const oneRequest = 1;

export const brokerTricks: readonly Trick[] = [
  brokerTrick('LZ4 frames', 'frames as they are', 100, (nats) => ({
    trick: createPublisher(nats, { lz4: true }),
    reference: createPublisher(nats, { lz4: false }),
  })),
  brokerTrick('LZ4 frames', 'frames as they are', 1, (nats) => ({
    trick: createPublisher(nats, { lz4: true }),
    reference: createPublisher(nats, { lz4: false }),
  })),
  brokerTrick('requests of one turn share a frame', 'a frame a request', 1, (nats) => ({
    trick: createPublisher(nats, { lz4: true }),
    reference: createPublisher(nats, { lz4: true, maxFrameBytes: oneRequest }),
  })),
  brokerTrick('core publish, one inbox; a frame a request', 'js.publish', 1, (nats) => ({
    trick: createPublisher(nats, { lz4: false, maxFrameBytes: oneRequest }),
    reference: createPublishEach(nats),
  })),
];

interface Publishers {
  trick: OpenPublisher;
  reference: OpenPublisher;
}

function brokerTrick(
  name: string,
  reference: string,
  batch: number,
  publishersOf: (nats: NatsConnection) => Publishers,
): Trick {
  return {
    ...{ name, reference, over, batch },
    async measure(mode, { nats, broker }) {
      const bodies = makeBodies({ size: 'medium', batch, count: 200, seed, nowMs });
      const requests = bodies.map((body) => requestOf(body, nowMs));
      const real = { count: batch === 1 ? 20_000 : 1_000, connections: batch === 1 ? 64 : 16 };
      const sending = mode === 'smoke' ? { count: 20, connections: 4 } : real;
      const events = sending.count * batch;
      const receiver = await openReceiver(nats, events);
      const contender = (publisher: OpenPublisher): Contender => ({
        async run() {
          await publishAll(publisher, requests, sending);
          return unpackAll(await receiver.receive(events));
        },
      });
      const publishers = publishersOf(nats);
      const comparison = {
        trick: contender(publishers.trick),
        reference: contender(publishers.reference),
        events,
        othersCpuMs: () => cpuMsOf(broker.pid()),
      };
      try {
        return await compareWithReference(comparison, mode);
      } finally {
        receiver.stop();
        publishers.trick.close();
        publishers.reference.close();
      }
    },
  };
}
