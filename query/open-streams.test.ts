// Readers that stop reading their streams, over real HTTP/1.1 and HTTP/2: the memory and the number of such streams are
// bounded, and each of them ends.

import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { RowReader } from '../platform/clickhouse/select-rows.ts';
import { useEngine } from '../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../test/harness/services/read-service.ts';
import { storeProfiles } from '../test/harness/tables/stored-profiles.ts';
import { OpenStreams } from './open-streams.ts';

const method = 'shared.profiles.v1.ProfilesService/List';
const projectId = 'prj_large';
/** 81 MB: more than the system may buffer of a connection (32 MiB of a reader and 4 of a writer), and all below. */
const profileCount = 1350;
const traitCharacters = 60_000;
/** The bytes after which the reader stops: more than the first hundred profiles. */
const takenBytes = 8_000_000;
/** These, and the few MiB that a stream holds, without the buffers of the system: a fifth of all profiles. */
const maxAskedCharacters = 16_000_000;
const stallMs = 30_000;

const timers = new Map<() => void, number>();
const bounds = { open: 3, openOfOwner: 3, openOfProject: 2, kept: 0, stallMs };
const streams = new OpenStreams(bounds, (ms, run) => {
  timers.set(run, ms);
  return () => void timers.delete(run);
});
let statements = 0;
let characters = 0;

const engine = useEngine();
let service: ReadService;
beforeAll(async () => {
  const reader = (store: RowReader): RowReader => ({
    select(select, onRow) {
      statements++;
      return store.select(select, (text) => {
        characters += text.length;
        return onRow(text);
      });
    },
  });
  service = await startReadService({ clickhouseUrl: engine.url, streams, reader });
  for (let from = 0; from < profileCount; from += 50) {
    const profiles = Array.from({ length: 50 }, (_, n) => ({
      projectId,
      distinctId: `person ${from + n}`,
      traits: { large: 'x'.repeat(traitCharacters) },
    }));
    await storeProfiles(service.clickhouse, profiles, String(from + 1));
  }
});
afterAll(() => service?.stop());
afterEach(async () => {
  await vi.waitUntil(() => streams.open === 0, { timeout: 300_000 });
  statements = 0;
  characters = 0;
});

/** Ends with the stream that reads it. */
async function* awaited(): AsyncGenerator<number> {
  yield await new Promise<number>(() => {});
}

it('keeps a stream open while nobody can check its credential, for a while', async () => {
  const run = async (): Promise<void> => {
    const [ask] = timers.keys();
    if (ask !== undefined) timers.delete(ask);
    ask?.();
    await new Promise(setImmediate);
  };
  let answer: ConnectError | undefined;
  const open = () => {
    const never = new AbortController().signal;
    const watched = streams.watch(projectId, never, awaited(), async () => answer);
    return watched[Symbol.asyncIterator]()
      .next()
      .catch((error: unknown) => error);
  };
  const notNow = new ConnectError('not now', Code.Unavailable);
  const late = open();
  answer = notNow;
  for (let asks = 0; asks < 20; asks++) await run();
  expect(streams.open).toBe(1);
  answer = undefined;
  await run();
  answer = notNow;
  for (let asks = 0; asks < 20; asks++) await run();
  expect(streams.open).toBe(1);
  await run();
  expect(await late).toBe(notNow);
  const revoked = open();
  answer = new ConnectError('revoked', Code.Unauthenticated);
  await run();
  expect(await revoked).toBe(answer);
});

/** The body of a stream's one request message. */
const envelope = Buffer.concat([Buffer.from([0, 0, 0, 0, 2]), Buffer.from('{}')]);

async function listOverHttp1(): Promise<Socket> {
  const { hostname, port } = new URL(service.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.write(
    `POST /${method} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/connect+json\r\n` +
      `connect-protocol-version: 1\r\nx-test-project: ${projectId}\r\ncontent-length: ${envelope.length}\r\n\r\n`,
  );
  socket.write(envelope);
  return socket;
}

function listOverHttp2() {
  const session = connectHttp2(service.baseUrl);
  const stream = session.request({
    ':method': 'POST',
    ':path': `/${method}`,
    'content-type': 'application/connect+json',
    'connect-protocol-version': '1',
    'x-test-project': projectId,
  });
  stream.pause();
  stream.end(envelope);
  return { session, stream };
}

async function takeSome(stream: Readable): Promise<void> {
  let taken = 0;
  await new Promise<void>((resolve) => {
    const take = (chunk: Buffer): void => {
      taken += chunk.length;
      if (taken < takenBytes) return;
      stream.off('data', take);
      stream.pause();
      resolve();
    };
    stream.on('data', take).resume();
  });
}

/** Bytes of the connection that the system holds, at both of its ends; they grow with the machine's load. */
function queuedBytes({ localPort = 0, remotePort = 0 }: Socket): number {
  const pair = new Set([localPort, remotePort]);
  let bytes = 0;
  for (const line of readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1)) {
    const [, local = '', remote = '', , queues = ''] = line.trim().split(/\s+/);
    const ports = [local, remote].map((address) => Number.parseInt(address.slice(-4), 16));
    if (!ports.every((port) => pair.has(port))) continue;
    for (const queue of queues.split(':')) bytes += Number.parseInt(queue, 16);
  }
  return bytes;
}

/** Resolves when the service waits for the reader: it has armed the timer and asks the store for nothing more. */
async function untilStalled(): Promise<void> {
  let before = -1;
  await vi.waitUntil(
    () => {
      if (streams.open === 0) throw new Error(`the stream ended after ${characters} characters`);
      const isStill = timers.size > 0 && before === statements;
      before = statements;
      return isStill;
    },
    { timeout: 300_000, interval: 300 },
  );
}

function pass(): void {
  for (const [run] of [...timers]) {
    timers.delete(run);
    run();
  }
}

describe('a reader that stops reading', () => {
  it('over HTTP/1.1 holds a few MiB, and its stream ends', async () => {
    const socket = await listOverHttp1();
    await takeSome(socket);
    await untilStalled();
    expect(characters - queuedBytes(socket)).toBeLessThan(maxAskedCharacters);
    expect([...timers.values()]).toEqual([stallMs]);
    pass();
    expect(streams.open).toBe(0);
    const asked = statements;
    let text = '';
    for await (const chunk of socket) {
      text += chunk;
      if (text.includes('deadline_exceeded')) break;
    }
    expect(text).toContain('the reader took nothing for too long');
    expect(statements).toBe(asked);
  });

  it('over HTTP/2 holds a few MiB, and its stream ends', async () => {
    const { session, stream } = listOverHttp2();
    await takeSome(stream);
    await untilStalled();
    expect(characters).toBeLessThan(maxAskedCharacters);
    pass();
    expect(streams.open).toBe(0);
    let text = '';
    for await (const chunk of stream) text += chunk;
    expect(text).toContain('deadline_exceeded');
    session.close();
  });

  it('is forgotten when its connection closes', async () => {
    const socket = await listOverHttp1();
    const { session } = listOverHttp2();
    await vi.waitUntil(() => streams.open === 2, { timeout: 300_000 });
    await untilStalled();
    socket.destroy();
    session.destroy();
    await vi.waitUntil(() => streams.open === 0, { timeout: 300_000 });
    expect(timers.size).toBe(0);
  });
});

describe('a reader that reads', () => {
  it('gets every profile, in pages of a MiB', async () => {
    const seen = new Set<string>();
    for await (const { profiles } of service.profiles(projectId).list({})) {
      expect(profiles.length).toBeLessThanOrEqual(Math.ceil(1_048_576 / traitCharacters));
      for (const { externalId } of profiles) seen.add(externalId);
    }
    expect(seen.size).toBe(profileCount);
  });

  it('may leave in the middle', async () => {
    const leaving = new AbortController();
    const list = service.profiles(projectId).list({}, { signal: leaving.signal });
    const iterator = list[Symbol.asyncIterator]();
    expect((await iterator.next()).done).toBe(false);
    expect(streams.open).toBe(1);
    leaving.abort();
    await expect(iterator.next()).rejects.toThrow();
  });
});

it('a reader whose own time-out passes between two messages is told so', async () => {
  async function* messages(): AsyncGenerator<number> {
    for (let message = 0; ; message++) yield message;
  }
  const timeout = new AbortController();
  const watched = streams.watch(projectId, timeout.signal, messages())[Symbol.asyncIterator]();
  await watched.next();
  timeout.abort(new ConnectError('late', Code.DeadlineExceeded));
  await expect(watched.next()).rejects.toMatchObject({ code: Code.DeadlineExceeded });
});

describe('streams beyond the bound', () => {
  const first = async (project: string) => {
    const iterator = service.profiles(project).list({})[Symbol.asyncIterator]();
    await iterator.next();
    return iterator;
  };
  const refusal = async (project: string): Promise<ConnectError> =>
    first(project).then(
      () => expect.fail('a stream too many was opened'),
      (error) => ConnectError.from(error),
    );

  it('are refused with resource_exhausted: of one project, and of all', async () => {
    const sockets = [await listOverHttp1(), await listOverHttp1()];
    await vi.waitUntil(() => streams.open === 2, { timeout: 300_000 });
    const refused = await refusal(projectId);
    expect(refused.code).toBe(Code.ResourceExhausted);
    expect(refused.rawMessage).toBe('too many streams of this project are open');
    expect(refused.metadata.get('retry-after')).toBe('30');
    // The stream of an empty project ends by itself.
    await first('prj_empty');
    for (const socket of sockets) socket.destroy();
    await vi.waitUntil(() => streams.open === 0, { timeout: 300_000 });
  });
});

it("one owner's many projects leave streams to others, and the last ones are for owners that have none", () => {
  const bounds = { open: 12, openOfOwner: 8, openOfProject: 4, kept: 2, stallMs };
  const shared = new OpenStreams(
    bounds,
    () => () => {},
    (project) => project.replace(/\..*/, ''),
  );
  async function* silent(): AsyncGenerator<number> {
    yield 1;
  }
  const gone = new AbortController();
  // One listener of each open stream.
  setMaxListeners(bounds.open, gone.signal);
  const open = (project: string, signal = gone.signal): string => {
    try {
      shared.watch(project, signal, silent());
      return 'open';
    } catch (error) {
      return ConnectError.from(error).rawMessage;
    }
  };
  const opened = (projects: readonly string[]) => projects.map((project) => open(project));
  const refusedOf = (whose: string): string => `too many streams of ${whose} are open`;
  const own = refusedOf("this project's owner");
  expect(opened(['a.1', 'a.1', 'a.1', 'a.1', 'a.1'])).toEqual([
    ...Array(4).fill('open'),
    refusedOf('this project'),
  ]);
  expect(opened(['a.2', 'a.2', 'a.2', 'a.3', 'a.4', 'a.5'])).toEqual([
    ...['open', 'open', own],
    ...['open', 'open', own],
  ]);
  expect(opened(['b.1', 'b.1', 'b.1', 'b.2', 'c.1', 'c.1', 'd.1', 'e.1'])).toEqual([
    ...['open', 'open', refusedOf('all projects'), refusedOf('all projects')],
    ...['open', refusedOf('all projects'), 'open', refusedOf('all projects')],
  ]);
  gone.abort();
  expect(shared.open).toBe(0);
  expect(open('a.1', new AbortController().signal)).toBe('open');
});
