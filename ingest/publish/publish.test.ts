// The publisher on a real broker: frames, bounds, and brokers that are full, frozen, killed or closed.

import { DiscardPolicy, type NatsConnection, StorageType } from 'nats';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type ConnectionState,
  connectBroker,
  followConnection,
} from '../../platform/broker/nats.ts';
import { maxFrameBytes } from '../../platform/limits.ts';
import { createLog } from '../../platform/log.ts';
import { decodeFrame, encodeContext, frameProjects, projectMark } from '../../proto/wire/frame.ts';
import { operatorUrl, startBroker } from '../../test/harness/servers/broker.ts';
import type { ChildServer } from '../../test/harness/servers/child-server.ts';
import { freeze } from '../../test/harness/services/ingest-service.ts';
import { type FrameReport, Publisher, type PublisherOptions } from './publish.ts';

const log = createLog('silent');
const forEver = Number.POSITIVE_INFINITY;

let broker: ChildServer;
let connection: NatsConnection;
let state: ConnectionState;
let frames: FrameReport[];
/** Events that were queued after their requests were answered. */
let late: number;
let publisher: Publisher;

function createPublisher(options: Partial<PublisherOptions> = {}): Publisher {
  return new Publisher({
    broker: connection,
    state,
    disk: { isScarce: () => false },
    subjectOf: (shard) => `events.${shard}`,
    deadlineMs: 5_000,
    maxFrameBytes,
    maxInFlightBytes: 64 * 1_048_576,
    lz4: false,
    onFrame: (frame) => frames.push(frame),
    onLate: (events) => {
      late += events;
    },
    ...options,
  });
}

async function addStream(shard: number, maxBytes = -1): Promise<void> {
  const manager = await connection.jetstreamManager();
  await manager.streams.add({
    name: `EVENTS_${shard}`,
    subjects: [`events.${shard}`],
    storage: StorageType.File,
    max_bytes: maxBytes,
    discard: DiscardPolicy.New,
  });
}

function request(name: string, bodyBytes = 100, events = 1) {
  const context = encodeContext({ projectId: name, credential: 'public', receiveTimeMs: 1 });
  return { context, body: Buffer.alloc(bodyBytes, 'x'), events };
}

async function stored(shard: number): Promise<{ messages: number; projects: string[] }> {
  const manager = await connection.jetstreamManager();
  const { messages } = (await manager.streams.info(`EVENTS_${shard}`)).state;
  const projects: string[] = [];
  for (let seq = 1; seq <= messages; seq++) {
    const message = await manager.streams.getMessage(`EVENTS_${shard}`, { seq });
    for (const { context } of decodeFrame(message.data)) projects.push(context.projectId);
  }
  return { messages, projects };
}

/** The marks of each message in shard 0, in order. */
async function marksStored(): Promise<number[][]> {
  const manager = await connection.jetstreamManager();
  const { messages } = (await manager.streams.info('EVENTS_0')).state;
  const marks: number[][] = [];
  for (let seq = 1; seq <= messages; seq++) {
    marks.push(frameProjects((await manager.streams.getMessage('EVENTS_0', { seq })).data));
  }
  return marks;
}

/** Resolves when the connection is next lost, or back. */
function whenConnected(wanted: boolean): Promise<void> {
  return new Promise((resolve) => {
    state.onChange((connected) => {
      if (connected === wanted) resolve();
    });
  });
}

beforeEach(async () => {
  frames = [];
  late = 0;
  broker = await startBroker();
  connection = await connectBroker(broker.url, log);
  state = followConnection(connection);
  await addStream(0);
  publisher = createPublisher();
});

afterEach(async () => {
  publisher.close();
  await connection.close();
  await broker.stop();
});

describe('frames', () => {
  it('carry the requests of one turn, which are all answered by one acknowledgement', async () => {
    const names = Array.from({ length: 50 }, (_, index) => `p${index}`);
    const outcomes = await Promise.all(
      names.map((name) => publisher.publish(0, request(name), forEver)),
    );
    expect(new Set(outcomes)).toEqual(new Set(['stored']));
    expect(await stored(0)).toEqual({ messages: 1, projects: names });
    expect(frames).toMatchObject([{ outcome: { kind: 'stored', seq: 1 }, requests: 50 }]);
  });

  it('are not shared by requests of different turns', async () => {
    await publisher.publish(0, request('a'), forEver);
    await publisher.publish(0, request('b'), forEver);
    expect((await stored(0)).messages).toBe(2);
  });

  it('are separate for each shard', async () => {
    await addStream(1);
    const shards = [0, 1, 0, 1];
    await Promise.all(
      shards.map((shard, index) => publisher.publish(shard, request(`p${index}`), forEver)),
    );
    expect(await stored(0)).toEqual({ messages: 1, projects: ['p0', 'p2'] });
    expect(await stored(1)).toEqual({ messages: 1, projects: ['p1', 'p3'] });
  });

  it('are closed before they grow past their bound, unless one request alone is larger', async () => {
    const half = maxFrameBytes / 2;
    const sizes = [half, half - 2_000, 10, maxFrameBytes * 4, 10];
    const outcomes = await Promise.all(
      sizes.map((size, index) => publisher.publish(0, request(`p${index}`, size), forEver)),
    );
    expect(new Set(outcomes)).toEqual(new Set(['stored']));
    expect(frames.map(({ requests }) => requests)).toEqual([3, 1, 1]);
    expect((await stored(0)).projects).toEqual(['p0', 'p1', 'p2', 'p3', 'p4']);
  });
});

describe('frames of projects', () => {
  const of = (name: string, bodyBytes = 100) => ({
    ...request(name, bodyBytes),
    project: projectMark(name),
  });

  it('share one message where requests are small, which says whose they are', async () => {
    await Promise.all(['a', 'b', 'a'].map((name) => publisher.publish(0, of(name), forEver)));
    expect(await marksStored()).toEqual([[projectMark('a'), projectMark('b')]]);
  });

  it('are their own where a request is large, with what follows of that size', async () => {
    const sent = [of('a', 20_000), of('b'), of('a', 20_000), of('c', 20_000), of('d')];
    await Promise.all(sent.map((one) => publisher.publish(0, one, forEver)));
    const marks = [['b', 'd'], ['a'], ['c']].map((names) => names.map(projectMark));
    expect(await marksStored()).toEqual(marks);
  });

  it('are their own while a project fills its queue, however small its requests are', async () => {
    publisher.close();
    publisher = createPublisher({ isApart: (project) => project === projectMark('a') });
    const sent = [of('a'), of('b'), of('a'), of('c')];
    await Promise.all(sent.map((one) => publisher.publish(0, one, forEver)));
    expect(await marksStored()).toEqual([['b', 'c'], ['a']].map((names) => names.map(projectMark)));
  });

  it('are each alone where a request asks for it, behind what the project sent before', async () => {
    const alone = { ...of('a'), isAlone: true };
    const sent = [
      of('a'),
      of('b'),
      alone,
      alone,
      of('a'),
      of('c'),
      { ...of('b', 20_000), isAlone: true },
    ];
    const outcomes = await Promise.all(sent.map((one) => publisher.publish(0, one, forEver)));
    expect(new Set(outcomes)).toEqual(new Set(['stored']));
    const marks = [['a', 'b'], ['a'], ['a'], ['b'], ['a', 'c']].map((names) =>
      names.map(projectMark),
    );
    expect(await marksStored()).toEqual(marks);
    expect(frames.map(({ requests }) => requests)).toEqual([2, 1, 1, 1, 2]);
  });

  it('are of 64 projects at the most', async () => {
    const names = Array.from({ length: 70 }, (_, index) => `p${index}`);
    await Promise.all(names.map((name) => publisher.publish(0, of(name), forEver)));
    expect((await marksStored()).map((marks) => marks.length)).toEqual([64, 6]);
    expect((await stored(0)).projects).toEqual(names);
  });

  it('have no more events than they may', async () => {
    publisher.close();
    publisher = createPublisher({ maxFrameEvents: 2 });
    const requests = ['a', 'b', 'c'].map((name) => request(name));
    await Promise.all(requests.map((one) => publisher.publish(0, one, forEver)));
    expect(frames.map((frame) => frame.requests)).toEqual([2, 1]);
  });
});

describe('packing', () => {
  it('sends fewer bytes, reports how many, and changes nothing that arrives', async () => {
    publisher.close();
    publisher = createPublisher({ lz4: true });
    expect(await publisher.publish(0, request('a', 20_000), forEver)).toBe('stored');
    expect(await publisher.publish(0, request('b', 100), forEver)).toBe('stored');
    const [large, small] = frames;
    expect(large?.bytes).toBeGreaterThan(20_000);
    expect(large?.sentBytes).toBeLessThan(1_000);
    expect(small?.sentBytes).toBe(small?.bytes);
    expect((await stored(0)).projects).toEqual(['a', 'b']);
    const manager = await connection.jetstreamManager();
    const message = await manager.streams.getMessage('EVENTS_0', { seq: 1 });
    expect(message.data.length).toBe(large?.sentBytes);
  });
});

describe('a full stream', () => {
  it('refuses the whole frame, and nothing of it is queued', async () => {
    await addStream(1, 10_000);
    expect(await publisher.publish(1, request('fits', 5_000), forEver)).toBe('stored');
    const outcomes = await Promise.all(
      ['a', 'b', 'c'].map((name) => publisher.publish(1, request(name, 2_000), forEver)),
    );
    expect(outcomes).toEqual(['full', 'full', 'full']);
    expect(await publisher.publish(1, request('small', 10), forEver)).toBe('stored');
    expect((await stored(1)).projects).toEqual(['fits', 'small']);
  });
});

describe('the bound on bytes in flight', () => {
  it('refuses at once and sends nothing when it is full, and has room after the acknowledgements', async () => {
    publisher.close();
    publisher = createPublisher({ maxInFlightBytes: 10_000 });
    const first = publisher.publish(0, request('first', 9_000), forEver);
    expect(await publisher.publish(0, request('second', 2_000), forEver)).toBe('full');
    expect(await first).toBe('stored');
    expect(await publisher.publish(0, request('third', 9_000), forEver)).toBe('stored');
    expect((await stored(0)).projects).toEqual(['first', 'third']);
    expect(frames.at(-1)?.inFlightBytes).toBe(0);
  });
});

describe('a broker that does not store', () => {
  it('without a stream: unavailable at once', async () => {
    expect(await publisher.publish(7, request('a'), forEver)).toBe('unavailable');
    expect(frames[0]?.outcome).toEqual({ kind: 'unavailable', reason: 'no stream' });
  });

  it('frozen: unavailable at the deadline, full when unacknowledged bytes fill the bound, well when it wakes', async () => {
    publisher.close();
    publisher = createPublisher({ deadlineMs: 300, maxInFlightBytes: 10_000 });
    await freeze(broker, connection);
    const started = performance.now();
    expect(await publisher.publish(0, request('a', 9_000, 5), forEver)).toBe('unavailable');
    expect(performance.now() - started).toBeGreaterThanOrEqual(299);
    expect(await publisher.publish(0, request('b', 9_000), forEver)).toBe('full');
    broker.resume();
    await expect.poll(() => publisher.publish(0, request('c', 9_000), forEver)).toBe('stored');
    expect((await stored(0)).projects[0]).toBe('a');
    expect(frames.at(-1)?.inFlightBytes).toBe(0);
    // Tries for c that were answered before the broker woke may count too.
    expect(late).toBeGreaterThanOrEqual(5);
    expect(late).toBe(5 + (await stored(0)).projects.length - 2);
  });

  it('that acknowledges when the frame was given up: its events are told once, a refusal’s are not', async () => {
    publisher.close();
    publisher = createPublisher({ deadlineMs: 50 });
    const reader = await connectBroker(operatorUrl(broker), log);
    const replies: ((ack: object) => void)[] = [];
    reader.subscribe('events.5', {
      callback: (_, { reply = '' }) => {
        replies.push((ack) => reader.publish(reply, JSON.stringify(ack)));
      },
    });
    await reader.flush();
    for (const events of [3, 4]) {
      expect(await publisher.publish(5, request('a', 10, events), forEver)).toBe('unavailable');
    }
    await connection.flush();
    const [first, second] = replies;
    const full = { error: { err_code: 10_077, description: 'maximum bytes exceeded' } };
    for (const ack of [{ seq: 1 }, { seq: 1 }]) first?.(ack);
    second?.(full);
    await reader.flush();
    await connection.flush();
    expect(late).toBe(3);
    expect(replies).toHaveLength(2);
    expect(frames.map(({ outcome }) => outcome.kind)).toEqual(['unavailable', 'unavailable']);
    await reader.close();
  });

  it('that reads and never acknowledges: unavailable at the deadline, and the bytes are given back', async () => {
    publisher.close();
    publisher = createPublisher({ deadlineMs: 100, maxInFlightBytes: 10_000 });
    const reader = await connectBroker(operatorUrl(broker), log);
    reader.subscribe('events.5', { callback: () => {} });
    await reader.flush();
    expect(await publisher.publish(5, request('a', 9_000), forEver)).toBe('unavailable');
    await expect.poll(() => publisher.publish(0, request('b', 9_000), forEver)).toBe('stored');
    await reader.close();
  });

  it('frozen: a sender’s shorter timeout ends its request, and the others of its frame wait on', async () => {
    publisher.close();
    publisher = createPublisher({ deadlineMs: 20_000 });
    await freeze(broker, connection);
    const patient = publisher.publish(0, request('patient'), forEver);
    expect(await publisher.publish(0, request('hasty', 100, 7), 50)).toBe('timed_out');
    broker.resume();
    expect(await patient).toBe('stored');
    expect(late).toBe(7);
  });

  it('killed: waiting requests are unavailable, nothing is buffered, and a restart heals it', async () => {
    await freeze(broker, connection);
    const waiting = publisher.publish(0, request('waiting'), forEver);
    const lost = whenConnected(false);
    await broker.kill9();
    expect(await waiting).toBe('unavailable');
    await lost;
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, () => publisher.publish(0, request('meanwhile'), forEver)),
    );
    expect(new Set(outcomes)).toEqual(new Set(['unavailable']));
    const back = whenConnected(true);
    await broker.restart();
    await back;
    expect(await publisher.publish(0, request('afterwards'), forEver)).toBe('stored');
    expect((await stored(0)).projects).toEqual(['afterwards']);
    expect(frames.at(-1)?.inFlightBytes).toBe(0);
  });
});

describe('close', () => {
  it('answers waiting requests and takes no more', async () => {
    await freeze(broker, connection);
    const waiting = publisher.publish(0, request('a'), forEver);
    publisher.close();
    expect(await waiting).toBe('unavailable');
    expect(await publisher.publish(0, request('b'), forEver)).toBe('unavailable');
    broker.resume();
  });
});
