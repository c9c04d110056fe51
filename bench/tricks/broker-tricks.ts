// Tricks on the way to the broker and back: the same requests are published, stored, received and unpacked, once with
// the trick and once without. CPU of this process and of the broker.

import type { NatsConnection } from '../../platform/broker/nats.ts';
import { makeBodies } from '../../test/harness/requests/bodies.ts';
import { createPublisher, openReceiver, publishAll, unpackAll } from '../harness/event-stream.ts';
import { requestOf } from '../harness/frames.ts';
import type { Contender } from '../harness/pairs.ts';
import { cpuMsOf } from '../harness/usage.ts';
import { createPublishEach, type OpenPublisher } from './publish-each.ts';
import { compareWays, type Trick } from './trick.ts';

const over = 'publish, broker, receive, unpack';
const seed = 10;
const nowMs = Date.UTC(2026, 10, 20, 12);
/** Closes a frame after its first request. */
const oneRequest = 1;

export const brokerTricks: readonly Trick[] = [
  brokerTrick('LZ4 frames', 'frames as they are', 100, (nats) => ({
    on: createPublisher(nats, { lz4: true }),
    off: createPublisher(nats, { lz4: false }),
  })),
  brokerTrick('LZ4 frames', 'frames as they are', 1, (nats) => ({
    on: createPublisher(nats, { lz4: true }),
    off: createPublisher(nats, { lz4: false }),
  })),
  brokerTrick('requests of one turn share a frame', 'a frame a request', 1, (nats) => ({
    on: createPublisher(nats, { lz4: true }),
    off: createPublisher(nats, { lz4: true, maxFrameBytes: oneRequest }),
  })),
  brokerTrick('core publish, one inbox; a frame a request', 'js.publish', 1, (nats) => ({
    on: createPublisher(nats, { lz4: false, maxFrameBytes: oneRequest }),
    off: createPublishEach(nats),
  })),
];

interface Publishers {
  on: OpenPublisher;
  off: OpenPublisher;
}

function brokerTrick(
  name: string,
  instead: string,
  batch: number,
  publishersOf: (nats: NatsConnection) => Publishers,
): Trick {
  return {
    ...{ name, instead, over, batch },
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
      const { on, off } = publishersOf(nats);
      const ways = { on: contender(on), off: contender(off), events };
      try {
        return await compareWays({ ...ways, othersCpuMs: () => cpuMsOf(broker.pid()) }, mode);
      } finally {
        receiver.stop();
        on.close();
        off.close();
      }
    },
  };
}
