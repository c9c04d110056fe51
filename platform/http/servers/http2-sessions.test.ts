// HTTP/2 under attack, over real sockets: senders that drip, readers that do not read, streams and resets without end.
// Time-outs are those of the test's own server, so short that waiting for them takes no time.

import type { ServerResponse } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type BareHttp2,
  dialHttp2,
  flags,
  frame,
  headerBlock,
  requestFrame,
  resetFrame,
  settingFrame,
  types,
} from '../../../test/harness/clients/http2-frames.ts';
import { type HttpServer, startHttp } from '../http.ts';

/** Longer than any test. */
const never = 3_600_000;
const opened: { server?: HttpServer; connections: BareHttp2[] } = { connections: [] };

afterEach(async () => {
  for (const { socket } of opened.connections.splice(0)) socket.destroy();
  await opened.server?.close(0);
});

interface Running {
  port: number;
  /** Connections that were closed at once. */
  refused(): number;
  server: HttpServer;
  /** Handlers that were started and have not seen their stream end. */
  running: Set<ServerResponse>;
  started(): number;
}

interface Times {
  requestMs?: number;
  headersMs?: number;
  keepAliveMs?: number;
  stallMs?: number;
}

/** `/whole` answers when the request is whole, `/large` sends 1 MiB, `/wait` never answers. */
async function start(
  { requestMs = never, headersMs = never, keepAliveMs = never, stallMs = never }: Times = {},
  bounds = { connections: 100, http2Sessions: 100, http2Streams: 1_000 },
  senders: { cutOffWaitMs?: number; isProxy?: (address: string | undefined) => boolean } = {},
): Promise<Running> {
  const running = new Set<ServerResponse>();
  let started = 0;
  let refused = 0;
  const server = await startHttp({
    host: '127.0.0.1',
    port: 0,
    nodeHttpRoutes: [
      (request, response, { path }) => {
        started++;
        running.add(response);
        response.once('close', () => running.delete(response));
        request.on('error', () => {});
        request.resume();
        if (path === '/large') response.end('x'.repeat(1_048_576));
        if (path === '/whole') request.once('end', () => response.end('whole'));
        return true;
      },
    ],
    connect: { routes: () => {} },
    serviceAliases: new Map(),
    arrival: { requestMs, headersMs },
    idle: { keepAliveMs, stallMs },
    bounds,
    ...senders,
    onRefusedConnection: () => refused++,
  });
  opened.server = server;
  const { port } = server;
  return { port, refused: () => refused, server, running, started: () => started };
}

function open(port: number, opening?: Buffer): BareHttp2 {
  const connection = dialHttp2(port, opening);
  opened.connections.push(connection);
  return connection;
}

const bytesOf = (connection: BareHttp2, stream: number): number =>
  connection
    .frames()
    .filter(({ type, stream: of }) => type === types.data && of === stream)
    .reduce((sum, { payload }) => sum + payload.length, 0);

const has = (connection: BareHttp2, type: number, stream = 0): boolean =>
  connection.frames().some((each) => each.type === type && each.stream === stream);

/** Calls it every 5 ms until the connection is closed. */
async function until(closed: Promise<void>, act: () => void): Promise<void> {
  const acting = setInterval(act, 5);
  await closed;
  clearInterval(acting);
}

describe('a session is closed', () => {
  it('that opens no stream', async () => {
    const { port } = await start({ headersMs: 100 });
    await open(port).closed;
    await open(port, Buffer.alloc(0)).closed;
  });

  it('that sends pings instead of streams', async () => {
    const { port } = await start({ headersMs: 100 });
    const { socket, closed } = open(port);
    await until(closed, () => socket.write(frame('ping', 0, 0, Buffer.alloc(8))));
  });

  it('whose headers do not end', async () => {
    const { port, started } = await start({ headersMs: 100 });
    const { socket, closed } = open(port);
    socket.write(frame('headers', flags.endStream, 1, headerBlock({ ':method': 'POST' })));
    // More than eight of these would be too many for nghttp2.
    socket.write(frame('continuation', 0, 1, headerBlock({ a: 'b' })));
    await closed;
    expect(started()).toBe(0);
  });

  it('that is idle after its last stream, with a goodbye', async () => {
    const { port } = await start({ keepAliveMs: 100 });
    const connection = open(port);
    connection.socket.write(requestFrame(1, '/whole'));
    await connection.closed;
    expect(bytesOf(connection, 1)).toBe('whole'.length);
    expect(has(connection, types.goaway)).toBe(true);
  });
});

describe('a stream ends', () => {
  it('whose body drips, and the others go on', async () => {
    const { port, running } = await start({ requestMs: 200, headersMs: 200 });
    const connection = open(port);
    const { socket } = connection;
    socket.write(requestFrame(1, '/whole', { body: true }));
    socket.write(requestFrame(3, '/wait'));
    const dripping = setInterval(() => socket.write(frame('data', 0, 1, Buffer.alloc(1))), 5);
    await expect.poll(() => has(connection, types.rstStream, 1)).toBe(true);
    clearInterval(dripping);
    expect(running.size).toBe(1);
    expect(socket.destroyed).toBe(false);
  });

  it('whose answer nobody takes, and the others go on', async () => {
    const { port, running } = await start({ stallMs: 200 });
    // Streams begin with a window of nothing; stream 3 gets one.
    const connection = open(port, settingFrame(4, 0));
    const { socket } = connection;
    // At once: between two of them a server may be elsewhere for so long that stream 3 ends, too.
    socket.write(
      Buffer.concat([
        requestFrame(1, '/large'),
        requestFrame(3, '/whole'),
        requestFrame(5, '/wait'),
        frame('windowUpdate', 0, 3, Buffer.from([0, 0, 1, 0])),
      ]),
    );
    const pinging = setInterval(() => socket.write(frame('ping', 0, 0, Buffer.alloc(8))), 5);
    await expect.poll(() => has(connection, types.rstStream, 1)).toBe(true);
    clearInterval(pinging);
    expect(bytesOf(connection, 3)).toBe('whole'.length);
    expect(running.size).toBe(1);
    expect(socket.destroyed).toBe(false);
  });

  it('with its connection, where not even a reset is read', async () => {
    const { port, running, started } = await start({ stallMs: 200, headersMs: 200 });
    const connection = open(port, settingFrame(4, 2 ** 31 - 1));
    const { socket } = connection;
    socket.write(frame('windowUpdate', 0, 0, Buffer.from([0x7f, 0xff, 0, 0])));
    socket.pause();
    // More than the kernel's buffers of both ends take.
    for (let stream = 1; stream < 64; stream += 2) socket.write(requestFrame(stream, '/large'));
    await expect.poll(started).toBeGreaterThan(0);
    await expect.poll(() => running.size).toBe(0);
  });
});

describe('a peer that asks too much', () => {
  it('has at most 100 streams at work', async () => {
    const { port, running } = await start();
    const connection = open(port);
    const streams = Array.from({ length: 150 }, (_, index) => 2 * index + 1);
    for (const stream of streams) connection.socket.write(requestFrame(stream, '/wait'));
    const refused = () => streams.filter((stream) => has(connection, types.rstStream, stream));
    await expect.poll(refused).toHaveLength(50);
    expect(running.size).toBe(100);
  });

  it('is cut off when it goes on', async () => {
    const { port, running, started } = await start();
    const connection = open(port);
    for (let number = 0; number < 10_000; number++) {
      connection.socket.write(requestFrame(2 * number + 1, '/wait', { body: true }));
    }
    await connection.closed;
    expect(started()).toBeLessThanOrEqual(100);
    await expect.poll(() => running.size).toBe(0);
  });

  it('does not pile up handlers by resets', async () => {
    const { port, started } = await start();
    const connection = open(port);
    for (let number = 0; number < 5_000; number++) {
      const stream = 2 * number + 1;
      connection.socket.write(Buffer.concat([requestFrame(stream, '/wait'), resetFrame(stream)]));
    }
    await connection.closed;
    expect(started()).toBeLessThan(200);
    expect(has(connection, types.goaway)).toBe(true);
  });

  it.each([
    ['resets that it waits with', 'POST', resetFrame],
    // The answer to HEAD has ended before it began.
    ['resets of requests for a head', 'HEAD', resetFrame],
    // The stream was to have five bytes.
    ['frames that make the server reset', 'POST', emptyBody],
  ])('does not by %s', async (_name, method, abandon) => {
    const { port, started } = await start();
    const connection = open(port);
    const beganMs = performance.now();
    let isClosed = false;
    void connection.closed.then(() => (isClosed = true));
    for (let number = 0; !isClosed && number < 1_000; number++) {
      const stream = 2 * number + 1;
      const fields = { 'content-length': '5' };
      connection.socket.write(requestFrame(stream, '/wait', { body: true, method, fields }));
      const isStarted = () => isClosed || started() === number + 1;
      await expect.poll(isStarted, { interval: 1 }).toBe(true);
      connection.socket.write(abandon(stream));
    }
    expect(isClosed).toBe(true);
    // Twenty a second are forgotten, and a busy machine takes many seconds.
    const forgotten = (20 * (performance.now() - beganMs)) / 1_000;
    expect(started()).toBeLessThan(300 + forgotten);
  });

  it('may give up some requests, and all that are answered', async () => {
    const { port, started } = await start();
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    for (let round = 0; round < 300; round++) {
      const stream = session.request({ ':path': round % 10 === 0 ? '/wait' : '/whole' });
      if (round % 10 === 0) {
        await expect.poll(started, { interval: 1 }).toBe(round + 1);
        stream.close(8);
      } else for await (const bytes of stream) expect(String(bytes)).toBe('whole');
    }
    expect(session.destroyed).toBe(false);
    session.destroy();
  });

  it('gets no handler for headers that are too long', async () => {
    const { port, started } = await start();
    const connection = open(port);
    const fields = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`x-${index}`, 'a'.repeat(1_000)]),
    );
    const block = requestFrame(1, '/whole', { fields });
    const first = block.subarray(9, 9 + 16_000);
    connection.socket.write(frame('headers', flags.endStream, 1, first));
    connection.socket.write(
      frame('continuation', flags.endHeaders, 1, block.subarray(9 + first.length)),
    );
    await expect.poll(() => has(connection, types.headers, 1)).toBe(true);
    expect(started()).toBe(0);
  });

  it('has a quarter of all streams, over all its sessions', async () => {
    const bounds = { connections: 100, http2Sessions: 100, http2Streams: 40 };
    const { port, started } = await start({}, bounds);
    const connections = [open(port), open(port), open(port)];
    for (const [index, connection] of connections.entries()) {
      for (let stream = 1; stream < 10; stream += 2) {
        connection.socket.write(requestFrame(stream, '/wait'));
      }
      const refused = () => connection.frames().filter(({ type }) => type === types.rstStream);
      if (index < 2) await expect.poll(started).toBe(5 * (index + 1));
      else await expect.poll(refused).toHaveLength(5);
    }
    expect(started()).toBe(10);
    connections[0]?.socket.destroy();
    let next = 11;
    await expect
      .poll(() => {
        connections[2]?.socket.write(requestFrame(next, '/wait'));
        next += 2;
        return started();
      })
      .toBeGreaterThan(10);
  });

  it('finds no room beyond the bound of sessions', async () => {
    const { port } = await start({}, { connections: 100, http2Sessions: 8, http2Streams: 100 });
    // One address has a quarter of them.
    const served = [open(port), open(port)];
    for (const connection of served) {
      connection.socket.write(requestFrame(1, '/whole'));
      await expect.poll(() => bytesOf(connection, 1)).toBe('whole'.length);
    }
    await open(port).closed;
    served[0]?.socket.destroy();
    await served[0]?.closed;
    await expect
      .poll(async () => {
        const next = open(port);
        next.socket.write(requestFrame(1, '/whole'));
        // One that waits for its answer holds its place: the next one would find none.
        let isClosed = false;
        void next.closed.then(() => {
          isClosed = true;
        });
        await expect.poll(() => isClosed || bytesOf(next, 1) === 'whole'.length).toBe(true);
        return bytesOf(next, 1);
      })
      .toBe('whole'.length);
  });
});

describe('a sender that was cut off', () => {
  /** Requests that are given up at once, until the session ends. */
  async function attack(connection: BareHttp2, requests = 1_000): Promise<void> {
    for (let number = 0; number < requests; number++) {
      const stream = 2 * number + 1;
      connection.socket.write(Buffer.concat([requestFrame(stream, '/wait'), resetFrame(stream)]));
    }
    await connection.closed;
  }
  async function isServed(port: number): Promise<boolean> {
    const connection = open(port);
    connection.socket.write(requestFrame(1, '/whole'));
    const answered = expect.poll(() => bytesOf(connection, 1)).toBe('whole'.length);
    await Promise.race([answered, connection.closed]);
    return bytesOf(connection, 1) > 0;
  }
  const bounds = { connections: 100, http2Sessions: 100, http2Streams: 1_000 };

  it('for resets waits before it has another session, and HTTP/1.1 does not', async () => {
    const { port, refused, started } = await start({}, bounds, { cutOffWaitMs: never });
    await attack(open(port));
    const before = started();
    expect(await isServed(port)).toBe(false);
    expect(started()).toBe(before);
    expect(refused()).toBe(1);
    const response = await fetch(`http://127.0.0.1:${port}/whole`);
    expect(await response.text()).toBe('whole');
  });

  it('for streams that it may not open waits, too', async () => {
    const { port } = await start({}, bounds, { cutOffWaitMs: never });
    const connection = open(port);
    for (let number = 0; number < 10_000; number++) {
      connection.socket.write(requestFrame(2 * number + 1, '/wait', { body: true }));
    }
    await connection.closed;
    expect(await isServed(port)).toBe(false);
  });

  it.each([
    ['pings whose answers it does not read', () => frame('ping', 0, 0, Buffer.alloc(8))],
    ['headers that go on', (turn: number) => headersThatGoOn(turn)],
  ])('for %s waits, too', async (_name, flood) => {
    const { port, refused } = await start({}, bounds, { cutOffWaitMs: never });
    const { socket, closed } = open(port);
    socket.pause();
    let isClosed = false;
    void closed.then(() => (isClosed = true));
    for (let turn = 0; !isClosed && turn < 3_000; turn++) {
      const frames = Array.from({ length: 100 }, (_, index) => flood(100 * turn + index));
      await new Promise((resolve) => socket.write(Buffer.concat(frames), resolve));
    }
    socket.resume();
    await closed;
    expect(await isServed(port)).toBe(false);
    expect(refused()).toBe(1);
  });

  it('is served again after its time', async () => {
    const { port } = await start({}, bounds, { cutOffWaitMs: 50 });
    await attack(open(port));
    await expect.poll(() => isServed(port)).toBe(true);
  });

  it('goes on with its other sessions, but not with the attack', async () => {
    const { port, started } = await start({}, bounds, { cutOffWaitMs: never });
    const others = Array.from({ length: 5 }, () => open(port));
    for (const [index, { socket }] of others.entries()) {
      socket.write(requestFrame(10_001, '/whole'));
      await expect.poll(started).toBe(index + 1);
    }
    await attack(open(port));
    const [first, ...rest] = others;
    first?.socket.write(requestFrame(10_003, '/whole'));
    await expect.poll(() => first && bytesOf(first, 10_003)).toBe('whole'.length);
    const before = started();
    for (const { socket, closed } of rest) {
      for (let stream = 10_003; stream < 10_203; stream += 2) {
        socket.write(Buffer.concat([requestFrame(stream, '/wait'), resetFrame(stream)]));
      }
      await closed;
    }
    expect(started() - before).toBeLessThanOrEqual(4 * 20);
  });

  it('is a trusted proxy, and loses the session alone: it brings others, too', async () => {
    const isProxy = (address: string | undefined) => address === '127.0.0.1';
    const { port } = await start({}, bounds, { cutOffWaitMs: never, isProxy });
    await attack(open(port));
    expect(await isServed(port)).toBe(true);
  });

  it('has given up a few requests only: it does not wait', async () => {
    const { port, started } = await start({}, bounds, { cutOffWaitMs: never });
    const connection = open(port);
    for (let stream = 1; stream < 160; stream += 2) {
      connection.socket.write(Buffer.concat([requestFrame(stream, '/wait'), resetFrame(stream)]));
    }
    connection.socket.write(requestFrame(1_001, '/whole'));
    await expect.poll(() => bytesOf(connection, 1_001)).toBe('whole'.length);
    expect(started()).toBeGreaterThan(0);
    expect(await isServed(port)).toBe(true);
  });
});

describe('a server that closes', () => {
  it('lets a long stream end, and closes the session behind it', async () => {
    const { port, server, running } = await start();
    const connection = open(port);
    connection.socket.write(requestFrame(1, '/wait'));
    await expect.poll(() => running.size).toBe(1);
    const closed = server.close(60_000);
    await expect.poll(() => has(connection, types.goaway)).toBe(true);
    for (const response of running) response.end('late');
    await Promise.all([closed, connection.closed]);
    expect(bytesOf(connection, 1)).toBe('late'.length);
  });

  it('waits no longer than it was told', async () => {
    const { port, server, running } = await start();
    const connection = open(port);
    connection.socket.write(requestFrame(1, '/wait'));
    await expect.poll(() => running.size).toBe(1);
    await Promise.all([server.close(50), connection.closed]);
  });
});

it('does not end a stream for its age', async () => {
  // A busy machine may take a while to open the first stream.
  const short = 500;
  const times = { requestMs: short, headersMs: short, keepAliveMs: short, stallMs: short };
  const { port, running } = await start(times);
  const connection = open(port);
  connection.socket.write(requestFrame(1, '/wait'));
  await expect.poll(() => running.size).toBe(1);
  const ages = 5;
  for (let age = 1; age <= ages; age++) {
    await new Promise((resolve) => setTimeout(resolve, short));
    for (const response of running) response.write('x');
  }
  await expect.poll(() => bytesOf(connection, 1)).toBe(ages);
  expect(running.size).toBe(1);
});

function headersThatGoOn(turn: number): Buffer {
  return turn === 0
    ? frame('headers', 0, 1, headerBlock({ ':method': 'POST' }))
    : frame('continuation', 0, 1, headerBlock({ a: 'b' }));
}

function emptyBody(stream: number): Buffer {
  return frame('data', flags.endStream, stream);
}
