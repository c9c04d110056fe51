// How exports are refused and how they end: a body that looks whole is whole.

import { afterEach, describe, expect, it } from 'vitest';
import type { Authentication } from '../../platform/access/authenticate.ts';
import { oneGroup } from '../../platform/clickhouse/groups.ts';
import type { ResultReader, RowReader } from '../../platform/clickhouse/select-rows.ts';
import { type HttpServer, startHttp } from '../../platform/http/http.ts';
import { createLog } from '../../platform/log.ts';
import { eventually } from '../../test/harness/clients/client.ts';
import { createExportRoute } from './export-route.ts';

const servers: HttpServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close(0);
});

type Store = RowReader & ResultReader;

/** Serves what `stream` answers; `access` says who may. */
async function serve(
  stream: Store['stream'],
  access: () => Authentication = () => granted('prj'),
): Promise<string> {
  const route = createExportRoute({
    clickhouse: oneGroup({ select: async () => {}, stream }),
    authenticate: access,
    completeUntilMs: async () => undefined,
    ownerOf: () => 'owner',
    log: createLog('silent'),
  });
  const server = await startHttp({
    ...{ host: '127.0.0.1', port: 0, nodeHttpRoutes: [route], serviceAliases: new Map() },
    connect: { routes: () => {} },
  });
  servers.push(server);
  return `http://127.0.0.1:${server.port}/export`;
}

function granted(projectId: string): Authentication {
  const principal = { projectId, keyId: 'key', credential: 'private' as const };
  return { kind: 'ok', principal: { ...principal, organizationId: 'org' } };
}

const chunk = Buffer.alloc(100_000, 'a');

async function* whole(): AsyncGenerator<Buffer, void, undefined> {
  yield chunk;
}

async function* broken(): AsyncGenerator<Buffer, void, undefined> {
  yield chunk;
  yield chunk;
  throw new Error('the engine died');
}

describe('a failure in the middle', () => {
  it.each(['none', 'gzip'])('breaks the connection off, packed by %s', async (compression) => {
    const url = await serve(broken);
    const response = await fetch(`${url}?compression=${compression}`);
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow();
  });

  it('is an answer of its own where nothing was sent yet', async () => {
    // biome-ignore lint/correctness/useYield: a stream whose first read fails
    const url = await serve(async function* () {
      throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    });
    const response = await fetch(url);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await response.json()).toMatchObject({ code: 'unavailable' });
  });

  it('is the end of its credential, too', async () => {
    let access: () => Authentication = () => granted('prj');
    let ended = false;
    async function* slow(): AsyncGenerator<Buffer, void, undefined> {
      try {
        for (;;) {
          yield chunk;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      } finally {
        ended = true;
      }
    }
    const url = await serve(slow, () => access());
    const response = await fetch(url);
    const body = response.arrayBuffer();
    access = () => ({ kind: 'refused', code: 'unauthenticated', message: 'revoked' });
    await expect(body).rejects.toThrow();
    await eventually(async () => ended, Boolean);
  });
});

describe('a reader that leaves', () => {
  it('ends the statement, and gives its place to others', async () => {
    let signal: AbortSignal | undefined;
    const url = await serve(async function* (select) {
      signal = select.signal;
      for (;;) yield chunk;
    });
    const leaving = new AbortController();
    const response = await fetch(url, { signal: leaving.signal });
    expect(response.status).toBe(200);
    const second = await fetch(url);
    expect(second.status).toBe(429);
    expect(second.headers.get('retry-after')).toBe('30');
    expect(await second.json()).toEqual({
      ...{ code: 'resource_exhausted', message: 'too many exports of this project are open' },
    });
    leaving.abort();
    await eventually(async () => signal?.aborted, Boolean);
    const third = await eventually(
      () => fetch(url),
      ({ status }) => status === 200,
    );
    await third.body?.cancel();
  });
});

describe('a request', () => {
  it.each([
    ['what=rows', 'what: must be one of events, profiles, activity'],
    ['format=xml', 'format: must be one of ndjson, csv, parquet, arrow'],
    ['format=csv&compression=zstd', 'compression: must be one of none, gzip'],
    ['columns=wide', 'columns: must be one of maps, flat'],
    ['from=yesterday', 'from: must be a day in UTC (2026-03-01) or a moment with its offset'],
    ['from=2026-03-02&to=2026-03-01', 'from: must not be after to'],
    ['filters=plan', 'filters: must be a JSON list of filters as ActivityService.List has'],
    ['filters=[{"property":""}]', 'filters[0].property: '],
    ['what=profiles&kinds=a', 'kinds: is for events'],
    ['what=activity&columns=flat', 'columns: flat is for events and profiles'],
    ['kinds=a,', 'kinds[1]: must not be empty'],
    ['page=2', 'page: is no parameter: there are what, project, from, to'],
    ['format=csv&format=csv', 'format: is given twice'],
    ['session_id=5', 'sessionId: must be a UUID'],
  ])('%s is refused', async (query, message) => {
    const response = await fetch(`${await serve(whole)}?${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      code: 'invalid_argument',
      message: expect.stringContaining(message),
    });
  });

  it('without a credential is refused before anything else of it', async () => {
    const url = await serve(whole, () => {
      return { kind: 'refused', code: 'unauthenticated', message: 'the API key is not valid' };
    });
    const response = await fetch(`${url}?format=xml`);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('takes GET alone', async () => {
    const response = await fetch(await serve(whole), { method: 'POST', body: 'a' });
    expect(response.status).toBe(501);
    expect(response.headers.get('allow')).toBe('GET');
  });
});
