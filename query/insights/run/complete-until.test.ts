// The moment until which answers are complete, from a real broker.

import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  connectBroker,
  type JetStreamManager,
  type NatsConnection,
} from '../../../platform/broker/nats.ts';
import {
  eventsStream,
  eventsSubject,
  profilesStream,
  profilesSubject,
  writerConsumer,
} from '../../../platform/broker/streams.ts';
import { ensureTopology } from '../../../platform/broker/topology.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createLog } from '../../../platform/log.ts';
import { useBroker } from '../../../test/harness/servers/use-servers.ts';
import { createCompleteUntil } from './complete-until.ts';

const broker = useBroker();
let nats: NatsConnection;
let manager: JetStreamManager;
beforeAll(async () => {
  nats = await connectBroker(broker.url, createLog('silent'));
  await ensureTopology(nats, { eventsMaxBytes: 16 * 1_048_576, shards: 1 });
  manager = await nats.jetstreamManager();
});
afterAll(() => nats.close());

/** Later than the broker's. */
const laterClock = { ...systemClock, nowMs: () => Date.now() + 3_600_000 };
const open = (clock = laterClock) => createCompleteUntil({ nats, shards: 1, clock });
let completeUntil: ReturnType<typeof open>;
beforeEach(() => {
  completeUntil = open();
});

async function publish(subject: string): Promise<void> {
  await nats.jetstream().publish(subject, new Uint8Array(1));
}

async function firstTimeMs(stream: string): Promise<number> {
  const { state } = await manager.streams.info(stream);
  return Date.parse(state.first_ts);
}

async function storeNext(stream: string): Promise<void> {
  const consumer = await nats.jetstream().consumers.get(stream, writerConsumer);
  const message = await consumer.next();
  await message?.ackAck();
}

describe('answers are complete', () => {
  it('until nobody knows when, where a stream has no leader: what a server says then may be old', async () => {
    const jetstreamManager: NatsConnection['jetstreamManager'] = async (options) => {
      const known = await nats.jetstreamManager(options);
      const info: typeof known.streams.info = async (...asked) => {
        return { ...(await known.streams.info(...asked)), cluster: { name: 'three', leader: '' } };
      };
      const streams = Object.assign(Object.create(known.streams), { info });
      return Object.assign(Object.create(known), { streams });
    };
    const leaderless = Object.assign(Object.create(nats), { jetstreamManager });
    const ask = createCompleteUntil({ nats: leaderless, shards: 1, clock: laterClock });
    expect(await ask('a project')).toBeUndefined();
  });

  it('until the question, where nothing waits', async () => {
    const clock = { ...systemClock, nowMs: () => 1_000 };
    expect(await open(clock)('a project')).toBe(1_000);
  });

  it.each([
    ['event', eventsStream(0), eventsSubject(0)],
    ['identity call', profilesStream(0), profilesSubject(0)],
  ])('until the oldest %s that waits for its ack, and on after the ack', async (_, stream, to) => {
    await publish(to);
    const firstMs = await firstTimeMs(stream);
    await publish(to);
    expect(await completeUntil('a project')).toBe(firstMs);
    await storeNext(stream);
    const secondMs = await firstTimeMs(stream);
    expect(await open()('a project')).toBe(secondMs);
    await storeNext(stream);
    expect(await open()('a project')).toBeGreaterThan(secondMs + 3_000_000);
  });

  it('never beyond the question, where the clock of the broker is ahead', async () => {
    await publish(eventsSubject(0));
    const clock = { ...systemClock, nowMs: () => 1_000 };
    expect(await open(clock)('a project')).toBe(1_000);
    await storeNext(eventsStream(0));
  });

  it('as one answer of the broker tells all who ask at once', async () => {
    const asked = vi.spyOn(nats, 'jetstreamManager');
    const moments = await Promise.all(['a', 'b', 'c'].map((project) => completeUntil(project)));
    expect(new Set(moments).size).toBe(1);
    expect(asked).toHaveBeenCalledTimes(1);
    asked.mockRestore();
  });

  it('until nobody knows when, where the broker does not answer', async () => {
    broker.pause();
    try {
      // It may still answer for a moment.
      await expect
        .poll(() => {
          completeUntil = open();
          return completeUntil('a project');
        })
        .toBeUndefined();
    } finally {
      broker.resume();
    }
    const asked = vi.spyOn(nats, 'jetstreamManager');
    expect(await completeUntil('a project')).toBeUndefined();
    expect(asked).not.toHaveBeenCalled();
    // It may be slow to go on.
    await expect.poll(() => open()('a project')).toBeTypeOf('number');
  });
});
