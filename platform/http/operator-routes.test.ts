// The operator's pages over real HTTP/1.1 and HTTP/2: open ones in a word, detailed ones with the token only, and
// dependencies that a flood of calls does not reach.

import { request as requestHttp1 } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { dial } from '../../test/harness/clients/dial.ts';
import { root } from '../../test/harness/source-tree.ts';
import { createOnlyThisMachine } from '../access/only-this-machine.ts';
import { type HttpServer, startHttp } from './http.ts';
import { createOperatorRoutes } from './operator-routes.ts';
import { shareReadiness } from './readiness.ts';

const token = 'sixteen-or-more-characters';
const opened: HttpServer[] = [];

afterEach(async () => {
  for (const server of opened.splice(0)) await server.close(0);
});

interface Pages {
  /** Whether the operator says that others reach the service. */
  facesOthers: boolean;
  hasToken?: boolean;
  hasDetails?: boolean;
  broker?: () => Promise<boolean> | boolean;
  shareMs?: number;
}

async function start(pages: Pages): Promise<number> {
  const { facesOthers, hasToken = true, hasDetails = true, broker = () => true } = pages;
  const route = createOperatorRoutes({
    readiness: shareReadiness([{ name: 'broker', check: broker }], pages.shareMs),
    detailed: hasDetails
      ? {
          metrics: { contentType: 'text/plain', metrics: async () => 'events_total 7\n' },
          token: hasToken ? token : undefined,
          onlyThisMachine: createOnlyThisMachine({ host: '127.0.0.1', facesOthers }),
        }
      : undefined,
    descriptorsFile: join(root, 'proto', 'descriptors.binpb'),
  });
  const server = await startHttp({
    host: '127.0.0.1',
    port: 0,
    nodeHttpRoutes: [route],
    connect: { routes: () => {} },
    serviceAliases: new Map(),
  });
  opened.push(server);
  return server.port;
}

interface Reply {
  status: number;
  headers: Record<string, unknown>;
  body: string;
}

type Send = (port: number, path: string, headers?: Record<string, string>) => Promise<Reply>;

const overHttp1: Send = (port, path, headers = {}) =>
  new Promise((resolve, reject) => {
    const request = requestHttp1({ port, path, headers, agent: false }, async (response) => {
      let body = '';
      for await (const bytes of response) body += String(bytes);
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
    });
    request.once('error', reject);
    request.end();
  });

const overHttp2: Send = async (port, path, headers = {}) => {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  const stream = session.request({ ':path': path, ...headers });
  const replied = new Promise<Record<string, unknown>>((resolve, reject) => {
    stream.once('response', resolve);
    stream.once('error', reject);
  });
  let body = '';
  for await (const bytes of stream) body += String(bytes);
  session.close();
  const fields = await replied;
  return { status: Number(fields[':status']), headers: fields, body };
};

const detailedPaths = ['/metrics', '/readyz?verbose', '/readyz?verbose=1&x'];
const secret = /events_total|broker/;

describe.each([
  ['HTTP/1.1', overHttp1],
  ['HTTP/2', overHttp2],
] as const)('over %s', (_name, send) => {
  it('the open pages answer one word', async () => {
    const port = await start({ facesOthers: true });
    expect(await send(port, '/healthz')).toMatchObject({ status: 200, body: 'ok\n' });
    expect(await send(port, '/readyz')).toMatchObject({ status: 200, body: 'ready\n' });
    expect((await send(port, '/descriptors.binpb')).body).not.toBe('');
  });

  it('says in one word that it is not ready, and names the cause to the operator', async () => {
    const broker = () => Promise.reject(new Error('frozen'));
    const port = await start({ facesOthers: true, broker });
    const unready = await send(port, '/readyz');
    expect(unready).toMatchObject({ status: 503, body: 'unready\n' });
    expect(unready.headers).toMatchObject({ 'retry-after': '1' });
    const verbose = await send(port, '/readyz?verbose', { authorization: `Bearer ${token}` });
    expect(verbose).toMatchObject({ status: 503, body: '{"broker":false}\n' });
  });

  it.each(detailedPaths)('%s asks everybody elsewhere for the token', async (path) => {
    const port = await start({ facesOthers: true });
    const wrong = ['', `Bearer ${token}x`, `Bearer ${token.slice(1)}`, `bearer ${token}`, token];
    for (const authorization of wrong) {
      const refused = await send(port, path, { authorization });
      expect(refused.status).toBe(401);
      expect(refused.headers['www-authenticate']).toMatch(/^Bearer /);
      expect(refused.body).toContain('MILLRACE_OPERATOR_TOKEN');
      expect(refused.body).not.toMatch(secret);
    }
    expect((await send(port, path)).status).toBe(401);
    const read = await send(port, path, { authorization: `Bearer ${token}` });
    expect(read).toMatchObject({ status: 200, body: expect.stringMatching(secret) });
  });

  it.each(detailedPaths)('%s is closed without a token, save to this machine', async (path) => {
    const facing = await start({ facesOthers: true, hasToken: false });
    for (const authorization of ['', 'Bearer ', 'Bearer undefined']) {
      expect((await send(facing, path, { authorization })).status).toBe(401);
    }
    const alone = await start({ facesOthers: false, hasToken: false });
    expect((await send(alone, path)).status).toBe(200);
    expect((await send(alone, path, { 'x-forwarded-for': '192.0.2.1' })).status).toBe(401);
  });

  it('has only the open pages where the others are on a port of their own', async () => {
    const port = await start({ facesOthers: false, hasDetails: false });
    for (const path of detailedPaths) {
      const refused = await send(port, path, { authorization: `Bearer ${token}` });
      expect(refused).toMatchObject({ status: 404, body: expect.not.stringMatching(secret) });
    }
    expect((await send(port, '/readyz')).status).toBe(200);
  });

  it('a flood of calls asks each dependency once', async () => {
    let asked = 0;
    let answer = (_isReady: boolean): void => {};
    const broker = () => {
      asked++;
      return new Promise<boolean>((resolve) => (answer = resolve));
    };
    const port = await start({ facesOthers: false, broker, shareMs: 3_600_000 });
    const early = Array.from({ length: 50 }, () => send(port, '/readyz'));
    // A page that waits for no dependency, on a connection opened later.
    await send(port, '/healthz');
    await expect.poll(() => asked).toBe(1);
    answer(true);
    expect((await Promise.all(early)).every(({ status }) => status === 200)).toBe(true);
    for (const path of ['/readyz', '/readyz?verbose']) {
      expect((await send(port, path)).status).toBe(200);
    }
    expect(asked).toBe(1);
  });
});

it('a dependency is asked again when its answer is old', async () => {
  let isReady = true;
  const readiness = shareReadiness([{ name: 'broker', check: () => isReady }], 1);
  expect(await readiness()).toEqual({ broker: true });
  isReady = false;
  await expect.poll(readiness).toEqual({ broker: false });
});

it.each(['/healthz', '/readyz', '/readyz?verbose', '/metrics', '/descriptors.binpb', '/nowhere'])(
  'HEAD %s has no body',
  async (path) => {
    for (const hasDetails of [true, false]) {
      const port = await start({ facesOthers: true, hasDetails });
      const { socket, received, closed } = dial(port);
      socket.write(`HEAD ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
      await closed;
      expect(received()).toMatch(/^HTTP\/1.1 \d{3} [\s\S]*\r\n\r\n$/);
      const session = connectHttp2(`http://127.0.0.1:${port}`);
      const stream = session.request({ ':path': path, ':method': 'HEAD' });
      let body = '';
      for await (const bytes of stream) body += String(bytes);
      expect(body).toBe('');
      expect(stream.rstCode).toBe(0);
      session.close();
    }
  },
);
