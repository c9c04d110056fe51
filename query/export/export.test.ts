// GET /export on a real engine: what the files hold, read back by DuckDB and by apache-arrow, and how exports end.

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { create } from '@bufbuild/protobuf';
import { DuckDBInstance } from '@duckdb/node-api';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Authentication } from '../../platform/access/authenticate.ts';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { oneGroup } from '../../platform/clickhouse/groups.ts';
import { type HttpServer, startHttp } from '../../platform/http/http.ts';
import { createLog } from '../../platform/log.ts';
import { FilterOperator } from '../../proto/gen/common/v1/filter_pb.js';
import { SegmentSchema } from '../../proto/gen/dashboard/segments/v1/segments_pb.js';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { type StoredRow, storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../test/harness/tables/stored-profiles.ts';
import { createExportRoute, type ExportOptions } from './export-route.ts';

const startMs = Date.UTC(2026, 9, 10, 12);
const completeMs = Date.UTC(2026, 9, 12);
const engine = useEngine();
const directory = mkdtempSync(join(tmpdir(), 'millrace-export-'));
let clickhouse: DatabaseClient;
let duckdb: DuckDBInstance;
const servers: HttpServer[] = [];
let baseUrl = '';

beforeAll(async () => {
  clickhouse = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 4 });
  duckdb = await DuckDBInstance.create(':memory:', { autoinstall_known_extensions: 'false' });
  baseUrl = await serve({});
});
afterAll(async () => {
  for (const server of servers) await server.close(0);
  duckdb.closeSync();
  await clickhouse.close();
  rmSync(directory, { recursive: true });
});

/** The route alone: the key is the project's id, and `none` opens nothing. */
async function serve(options: Partial<ExportOptions>): Promise<string> {
  const route = createExportRoute({
    clickhouse: oneGroup(clickhouse),
    authenticate: (_, { apiKey = 'none' }) => opened(apiKey),
    completeUntilMs: async () => completeMs,
    log: createLog('silent'),
    ...options,
  });
  const server = await startHttp({
    ...{ host: '127.0.0.1', port: 0, nodeHttpRoutes: [route], serviceAliases: new Map() },
    connect: { routes: () => {} },
  });
  servers.push(server);
  return `http://127.0.0.1:${server.port}`;
}

function opened(projectId: string): Authentication {
  if (projectId === 'none') {
    return { kind: 'refused', code: 'unauthenticated', message: 'the API key is not valid' };
  }
  const principal = { projectId, keyId: projectId, credential: 'private' as const };
  return { kind: 'ok', principal: { ...principal, organizationId: 'org' } };
}

function newProject(): string {
  return `prj_${randomUUID()}`;
}

function ask(projectId: string, params: Record<string, string>, url = baseUrl): Promise<Response> {
  return fetch(`${url}/export?${new URLSearchParams(params)}`, {
    headers: { 'x-api-key': projectId },
  });
}

async function fileOf(projectId: string, params: Record<string, string>): Promise<string> {
  const response = await ask(projectId, params);
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(bytes.toString());
  const path = join(directory, randomUUID());
  writeFileSync(path, bytes);
  return path;
}

async function linesOf(projectId: string, params: Record<string, string> = {}, url = baseUrl) {
  const text = await (await ask(projectId, params, url)).text();
  const lines: Record<string, unknown>[] = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  return lines;
}

async function read(sql: string): Promise<Record<string, unknown>[]> {
  const connection = await duckdb.connect();
  try {
    return (await connection.runAndReadAll(sql)).getRowObjectsJS();
  } finally {
    connection.closeSync();
  }
}

/** Values that formats are known to lose. */
function typed(projectId: string, fields: Partial<StoredRow> = {}): StoredRow {
  return storedRow({
    projectId,
    occurTimeMs: startMs,
    columns: { browser: 'Firefox', country: 'DE', city: 'Köln', utm_source: 'news' },
    strings: { plan: 'pro', note: 'tab\tquote"comma,\nline' },
    ints: { seats: 9_007_199_254_740_993n, least: -9_223_372_036_854_775_808n },
    doubles: { price: 0.1, tiny: 5e-324, negative: -0 },
    bools: { paid: true, trial: false },
    times: { ends: Date.UTC(1969, 6, 20, 20, 17, 40, 123) },
    ...fields,
  });
}

describe('the events of a project', () => {
  const projectId = newProject();
  const rows = Array.from({ length: 50 }, (_, n) =>
    typed(projectId, {
      kind: n % 2 === 0 ? 'page_view' : 'purchase',
      distinctId: `visitor-${n % 7}`,
      occurTimeMs: startMs + n * 60_000,
    }),
  );
  beforeAll(async () => {
    await storeRows(clickhouse, rows);
    await storeRows(clickhouse, [typed(newProject())]);
  });

  it.each(['zstd', 'snappy', 'lz4', 'gzip', 'none'])(
    'are equal in Parquet packed by %s',
    async (compression) => {
      const path = await fileOf(projectId, { format: 'parquet', compression });
      const found =
        await read(`SELECT event_id::VARCHAR AS id, kind, distinct_id, session_id::VARCHAR AS session,
      epoch_ms(occur_time) AS ms, browser, country, city, utm_source, os, cookieless,
      string_properties['note'] AS note, int_properties['seats'] AS seats, int_properties['least'] AS least,
      double_properties['price'] AS price, double_properties['tiny'] AS tiny,
      double_properties['negative']::VARCHAR AS negative, bool_properties['trial'] AS trial,
      epoch_ms(time_properties['ends']) AS ends
      FROM read_parquet('${path}') ORDER BY occur_time`);
      expect(found).toEqual(
        rows.map((row) => ({
          ...{
            id: row.eventId,
            kind: row.kind,
            distinct_id: row.distinctId,
            session: row.sessionId,
          },
          ...{ ms: BigInt(row.occurTimeMs), cookieless: false, os: null },
          ...row.columns,
          ...{ note: row.strings['note'], seats: row.ints['seats'], least: row.ints['least'] },
          ...{ price: 0.1, tiny: 5e-324, negative: '-0.0', trial: false },
          ends: BigInt(row.times['ends'] ?? 0),
        })),
      );
    },
  );

  it('are found by their ids in Parquet', async () => {
    const path = await fileOf(projectId, { format: 'parquet' });
    const [one] = rows.slice(17);
    const byId = `SELECT count(*)::INT AS n FROM read_parquet('${path}') WHERE event_id = '${one?.eventId}'`;
    expect(await read(byId)).toEqual([{ n: 1 }]);
    const byText = `SELECT count(*)::INT AS n FROM read_parquet('${path}') WHERE distinct_id = 'visitor-3'`;
    expect(await read(byText)).toEqual([{ n: 7 }]);
  });

  it('are equal in NDJSON, packed or not, with 64-bit integers as texts', async () => {
    const [first] = await linesOf(projectId, { to: '2026-10-10T12:01:00Z' });
    const [row] = rows;
    expect(first).toMatchObject({
      ...{ event_id: row?.eventId, kind: 'page_view', session_id: row?.sessionId },
      ...{ occur_time: '2026-10-10T12:00:00.000Z', browser: 'Firefox', os: null },
      string_properties: row?.strings,
      int_properties: { seats: '9007199254740993', least: '-9223372036854775808' },
      double_properties: { price: 0.1, tiny: 5e-324, negative: -0 },
      bool_properties: { paid: true, trial: false },
      time_properties: { ends: '1969-07-20T20:17:40.123Z' },
    });
    const packed = await ask(projectId, { compression: 'gzip' });
    expect(packed.headers.get('content-type')).toBe('application/gzip');
    expect(packed.headers.get('content-disposition')).toContain('events.ndjson.gz');
    const text = gunzipSync(Buffer.from(await packed.arrayBuffer())).toString();
    expect(text.split('\n').filter(Boolean)).toHaveLength(50);
  });

  it('are equal in Arrow, which JavaScript reads', async () => {
    const response = await ask(projectId, { format: 'arrow', kinds: 'purchase' });
    const table = tableFromIPC(Buffer.from(await response.arrayBuffer()));
    const [first] = table.toArray();
    const row = rows.find(({ eventId }) => eventId === first.event_id);
    expect(table.numRows).toBe(25);
    expect(first).toMatchObject({ kind: 'purchase', distinct_id: row?.distinctId });
    expect(Number(first.occur_time)).toBe(row?.occurTimeMs);
    expect(first.int_properties.toJSON().seats).toBe(9_007_199_254_740_993n);
  });

  it('say until when they are complete', async () => {
    const response = await ask(projectId, {});
    expect(response.headers.get('x-complete-until')).toBe('2026-10-12T00:00:00.000Z');
    await response.text();
  });

  it('are selected as in the list of events', async () => {
    const filter = { property: 'plan', operator: 'FILTER_OPERATOR_EQUALS', value: 'pro' };
    const none = { ...filter, value: 'free' };
    const count = async (params: Record<string, string>) =>
      (await linesOf(projectId, params)).length;
    expect(await count({ filters: JSON.stringify([filter]) })).toBe(50);
    expect(await count({ filters: JSON.stringify([none]) })).toBe(0);
    expect(
      await count({ filters: JSON.stringify([{ ...filter, property: '$city', value: 'Köln' }]) }),
    ).toBe(50);
    expect(await count({ distinct_id: 'visitor-3' })).toBe(7);
    expect(await count({ session_id: rows[4]?.sessionId ?? '' })).toBe(1);
    expect(await count({ kinds: 'purchase,nothing', from: '2026-10-10T12:10:00Z' })).toBe(20);
    expect(await count({ from: '2026-10-11' })).toBe(0);
  });
});

describe('a column for each property', () => {
  const projectId = newProject();
  beforeAll(async () => {
    await storeRows(clickhouse, [
      typed(projectId, {
        strings: { plan: 'pro', mixed: 'text', kind: 'own', '`odd\\ {x}': 'name' },
      }),
      typed(projectId, { occurTimeMs: startMs + 1, ints: { mixed: 5n, seats: 3n }, columns: {} }),
    ]);
  });

  it('has its type, and its name says it where there are several', async () => {
    const path = await fileOf(projectId, { format: 'parquet', columns: 'flat' });
    const found =
      await read(`SELECT "plan", "seats", "mixed:string" AS text, "mixed:int" AS number, "kind:string" AS own,
      "$browser" AS browser, "paid", "price", epoch_ms("ends") AS ends, "_odd_ {x}" AS odd
      FROM read_parquet('${path}') ORDER BY occur_time`);
    const common = { paid: true, price: 0.1, ends: BigInt(Date.UTC(1969, 6, 20, 20, 17, 40, 123)) };
    expect(found).toEqual([
      {
        ...{ plan: 'pro', seats: 9_007_199_254_740_993n, text: 'text', number: null, own: 'own' },
        ...{ browser: 'Firefox', odd: 'name', ...common },
      },
      {
        ...{ plan: 'pro', seats: 3n, text: null, number: 5n, own: null },
        ...{ browser: null, odd: null, ...common },
      },
    ]);
  });
});

describe('a spreadsheet', () => {
  it('finds no formula in CSV, and numbers as numbers', async () => {
    const projectId = newProject();
    const texts = ['=1+1', '+1', '-1', '@a', '\tb', '\rc', 'a=b', "'d"];
    await storeRows(
      clickhouse,
      texts.map((text, n) =>
        typed(projectId, {
          ...{ distinctId: text, occurTimeMs: startMs + n, strings: { '=name': text } },
          ...{ columns: { city: text }, ints: { seats: -5n }, doubles: { price: -0.5 } },
        }),
      ),
    );
    const path = await fileOf(projectId, { format: 'csv', columns: 'flat' });
    const sql = `SELECT * FROM read_csv('${path}', all_varchar = true, header = true) ORDER BY occur_time`;
    const found = await read(sql);
    const guarded = ["'=1+1", "'+1", "'-1", "'@a", "'\tb", "'\rc", 'a=b', "'d"];
    expect(found.map((row) => row['distinct_id'])).toEqual(guarded);
    expect(found.map((row) => row["'=name"])).toEqual(guarded);
    expect(found.map((row) => row['$city'])).toEqual(guarded);
    expect(found[0]).toMatchObject({
      seats: '-5',
      price: '-0.5',
      occur_time: '2026-10-10T12:00:00.000Z',
    });
  });
});

describe('persons', () => {
  const projectId = newProject();
  beforeAll(async () => {
    await storeProfiles(clickhouse, [
      {
        ...{ projectId, distinctId: 'ada', createTimeMs: startMs, updateTimeMs: startMs },
        traits: { plan: 'pro', seats: 5, ratio: 0.5, isPaid: true, tags: ['a'], empty: '' },
      },
      {
        projectId,
        distinctId: 'anon-1',
        named: false,
        owner: 'ada',
        root: 'ada',
        wasClaimed: true,
      },
      { projectId, distinctId: 'gone', deleted: true, traits: { plan: 'free' } },
      { projectId, distinctId: 'ben', traits: { plan: 'free' } },
    ]);
    await storeRows(
      clickhouse,
      ['ada', 'anon-1', 'gone', 'stranger'].map((distinctId) => typed(projectId, { distinctId })),
    );
  });

  it('have the events of all their ids, and deleted ones have none', async () => {
    const lines = await linesOf(projectId);
    const owners = new Map(lines.map((line) => [line['distinct_id'], line['profile_id']]));
    expect([...owners.keys()].sort()).toEqual(['ada', 'anon-1', 'stranger']);
    expect(owners.get('anon-1')).toBe(owners.get('ada'));
    expect(owners.get('stranger')).not.toBe(owners.get('ada'));
    expect(await linesOf(projectId, { distinct_id: 'ada' })).toHaveLength(2);
  });

  it('have their traits as JSON, and the ids that became theirs', async () => {
    const lines = await linesOf(projectId, { what: 'profiles' });
    const ada = lines.find((line) => line['external_id'] === 'ada');
    expect(lines).toHaveLength(2);
    expect(ada).toMatchObject({
      ...{ distinct_ids: ['anon-1'], create_time: '2026-10-10T12:00:00.000Z' },
      traits: {
        ...{ plan: '"pro"', seats: '5', ratio: '0.5', isPaid: 'true', tags: '["a"]', empty: '""' },
      },
    });
    const filters = '[{"property": "plan", "operator": "FILTER_OPERATOR_EQUALS", "value": "free"}]';
    const free = await linesOf(projectId, { what: 'profiles', filters });
    expect(free.map((line) => line['external_id'])).toEqual(['ben']);
    const seen =
      '[{"property": "$browser", "operator": "FILTER_OPERATOR_IS_SET", "source": "PROPERTY_SOURCE_AUTO"}]';
    const withEvents = await linesOf(projectId, { what: 'profiles', filters: seen });
    expect(withEvents.map((line) => line['external_id'])).toEqual(['ada']);
    const germans = await linesOf(projectId, { what: 'activity', filters: seen });
    expect(germans).toHaveLength(2);
  });

  it('have a column for each trait', async () => {
    const path = await fileOf(projectId, { what: 'profiles', format: 'parquet', columns: 'flat' });
    const found =
      await read(`SELECT external_id, distinct_ids, "plan", "seats", "ratio", "isPaid", "tags", "empty"
      FROM read_parquet('${path}') WHERE external_id = 'ada'`);
    expect(found).toEqual([
      {
        ...{ external_id: 'ada', distinct_ids: ['anon-1'], plan: 'pro', seats: 5n, ratio: 0.5 },
        ...{ isPaid: true, tags: '["a"]', empty: '' },
      },
    ]);
  });

  it('have the sums of their events', async () => {
    const lines = await linesOf(projectId, { what: 'activity' });
    const byName = new Map(lines.map((line) => [line['external_id'], line]));
    expect([...byName.keys()]).toEqual(expect.arrayContaining(['ada', null]));
    expect(lines).toHaveLength(2);
    expect(byName.get('ada')).toMatchObject({
      ...{ total_events: '2', pageviews: '2', sessions: '2', browser: 'Firefox', city: 'Köln' },
      ...{ first_seen: '2026-10-10T12:00:00.000Z', bot: false },
    });
  });

  it('are those in segments, and those outside', async () => {
    const operator = FilterOperator.EQUALS;
    const tests = [
      { test: { case: 'trait' as const, value: { property: 'plan', operator, value: 'pro' } } },
    ];
    const id = randomUUID();
    const segment = create(SegmentSchema, { id, condition: { groups: [{ tests }] } });
    const url = await serve({
      findSegment: async (_, asked) => (asked === id ? segment : undefined),
    });
    const names = async (column: string, params: Record<string, string>) =>
      (await linesOf(projectId, params, url)).map((line) => line[column]).sort();
    const [inIt, outside] = [{ segments: id }, { not_in_segments: id }];
    expect(await names('distinct_id', inIt)).toEqual(['ada', 'anon-1']);
    expect(await names('distinct_id', outside)).toEqual(['stranger']);
    expect(await names('distinct_id', { ...inIt, ...outside })).toEqual([]);
    expect(await names('external_id', { ...inIt, what: 'profiles' })).toEqual(['ada']);
    expect(await names('external_id', { ...outside, what: 'profiles' })).toEqual(['ben']);
    expect(await names('external_id', { ...inIt, what: 'activity' })).toEqual(['ada']);
    expect(await names('external_id', { ...outside, what: 'activity' })).toEqual([null]);
    const refusal = async (params: Record<string, string>) => {
      const response = await ask(projectId, params, url);
      return [response.status, Object(await response.json()).message];
    };
    const other = randomUUID();
    expect(await refusal({ not_in_segments: other })).toEqual([
      400,
      `not_in_segments[0]: the project has no segment ${other}: it may have been deleted`,
    ]);
    expect(await refusal({ segments: 'x' })).toEqual([
      400,
      'segments[0]: must be the id of a segment, a UUID',
    ]);
    const six = Array.from({ length: 6 }, () => id).join();
    expect(await refusal({ not_in_segments: six })).toEqual([
      ...[400, 'not_in_segments: takes at most 5'],
    ]);
  });
});
