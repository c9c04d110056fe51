// Frames that a real broker has lost: sent again within the deadline, as far as a repetition does no harm.

import type { NatsConnection } from 'nats';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { connectBroker, followConnection, type Msg } from '../../platform/broker/nats.ts';
import { maxFrameBytes } from '../../platform/limits.ts';
import { createLog } from '../../platform/log.ts';
import { decodeFrame, encodeContext } from '../../proto/wire/frame.ts';
import { operatorUrl, startBroker } from '../../test/harness/servers/broker.ts';
import type { ChildServer } from '../../test/harness/servers/child-server.ts';
import { freeze } from '../../test/harness/services/ingest-service.ts';
import { Publisher } from './publish.ts';
import type { Repeats } from './resends.ts';
import type { Published } from './sent-frames.ts';

const log = createLog('silent');
const deadlineMs = 20_000;

let broker: ChildServer;
let connection: NatsConnection;
let operator: NatsConnection;
let publisher: Publisher | undefined;

beforeEach(async () => {
  broker = await startBroker();
  connection = await connectBroker(broker.url, log);
  operator = await connectBroker(operatorUrl(broker), log);
});

afterEach(async () => {
  publisher?.close();
  publisher = undefined;
  await connection.close();
  await operator.close();
  await broker.stop();
});

function publish(name: string, repeats: Repeats, ms = deadlineMs): Promise<Published> {
  publisher ??= new Publisher({
    broker: connection,
    state: followConnection(connection),
    disk: { isScarce: () => false },
    subjectOf: (shard) => `events.${shard}`,
    deadlineMs: ms,
    maxFrameBytes,
    maxInFlightBytes: 50_000,
    lz4: false,
    repeats,
  });
  const context = encodeContext({ projectId: name, credential: 'public', receiveTimeMs: 1 });
  const request = { context, body: Buffer.alloc(10_000), events: 1 };
  return publisher.publish(0, request, Number.POSITIVE_INFINITY);
}

async function addStream(): Promise<void> {
  const manager = await operator.jetstreamManager();
  await manager.streams.add({ name: 'EVENTS_0', subjects: ['events.0'] });
}

const nameIn = ({ data }: Msg): string | undefined => decodeFrame(data)[0]?.context.projectId;

/** Every frame that arrives, for a test that answers in the stream's place. */
function answerInstead(onFrame: (name: string, store: () => void) => void): Promise<void> {
  operator.subscribe('events.0', {
    callback: (_, message) => {
      onFrame(nameIn(message) ?? '', () => message.respond(JSON.stringify({ seq: 1 })));
    },
  });
  return operator.flush();
}

for (const repeats of ['all', 'refused'] as const) {
  it(`that found no stream are stored once there is one (${repeats})`, async () => {
    const waiting = ['a', 'b'].map((name) => publish(name, repeats));
    await connection.flush();
    await addStream();
    expect(await Promise.all(waiting)).toEqual(['stored', 'stored']);
  });
}

it('that wait for a killed broker are stored when it is back, those that came meanwhile too', async () => {
  await addStream();
  await freeze(broker, connection);
  const waiting = [publish('before', 'all')];
  const lost = connection.status()[Symbol.asyncIterator]().next();
  await broker.kill9();
  await lost;
  waiting.push(publish('meanwhile', 'all'));
  await broker.restart();
  expect(await Promise.all(waiting)).toEqual(['stored', 'stored']);
});

it('refuse more bytes than may wait with `unavailable`: nothing says that the queue is full', async () => {
  const waiting = Array.from({ length: 4 }, (_, index) => publish(`p${index}`, 'all'));
  await connection.flush();
  await expect.poll(() => publish('beyond', 'all', 0)).toBe('unavailable');
  await addStream();
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['stored']));
});

it('that a stream does not answer ask it again after a second', async () => {
  let asked = 0;
  await answerInstead((_, store) => {
    if (++asked === 2) store();
  });
  expect(await publish('lost', 'all')).toBe('stored');
});

it('that were sent before one that is stored, and have no answer, are sent again at once', async () => {
  const arrived: string[] = [];
  await answerInstead((name, store) => {
    arrived.push(name);
    if (arrived.length > 1) store();
  });
  // The deadline comes before the second after which the first would be sent again in any case.
  const lost = publish('lost', 'all', 900);
  await expect.poll(() => arrived).toEqual(['lost']);
  expect(await publish('next', 'all')).toBe('stored');
  expect(await lost).toBe('stored');
  expect(arrived).toEqual(['lost', 'next', 'lost']);
});

it('that a slow stream stores after all are not sent again because of the one that asked it', async () => {
  const arrived: string[] = [];
  const stores: (() => void)[] = [];
  await answerInstead((name, store) => {
    arrived.push(name);
    stores.push(store);
  });
  const waiting: Promise<Published>[] = [];
  for (const name of ['a', 'b', 'c']) {
    waiting.push(publish(name, 'all'));
    await expect.poll(() => arrived.at(-1)).toBe(name);
  }
  await expect.poll(() => arrived).toEqual(['a', 'b', 'c', 'a']);
  for (const store of stores.slice(0, 3)) store();
  expect(await Promise.all(waiting)).toEqual(['stored', 'stored', 'stored']);
  await connection.flush();
  await operator.flush();
  expect(arrived).toEqual(['a', 'b', 'c', 'a']);
});

it('are not repeated where they could take effect behind later ones', async () => {
  const arrived: string[] = [];
  await answerInstead((name, store) => {
    arrived.push(name);
    if (name === 'second') store();
  });
  const first = publish('first', 'refused', 1_500);
  await expect.poll(() => arrived).toEqual(['first']);
  expect(await publish('second', 'refused')).toBe('stored');
  expect(await first).toBe('unavailable');
  expect(arrived).toEqual(['first', 'second']);
});
