// The web app over real HTTP/1.1 and HTTP/2: what a browser gets, and what everybody else still gets.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as requestHttp1 } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpServer, startHttp } from '../http.ts';
import { frontPage } from './front-page.ts';
import { createWebPages } from './web-pages.ts';

const folder = mkdtempSync(join(tmpdir(), 'millrace-pages-'));
const web = join(folder, 'web');
const originsOf = new Map([['shr_framed', ['https://a.example', 'http://localhost:3000']]]);
let server: HttpServer;
beforeAll(async () => {
  mkdirSync(join(web, 'assets'), { recursive: true });
  const files = {
    'index.html': 'the page',
    'index.html.br': 'page, br',
    'index.html.gz': 'page, gzip',
    '.stamp': 'secret',
    'assets/main-B1.js': 'script',
    'assets/main-B1.js.br': 'script, br',
    'assets/main-B1.js.gz': 'script, gzip',
    'assets/main-C2.css': 'style',
    'assets/mark-D3.svg': '<svg/>',
    'assets/world-E4.json': '{}',
    '../outside.js': 'secret',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(web, name), text);
  const pages = createWebPages(web, (token) => originsOf.get(token) ?? []);
  if (pages === undefined) throw new Error('no pages');
  server = await startHttp({
    host: '127.0.0.1',
    port: 0,
    nodeHttpRoutes: [pages, frontPage],
    connect: { routes: () => {} },
    serviceAliases: new Map(),
  });
});
afterAll(async () => {
  await server?.close(0);
  rmSync(folder, { recursive: true, force: true });
});

interface Reply {
  status: number;
  headers: Record<string, unknown>;
  body: string;
}

/** Neither way normalizes the path or unpacks the body. */
type Ask = (path: string, headers?: Record<string, string>, method?: string) => Promise<Reply>;

const overHttp1: Ask = (path, headers = {}, method = 'GET') =>
  new Promise((resolve, reject) => {
    const options = { port: server.port, path, headers, method, agent: false } as const;
    const request = requestHttp1(options, async (response) => {
      let body = '';
      for await (const bytes of response) body += String(bytes);
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
    });
    request.once('error', reject).end();
  });

const overHttp2: Ask = async (path, headers = {}, method = 'GET') => {
  const session = connectHttp2(`http://127.0.0.1:${server.port}`);
  const stream = session.request({ ':path': path, ':method': method, ...headers });
  const replied = new Promise<Record<string, unknown>>((resolve, reject) => {
    stream.once('response', resolve).once('error', reject);
  });
  let body = '';
  for await (const bytes of stream) body += String(bytes);
  session.close();
  const fields = await replied;
  return { status: Number(fields[':status']), headers: fields, body };
};

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
  "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'; trusted-types 'none'";

describe.each([
  ['HTTP/1.1', overHttp1],
  ['HTTP/2', overHttp2],
] as const)('over %s', (_name, ask) => {
  it.each([
    ...['/', '/p/0123/live?wall=1', '/p/0123/profiles/a%2Eb', '/sign-in', '/invitation?token=x.y'],
    ...['/s/abc_-', '/open', '/assets/', '/healthy'],
  ])('a browser gets the page at %s', async (path) => {
    const { status, headers, body } = await ask(path, browser);
    expect([status, body]).toEqual([200, 'the page']);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
      vary: 'accept, accept-encoding',
    });
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });

  it.each(['/s/shr_framed', '/s/shr_framed/', '/s/shr_framed?theme=dark'])(
    'the page at %s may be in frames of its origins, and no browser keeps it',
    async (path) => {
      const plain = await ask('/', browser);
      const known = { ...browser, 'if-none-match': String(plain.headers['etag']) };
      const { status, headers, body } = await ask(path, known);
      expect([status, body]).toEqual([200, 'the page']);
      const ancestors = 'frame-ancestors https://a.example http://localhost:3000;';
      expect(headers).toMatchObject({
        'content-security-policy': policy.replace("frame-ancestors 'none';", ancestors),
        'cross-origin-resource-policy': 'cross-origin',
        'cache-control': 'no-store',
      });
      expect(headers['x-frame-options']).toBeUndefined();
    },
  );

  it('all other pages are in no frame, and an unknown token is answered as one without origins', async () => {
    const paths = ['/s/shr_other', '/s/shr_framed/more', '/s', '/p/shr_framed', '/r/shr_framed'];
    const answers = await Promise.all(paths.map((path) => ask(path, browser)));
    for (const { headers } of answers) expect(headers['content-security-policy']).toBe(policy);
    const [unknown, none] = await Promise.all(
      ['/s/shr_unknown', '/s/shr_none'].map((path) => ask(path, browser)),
    );
    const { date: _, ...headers } = unknown?.headers ?? {};
    expect(none).toMatchObject({ status: 200, body: unknown?.body, headers });
  });

  it('asks again for the page each time, and is told that it has it', async () => {
    const { headers } = await ask('/', browser);
    const known = { ...browser, 'if-none-match': String(headers['etag']) };
    const again = await ask('/p/0123', known);
    expect([again.status, again.body]).toEqual([304, '']);
    expect(again.headers['content-security-policy']).toBe(policy);
    expect((await ask('/', { ...browser, 'if-none-match': '"other"' })).status).toBe(200);
  });

  it.each([
    ['/assets/main-B1.js', 'text/javascript; charset=utf-8', 'script'],
    ['/assets/main-C2.css', 'text/css; charset=utf-8', 'style'],
    ['/assets/mark-D3.svg', 'image/svg+xml', '<svg/>'],
    ['/assets/world-E4.json', 'application/json', '{}'],
  ])('%s may be kept for a year', async (path, type, text) => {
    const { status, headers, body } = await ask(path, { accept: '*/*' });
    expect([status, body]).toEqual([200, text]);
    expect(headers).toMatchObject({
      'content-type': type,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
    });
    const known = await ask(path, { 'if-none-match': String(headers['etag']) });
    expect([known.status, known.body]).toEqual([304, '']);
  });

  it.each([
    ['br', 'gzip, deflate, br', 'script, br'],
    ['gzip', 'gzip', 'script, gzip'],
    ['gzip', 'br;q=0, gzip', 'script, gzip'],
    [undefined, 'zstd', 'script'],
  ])('an asset comes as %s to a browser that takes %j', async (packing, accepted, text) => {
    const { headers, body } = await ask('/assets/main-B1.js', { 'accept-encoding': accepted });
    expect([headers['content-encoding'], body]).toEqual([packing, text]);
  });

  it('a file without packed forms comes as it lies', async () => {
    const { headers, body } = await ask('/assets/main-C2.css', { 'accept-encoding': 'br, gzip' });
    expect([headers['content-encoding'], body]).toEqual([undefined, 'style']);
  });

  it('HEAD has the length of what GET would send', async () => {
    for (const path of ['/', '/assets/main-B1.js']) {
      const accepting = { ...browser, 'accept-encoding': 'br' };
      const { body } = await ask(path, accepting);
      const head = await ask(path, accepting, 'HEAD');
      expect([head.status, head.body]).toEqual([200, '']);
      expect(head.headers).toMatchObject({
        'content-length': String(body.length),
        'content-encoding': 'br',
      });
    }
  });

  it('a client that is no browser gets text at the address, and the envelope elsewhere', async () => {
    const front = await ask('/', { accept: '*/*' });
    expect(front.headers['content-type']).toBe('text/plain; charset=utf-8');
    for (const path of ['/p/0123', '/track', '/sign-in']) {
      const { status, body } = await ask(path, { accept: 'application/json' });
      expect([status, JSON.parse(body).code]).toEqual([404, 'unimplemented']);
    }
  });

  it.each([
    ['GET', '/sdk.events.v1.EventsService/BatchCreat'],
    ['GET', '/v1/organizations/o/webhook'],
    ['GET', '/v1'],
    ['GET', '/openapi.jso'],
    ['GET', '/favicon.ico'],
    ['GET', '/assets/main-0000.js'],
    ['GET', '/assets/main-B1.js.br'],
    ['POST', '/sign-in'],
    ['POST', '/assets/main-B1.js'],
  ])('%s %s is no page, even for a browser', async (method, path) => {
    const { status, body } = await ask(path, browser, method);
    expect([status, JSON.parse(body).code]).toEqual([404, 'unimplemented']);
  });

  it.each([
    '/assets/../.stamp',
    '/.stamp',
    '/assets/../../outside.js',
    '/assets/..%2f..%2foutside.js',
    '/assets/%2e%2e/%2e%2e/outside.js',
    '/assets//main-B1.js/../../../outside.js',
    '/assets/..\\..\\outside.js',
  ])('no path leads to another file: %s', async (path) => {
    for (const headers of [browser, {}]) {
      const { status, body } = await ask(path, headers);
      expect(body).not.toContain('secret');
      expect(status).toBe(404);
    }
  });
});

it('is absent where the web app was not built', () => {
  expect(createWebPages(join(folder, 'nothing'))).toBeUndefined();
});

it('does not hold a build that is much too large', () => {
  const large = join(folder, 'large');
  mkdirSync(join(large, 'assets'), { recursive: true });
  writeFileSync(join(large, 'index.html'), '');
  writeFileSync(join(large, 'assets', 'a.js.map'), Buffer.alloc(8 * 1_024 * 1_024 + 1));
  expect(() => createWebPages(large)).toThrow(/more than 8388608 bytes/);
});
