// The end of a server: requests that were read are answered, and all that come after learn that it ends, over every
// way in, until the process is gone.

import { connect as connectHttp2 } from 'node:http2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Dialled, dial as dialPort } from '../../test/harness/clients/dial.ts';
import { type HttpServer, startHttp } from './http.ts';

let server: HttpServer;
let connections: Dialled[];
/** Lets the requests that wait be answered. */
let open: () => void;
let running: number;

beforeEach(async () => {
  connections = [];
  running = 0;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  server = await startHttp({
    host: '127.0.0.1',
    port: 0,
    plainRequestRoute: ({ path }) => {
      if (!path.startsWith('/plain')) return undefined;
      const answer = async () => {
        running++;
        if (path === '/plain/wait') await gate;
        return { status: 200, headers: { 'content-length': 2 }, body: 'ok' };
      };
      return { holder: 'a key', answer };
    },
    nodeHttpRoutes: [
      (request, response, { path }) => {
        running++;
        const answer = () => void response.end('ok');
        request.resume().once('end', () => {
          if (path === '/wait') void gate.then(answer);
          else answer();
        });
        return true;
      },
    ],
    connect: { routes: () => {} },
    serviceAliases: new Map(),
  });
});
afterEach(async () => {
  open();
  await server.close(0);
});

function dial(): Dialled {
  const dialled = dialPort(server.port);
  connections.push(dialled);
  return dialled;
}

const post = (path: string, headers = ''): string =>
  `POST ${path} HTTP/1.1\r\nhost: a\r\n${headers}content-length: 1\r\n\r\nx`;

const answered = (status: number, body: string) =>
  new RegExp(`HTTP/1.1 ${status} [\\s\\S]*connection: close\\r\\n[^]*${body}$`, 'i');

/** A drain reads for two turns of the loop what has arrived. */
async function hasBegun(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
}

/** A connection that has had an answer and is kept. */
async function kept(path: string): Promise<Dialled> {
  const dialled = dial();
  dialled.socket.write(post(path));
  await expect.poll(dialled.received).toMatch(/ok$/);
  return dialled;
}

describe.each(['/plain', ''])('HTTP/1.1 at %s/', (start) => {
  it('answers what was read, and tells a kept connection to come again', async () => {
    const [idle, another] = [await kept(`${start}/`), await kept(`${start}/`)];
    const busy = dial();
    busy.socket.write(post(`${start}/wait`));
    await expect.poll(() => running).toBe(3);
    let isDrained = false;
    const drained = server.drain(60_000).then(() => {
      isDrained = true;
    });
    await hasBegun();
    idle.socket.write(post(`${start}/`));
    await idle.closed;
    expect(idle.received()).toMatch(answered(503, 'ending\n'));
    expect(idle.received()).toMatch(/retry-after: 1\r\n/i);
    expect([isDrained, busy.received()]).toEqual([false, '']);
    open();
    await Promise.all([drained, busy.closed]);
    expect(busy.received()).toMatch(answered(200, 'ok'));
    // Also once it has drained: the rest of the process still ends.
    another.socket.write(post(`${start}/`));
    await another.closed;
    expect(another.received()).toMatch(answered(503, 'ending\n'));
    expect(running).toBe(3);
  });

  it('answers a request whose body comes after the drain has begun', async () => {
    const busy = dial();
    const request = post(`${start}/`);
    busy.socket.write(request.slice(0, -1));
    // The server has read it once it answers a later request.
    await kept(`${start}/`);
    const drained = server.drain(60_000);
    await hasBegun();
    busy.socket.write('x');
    await Promise.all([drained, busy.closed]);
    expect(busy.received()).toMatch(answered(200, 'ok'));
  });

  it('reads what has arrived when the drain begins', async () => {
    const connection = await kept(`${start}/`);
    const before = running;
    const written = new Promise((resolve) => connection.socket.write(post(`${start}/`), resolve));
    await written.then(() => server.drain(60_000));
    await expect.poll(connection.received).toMatch(/ok.*ok$/s);
    expect(running).toBe(before + 1);
  });
});

it('waits for the first request of a connection that was just opened', async () => {
  const opened = dial();
  // The server has taken it once it answers a later one.
  await kept('/');
  let isDrained = false;
  const drained = server.drain(60_000).then(() => {
    isDrained = true;
  });
  await hasBegun();
  expect(isDrained).toBe(false);
  opened.socket.write(post('/plain/'));
  await Promise.all([drained, opened.closed]);
  expect(opened.received()).toMatch(answered(503, 'ending\n'));
});

it('ends what is not answered in time', async () => {
  const busy = dial();
  busy.socket.write(post('/plain/wait'));
  const other = dial();
  other.socket.write(post('/wait'));
  await expect.poll(() => running).toBe(2);
  await Promise.all([server.drain(50), busy.closed, other.closed]);
  expect(busy.received() + other.received()).toBe('');
});

it('lets a stream of HTTP/2 end, and takes no other in its session', async () => {
  const session = connectHttp2(`http://127.0.0.1:${server.port}`);
  const goodbye = new Promise((resolve) => session.once('goaway', resolve));
  const stream = session.request({ ':path': '/wait', ':method': 'POST' });
  stream.end('x');
  await expect.poll(() => running).toBe(1);
  const drained = server.drain(60_000);
  await goodbye;
  open();
  let text = '';
  for await (const bytes of stream) text += String(bytes);
  expect(text).toBe('ok');
  await drained;
});

describe('while it ends, a new connection', () => {
  async function ask(text: string): Promise<string> {
    const connection = dial();
    connection.socket.write(text);
    await connection.closed;
    return connection.received();
  }

  it('is told so once its body is read, and that the process lives', async () => {
    await server.drain(0);
    const slow = dial();
    slow.socket.write(post('/plain').slice(0, -1));
    expect(await ask(post('/plain'))).toMatch(answered(503, 'ending\n'));
    expect(slow.received()).toBe('');
    slow.socket.write('x');
    await slow.closed;
    expect(slow.received()).toMatch(answered(503, 'ending\n'));
    expect(await ask(post('/healthz'))).toMatch(answered(200, 'ok\n'));
    const session = connectHttp2(`http://127.0.0.1:${server.port}`);
    const stream = session.request({ ':path': '/plain', ':method': 'POST' });
    stream.end('x');
    const status = await new Promise((resolve) =>
      stream.once('response', (headers) => resolve(headers[':status'])),
    );
    expect(status).toBe(503);
    session.destroy();
  });

  it('of a page may read that it has to come again', async () => {
    await server.drain(0);
    const origin = 'origin: https://shop.example\r\n';
    const allowed = /access-control-allow-origin: https:\/\/shop\.example\r\n/i;
    const asked =
      'access-control-request-method: POST\r\naccess-control-request-headers: x-api-key\r\n';
    const preflight = await ask(`OPTIONS /plain HTTP/1.1\r\nhost: a\r\n${origin}${asked}\r\n`);
    expect(preflight).toMatch(/^HTTP\/1.1 204 /);
    expect(preflight).toMatch(allowed);
    expect(preflight).toMatch(/access-control-allow-headers: x-api-key\r\n/i);
    const refused = await ask(post('/plain', origin));
    expect(refused).toMatch(answered(503, 'ending\n'));
    expect(refused).toMatch(allowed);
  });
});
