import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpServer, startHttp } from '../http.ts';
import { createScriptPage } from './script-page.ts';

const folder = mkdtempSync(join(tmpdir(), 'millrace-script-'));
let server: HttpServer;
beforeAll(async () => {
  const file = join(folder, 'millrace.js');
  for (const [ending, text] of [
    ['', 'as it lies'],
    ['.gz', 'gzip'],
    ['.br', 'brotli'],
  ]) {
    writeFileSync(file + ending, text ?? '');
  }
  server = await startHttp({
    host: '127.0.0.1',
    port: 0,
    nodeHttpRoutes: [createScriptPage(file, ['/millrace.js', '/static/a.js'])],
    connect: { routes: () => {} },
    serviceAliases: new Map(),
  });
});
afterAll(async () => {
  await server?.close(0);
  rmSync(folder, { recursive: true, force: true });
});

/** Without a client's own handling of packed bodies. */
async function ask(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { host: '127.0.0.1', port: server.port, path, headers, method };
    httpRequest(options, resolve).once('error', reject).end();
  });
  let body = '';
  for await (const bytes of answer) body += String(bytes);
  return { status: answer.statusCode, headers: answer.headers, body };
}

const versioned = async () => String((await ask('/millrace.js')).headers['content-location']);

describe('the script', () => {
  it('is for pages of every origin, and for an hour', async () => {
    const { status, headers, body } = await ask('/millrace.js');
    expect([status, body]).toEqual([200, 'as it lies']);
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'public, max-age=3600, stale-while-revalidate=86400',
      'content-length': '10',
      vary: 'accept-encoding',
    });
    expect((await ask('/static/a.js?v=1')).body).toBe('as it lies');
  });

  it('has a name for its content, which is kept for ever; another content has none', async () => {
    const path = await versioned();
    expect(path).toMatch(/^\/millrace-[0-9a-f]{12}\.js$/);
    const { status, headers } = await ask(path);
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(headers['content-location']).toBeUndefined();
    expect((await ask('/millrace-000000000000.js')).status).toBe(404);
  });

  it.each([
    ['br', 'gzip, deflate, br, zstd', 'brotli'],
    ['gzip', 'gzip, deflate', 'gzip'],
    ['gzip', 'br;q=0, GZIP;q=0.5', 'gzip'],
    [undefined, 'br; q=0.000, zstd', 'as it lies'],
    [undefined, '', 'as it lies'],
  ])('comes as %s to a browser that takes %j', async (packing, accepted, text) => {
    const { headers, body } = await ask('/millrace.js', { 'accept-encoding': accepted });
    expect([headers['content-encoding'], body]).toEqual([packing, text]);
  });

  it('is not sent again to a browser that has it, nor to one that asks for the head', async () => {
    const { headers } = await ask('/millrace.js');
    const etag = String(headers.etag);
    for (const known of [etag, `"other", ${etag}`, etag.replace('W/', '')]) {
      const again = await ask('/millrace.js', { 'if-none-match': known });
      expect([again.status, again.body, again.headers.etag]).toEqual([304, '', etag]);
    }
    expect((await ask('/millrace.js', { 'if-none-match': '"other"' })).status).toBe(200);
    const head = await ask('/millrace.js', {}, 'HEAD');
    expect([head.status, head.headers['content-length'], head.body]).toEqual([200, '10', '']);
  });

  it('is only read', async () => {
    expect((await ask('/millrace.js', {}, 'POST')).status).toBe(404);
  });
});
