// Kept exports on a real engine, a real broker and a real disk, over HTTP: what the files hold, read back by DuckDB and
// by hyparquet, and how they come and go.

import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Code, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { DuckDBInstance } from '@duckdb/node-api';
import { tableFromIPC } from 'apache-arrow';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  checkAccessFirst,
  createAuthInterceptor,
  principalOf,
} from '../../platform/access/auth-interceptor.ts';
import type { Authenticate } from '../../platform/access/authenticate.ts';
import { connectBroker, type NatsConnection } from '../../platform/broker/nats.ts';
import { ensureTopology } from '../../platform/broker/topology.ts';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { oneGroup } from '../../platform/clickhouse/groups.ts';
import { type HttpServer, startHttp } from '../../platform/http/http.ts';
import { createLog } from '../../platform/log.ts';
import type { Mail } from '../../platform/mail/mail.ts';
import {
  type Export,
  ExportColumns,
  ExportCompression,
  ExportFormat,
  ExportState,
  ExportsService,
  ExportWhat,
} from '../../proto/gen/shared/exports/v1/exports_pb.js';
import { eventually } from '../../test/harness/clients/client.ts';
import { useBroker, useEngine } from '../../test/harness/servers/use-servers.ts';
import { storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../test/harness/tables/stored-profiles.ts';
import { type KeptExports, type KeptExportsOptions, openKeptExports } from './start.ts';

const dayMs = 86_400_000;
const startMs = Date.UTC(2026, 9, 10, 12);
const completeMs = Date.UTC(2026, 9, 20);
const engine = useEngine();
const broker = useBroker();
const log = createLog('silent');
const directory = mkdtempSync(join(tmpdir(), 'millrace-kept-'));
const dataDir = join(directory, 'data');
let nats: NatsConnection;
let clickhouse: DatabaseClient;
let duckdb: DuckDBInstance;
let server: HttpServer;
let kept: KeptExports;
let baseUrl = '';
let aheadMs = 0;
const mails: Mail[] = [];

const authenticate: Authenticate = (_, { apiKey = '' }) => {
  if (apiKey === '') return { kind: 'refused', code: 'unauthenticated', message: 'no key' };
  const [projectId = '', customerId] = apiKey.split(' ');
  const key = { projectId, keyId: apiKey, credential: 'private', organizationId: 'org' } as const;
  if (customerId === undefined) return { kind: 'ok', principal: key };
  const customer = { customerId, sessionId: 's', role: 'member' } as const;
  return { kind: 'ok', principal: { ...key, customer } };
};

async function open(options: Partial<KeptExportsOptions> = {}): Promise<void> {
  kept = await openKeptExports({
    ...{ nats, clickhouse: oneGroup(clickhouse), dataDir, reserveBytes: 0, authenticate, log },
    completeUntilMs: async () => completeMs,
    callerOf: principalOf,
    project: () => ({ organizationId: 'org', displayName: 'Shop' }),
    mail: {
      members: (_, ids) =>
        ids.map((customerId) => ({ customerId, email: `${customerId}@a.example` })),
      async send(_, mail) {
        mails.push(mail);
        return { kind: 'sent' };
      },
    },
    webhooks: { webhooksOf: () => [] },
    publicUrl: () => 'https://app.example.com',
    clock: { nowMs: () => Date.now() + aheadMs },
    partRows: 10,
    ...options,
  });
  server = await startHttp({
    ...{ host: '127.0.0.1', port: 0, nodeHttpRoutes: kept.routes, serviceAliases: new Map() },
    connect: {
      routes(router) {
        kept.register(router);
        checkAccessFirst(router, authenticate);
      },
      interceptors: [createAuthInterceptor(authenticate)],
    },
  });
  baseUrl = `http://127.0.0.1:${server.port}`;
}

async function close(): Promise<void> {
  await server.close(0);
  await kept.stop();
}

beforeAll(async () => {
  nats = await connectBroker(broker.url, log);
  await ensureTopology(nats, { eventsMaxBytes: 16 * 1_048_576, shards: 1 });
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 6 });
  duckdb = await DuckDBInstance.create(':memory:', { autoinstall_known_extensions: 'false' });
  await open();
});
beforeEach(() => {
  aheadMs = 0;
  mails.length = 0;
});
afterAll(async () => {
  await close();
  duckdb.closeSync();
  await clickhouse.close();
  await nats.close();
  rmSync(directory, { recursive: true });
});

const clientOf = (key: string) =>
  createClient(
    ExportsService,
    createConnectTransport({
      ...{ baseUrl, httpVersion: '1.1' },
      interceptors: [
        (next) => (request) => {
          request.header.set('x-api-key', key);
          return next(request);
        },
      ],
    }),
  );

type Query = Parameters<ReturnType<typeof clientOf>['create']>[0]['query'];
const events = { what: ExportWhat.EVENTS, format: ExportFormat.PARQUET };

async function make(key: string, query: Query = events): Promise<Export> {
  const asked = await clientOf(key).create({ query });
  return until(key, asked.export?.id ?? '', ({ state }) => state >= ExportState.READY);
}

async function until(key: string, id: string, isThere: (one: Export) => boolean): Promise<Export> {
  const got = await eventually(
    () => clientOf(key).get({ id }),
    ({ export: one }) => one !== undefined && isThere(one),
  );
  if (got.export === undefined) throw new Error('none');
  return got.export;
}

function fetchFile(key: string, path: string, headers: Record<string, string> = {}) {
  return fetch(`${baseUrl}/exports/${path}`, { headers: { 'x-api-key': key, ...headers } });
}

/** Paths of the parts on the disk, each held against its size and hash. */
async function filesOf(key: string, { id, parts }: Export): Promise<string[]> {
  return Promise.all(
    parts.map(async ({ name, bytes, sha256 }) => {
      const response = await fetchFile(key, `${id}/${name}`);
      const content = Buffer.from(await response.arrayBuffer());
      expect([response.status, BigInt(content.length)]).toEqual([200, bytes]);
      expect(createHash('sha256').update(content).digest('hex')).toBe(sha256);
      expect(response.headers.get('etag')).toBe(`"${sha256}"`);
      const path = join(directory, `${randomUUID()}-${name}`);
      writeFileSync(path, content);
      return path;
    }),
  );
}

async function read(sql: string): Promise<Record<string, unknown>[]> {
  const connection = await duckdb.connect();
  try {
    return (await connection.runAndReadAll(sql)).getRowObjectsJS();
  } finally {
    connection.closeSync();
  }
}

const newProject = (): string => `prj_${randomUUID()}`;

/** Rows of five days, seven a day. */
async function filledProject(rows = 35): Promise<string> {
  const projectId = newProject();
  const stored = Array.from({ length: rows }, (_, n) =>
    storedRow({
      projectId,
      occurTimeMs: startMs + Math.floor(n / 7) * dayMs + n,
      strings: { note: 'quote"\nline, and a comma', n: String(n) },
      ints: { n: BigInt(n) },
    }),
  );
  await storeRows(clickhouse, stored);
  return projectId;
}

describe('an export of events', () => {
  it('is cut by days into files that DuckDB and hyparquet read as one table', async () => {
    const key = await filledProject();
    const made = await make(key);
    expect(made).toMatchObject({ state: ExportState.READY, reason: '', rows: 35n, partCount: 5 });
    expect(made.parts.map(({ name, rows }) => [name, rows])).toEqual(
      [1, 2, 3, 4, 5].map((n) => [`events-000${n}.parquet`, 7n]),
    );
    const paths = await filesOf(key, made);
    const list = paths.map((path) => `'${path}'`).join(',');
    const numbers = `SELECT int_properties['n'] AS n FROM read_parquet([${list}]) ORDER BY n`;
    expect((await read(numbers)).map(({ n }) => Number(n))).toEqual([...Array(35).keys()]);
    const [day] = paths;
    const rows = await parquetReadObjects({
      ...{ file: await asyncBufferFromFile(day ?? ''), compressors },
    });
    expect(rows).toHaveLength(7);
  });

  it('has a manifest that tells its files, its rows, and until when it is complete', async () => {
    const key = await filledProject(8);
    const query = { ...events, kinds: ['page_view'], format: ExportFormat.NDJSON };
    const { id, parts } = await make(key, query);
    const response = await fetchFile(key, `${id}/manifest.json`);
    expect(response.headers.get('content-type')).toBe('application/json');
    const manifest = JSON.parse(await response.text());
    expect(manifest).toMatchObject({
      ...{ id, what: 'events', format: 'ndjson', compression: 'none', kinds: ['page_view'] },
      complete_until: new Date(completeMs).toISOString(),
      rows: 8,
      parts: parts.map(({ name, bytes, rows, sha256 }) => ({
        ...{ name, bytes: Number(bytes), rows: Number(rows), sha256 },
      })),
    });
    expect(manifest.schema).toContainEqual({ name: 'kind', type: 'LowCardinality(String)' });
    expect(manifest.schema).toContainEqual({ name: 'event_id', type: 'UUID' });
  });

  it.each([
    [ExportFormat.NDJSON, ExportCompression.GZIP, 'events-0001.ndjson.gz'],
    [ExportFormat.CSV, ExportCompression.UNSPECIFIED, 'events-0001.csv'],
    [ExportFormat.CSV, ExportCompression.GZIP, 'events-0001.csv.gz'],
    [ExportFormat.ARROW, ExportCompression.UNSPECIFIED, 'events-0001.arrows'],
    [ExportFormat.ARROW, ExportCompression.ZSTD, 'events-0001.arrows'],
    [ExportFormat.PARQUET, ExportCompression.SNAPPY, 'events-0001.parquet'],
  ])('counts its rows in format %s, packed by %s', async (format, compression, name) => {
    const key = await filledProject(7);
    const made = await make(key, { ...events, format, compression });
    expect(made).toMatchObject({ state: ExportState.READY, rows: 7n });
    expect(made.parts[0]?.name).toBe(name);
    const [path = ''] = await filesOf(key, made);
    if (name.endsWith('.ndjson.gz')) {
      expect((await read(`SELECT count(*) AS n FROM '${path}'`))[0]).toEqual({ n: 7n });
    }
    if (name.endsWith('.csv')) {
      expect((await read(`SELECT count(*) AS n FROM '${path}'`))[0]).toEqual({ n: 7n });
    }
    if (format === ExportFormat.ARROW && compression === ExportCompression.UNSPECIFIED) {
      const response = await fetchFile(key, `${made.id}/${name}`);
      expect(tableFromIPC(new Uint8Array(await response.arrayBuffer())).numRows).toBe(7);
    }
    if (name.endsWith('.csv.gz')) {
      const response = await fetchFile(key, `${made.id}/${name}`);
      const text = gunzipSync(Buffer.from(await response.arrayBuffer())).toString();
      expect(text).toContain('"event_id","kind"');
    }
  });

  it('has the same columns in each file with columns=FLAT, and a file without any row', async () => {
    const key = await filledProject(14);
    const made = await make(key, { ...events, columns: ExportColumns.FLAT });
    const paths = await filesOf(key, made);
    const list = paths.map((path) => `'${path}'`).join(',');
    const sql = `SELECT "n:int" AS n, "n:string" AS text FROM read_parquet([${list}]) ORDER BY n`;
    expect((await read(sql))[13]).toEqual({ n: 13n, text: '13' });
    const nothing = newProject();
    const empty = await make(nothing);
    expect(empty).toMatchObject({ state: ExportState.READY, rows: 0n, partCount: 1 });
    const [path = ''] = await filesOf(nothing, empty);
    expect((await read(`SELECT count(*) AS n FROM '${path}'`))[0]).toEqual({ n: 0n });
  });
});

describe('an export of persons', () => {
  it.each([ExportWhat.PROFILES, ExportWhat.ACTIVITY])(
    '%s has each once over its files',
    async (what) => {
      const projectId = newProject();
      const people = Array.from({ length: 40 }, (_, n) => `person-${n}`);
      await storeProfiles(
        clickhouse,
        people.map((distinctId) => ({ projectId, distinctId, createTimeMs: startMs })),
      );
      await storeRows(
        clickhouse,
        people.map((distinctId, n) =>
          storedRow({ projectId, distinctId, occurTimeMs: startMs + n }),
        ),
      );
      const made = await make(projectId, { what, format: ExportFormat.PARQUET });
      expect(made).toMatchObject({ state: ExportState.READY, rows: 40n, partCount: 4 });
      const list = (await filesOf(projectId, made)).map((path) => `'${path}'`).join(',');
      const found = await read(`SELECT DISTINCT external_id AS id FROM read_parquet([${list}])`);
      expect(found.map(({ id }) => id).sort()).toEqual(people.sort());
    },
  );
});

describe('a file over HTTP', () => {
  it('is taken in pieces, goes on where it broke off, and is not sent to whoever has it', async () => {
    const key = await filledProject(7);
    const { id, parts } = await make(key, { ...events, format: ExportFormat.NDJSON });
    const [{ name, bytes, sha256 } = { name: '', bytes: 0n, sha256: '' }] = parts;
    const size = Number(bytes);
    const path = `${id}/${name}`;
    const whole = await (await fetchFile(key, path)).text();
    const head = await fetch(`${baseUrl}/exports/${path}`, {
      ...{ method: 'HEAD', headers: { 'x-api-key': key } },
    });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(size)]);
    expect(head.headers.get('accept-ranges')).toBe('bytes');
    const asked = async (range: string, headers: Record<string, string> = {}) => {
      const response = await fetchFile(key, path, { range, ...headers });
      const text = await response.text();
      return [response.status, response.headers.get('content-range'), text];
    };
    expect(await asked('bytes=0-99')).toEqual([206, `bytes 0-99/${size}`, whole.slice(0, 100)]);
    const rest = [206, `bytes 100-${size - 1}/${size}`, whole.slice(100)];
    expect(await asked('bytes=100-')).toEqual(rest);
    expect(await asked('bytes=100-999999999')).toEqual(rest);
    expect(await asked('bytes=100-', { 'if-range': `"${sha256}"` })).toEqual(rest);
    expect(await asked('bytes=-5')).toEqual([
      ...[206, `bytes ${size - 5}-${size - 1}/${size}`, whole.slice(-5)],
    ]);
    // Another file, several ranges, and what is no range: the whole.
    expect(await asked('bytes=100-', { 'if-range': '"other"' })).toEqual([200, null, whole]);
    expect(await asked('bytes=0-1,4-5')).toEqual([200, null, whole]);
    expect(await asked('bytes=5-1')).toEqual([200, null, whole]);
    expect(await asked('lines=0-1')).toEqual([200, null, whole]);
    expect((await asked(`bytes=${size}-`)).slice(0, 2)).toEqual([416, `bytes */${size}`]);
    expect((await asked('bytes=-0')).slice(0, 2)).toEqual([416, `bytes */${size}`]);
    const statusOf = async (headers: Record<string, string>) =>
      (await fetchFile(key, path, headers)).status;
    expect(await statusOf({ 'if-none-match': `"${sha256}"` })).toBe(304);
    expect(await statusOf({ 'if-none-match': `"a", W/"${sha256}"` })).toBe(304);
    expect(await statusOf({ 'if-none-match': '"a"' })).toBe(200);
    expect(await statusOf({ 'if-match': '"a"' })).toBe(412);
  });

  it('is there for its project alone, and GET and HEAD alone', async () => {
    const key = await filledProject(1);
    const { id, parts } = await make(key);
    const name = parts[0]?.name ?? '';
    const path = `${id}/${name}`;
    const answered = async (response: Response) => [
      response.status,
      Object(await response.json()).code,
    ];
    const missing = [404, 'not_found'];
    expect(await answered(await fetchFile(newProject(), path))).toEqual(missing);
    expect(await answered(await fetchFile(key, `${id}/plan.json`))).toEqual(missing);
    expect(await answered(await fetchFile(key, `${randomUUID()}/${name}`))).toEqual(missing);
    const noKey = await fetch(`${baseUrl}/exports/${path}`);
    expect(noKey.headers.get('www-authenticate')).toBe('Bearer');
    expect(await answered(noKey)).toEqual([401, 'unauthenticated']);
    const put = await fetch(`${baseUrl}/exports/${path}`, {
      ...{ method: 'PUT', body: 'a', headers: { 'x-api-key': key } },
    });
    expect([put.status, put.headers.get('allow')]).toEqual([501, 'GET, HEAD']);
    await expect(clientOf(newProject()).get({ id })).rejects.toMatchObject({ code: Code.NotFound });
    await expect(clientOf(newProject()).cancel({ id })).rejects.toMatchObject({
      code: Code.NotFound,
    });
    expect((await clientOf(newProject()).list({})).exports).toEqual([]);
  });
});

describe('ExportsService', () => {
  it.each([
    [undefined, 'query: is required'],
    [{}, 'query.what: is required'],
    [{ what: ExportWhat.EVENTS }, 'query.format: is required'],
    [
      { ...events, compression: ExportCompression.LZ4, format: ExportFormat.CSV },
      'query.compression: must be one of NONE, GZIP',
    ],
    [{ ...events, what: ExportWhat.PROFILES, kinds: ['a'] }, 'query.kinds: is for events'],
    [
      { ...events, what: ExportWhat.ACTIVITY, columns: ExportColumns.FLAT },
      'query.columns: FLAT is for events and profiles',
    ],
    [{ ...events, filters: [{ property: '' }] }, 'query.filters[0].property: '],
    [
      { ...events, kinds: Array.from({ length: 100 }, () => 'k'.repeat(300)) },
      'query: takes at most 24576 bytes as JSON',
    ],
  ])('refuses what is wrong: %#', async (query, message) => {
    await expect(
      clientOf(newProject()).create(query === undefined ? {} : { query }),
    ).rejects.toMatchObject({
      ...{ code: Code.InvalidArgument, rawMessage: expect.stringContaining(message) },
    });
  });

  it('keeps twenty exports of a project, and ended ones make room', async () => {
    const projectId = newProject();
    const ids: string[] = [];
    for (let n = 0; n < 20; n++) {
      // Each key has its own limit of asks.
      const made = await clientOf(`${projectId} member-${n}`).create({ query: events });
      ids.push(made.export?.id ?? '');
    }
    const client = clientOf(`${projectId} ada`);
    await expect(client.create({ query: events })).rejects.toMatchObject({
      code: Code.ResourceExhausted,
      rawMessage: 'the project has 20 exports: cancel one, or wait until one expires',
    });
    const listed = (await client.list({})).exports;
    expect(listed.map(({ id }) => id).sort()).toEqual(ids.toSorted());
    const [first = ''] = ids;
    await client.cancel({ id: first });
    await client.cancel({ id: first });
    // Once its files are gone.
    await eventually(
      () => client.create({ query: events }).catch(() => undefined),
      (made) => made !== undefined,
    );
    await Promise.all(ids.slice(1).map((id) => client.cancel({ id })));
  });

  it('tells the member who asked by mail, and shows an export as expired from its hour on', async () => {
    const projectId = await filledProject(1);
    const key = `${projectId} ada`;
    const made = await make(key);
    const mailed = () => mails.find(({ messageId }) => messageId === `export.${made.id}`);
    expect(await eventually(async () => mailed(), Boolean)).toMatchObject({ to: 'ada@a.example' });
    aheadMs = 7 * dayMs + 60_000;
    const over = await until(key, made.id, ({ state }) => state === ExportState.EXPIRED);
    expect(over.parts).toEqual([]);
    const gone = await fetchFile(projectId, `${made.id}/${made.parts[0]?.name}`);
    expect(gone.status).toBe(404);
  });

  it('limits how often a key asks', async () => {
    const projectId = newProject();
    const client = clientOf(projectId);
    for (let n = 0; n < 20; n++) {
      const { export: made } = await client.create({ query: events });
      await client.cancel({ id: made?.id ?? '' });
    }
    await expect(client.create({ query: events })).rejects.toMatchObject({
      ...{ code: Code.ResourceExhausted, rawMessage: 'too many exports were asked for' },
    });
  });
});

it('another process with another data directory tells that it does not have the files', async () => {
  const key = await filledProject(1);
  const { id, parts } = await make(key);
  await close();
  await open({ dataDir: join(directory, 'elsewhere') });
  const response = await fetchFile(key, `${id}/${parts[0]?.name}`);
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({
    ...{ code: 'unavailable', message: 'the files are on another machine of this instance' },
  });
});
