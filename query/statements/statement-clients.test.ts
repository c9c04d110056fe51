// Clients of ClickHouse before POST /sql: @clickhouse/client itself, and requests in the form of others':
// clickhouse-connect (Superset, dbt), JDBC (DBeaver, Metabase), clickhouse-go over HTTP (Grafana).

import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ClickHouseClient,
  ClickHouseError,
  ClickHouseLogLevel,
  createClient,
} from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../platform/log.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import {
  type StatementServer,
  serveStatements,
} from '../../test/harness/statements/serve-statements.ts';
import { storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { packedBlock, unpackBlocks } from './dialect/packed-blocks.ts';

const engine = useEngine();
const projectId = randomUUID();
/** Refusals are what some of these tests want. */
const log = { level: ClickHouseLogLevel.OFF };
let clickhouse: DatabaseClient;
let server: StatementServer;
let client: ClickHouseClient;

beforeAll(async () => {
  clickhouse = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 4 });
  server = await serveStatements(clickhouse);
  await storeRows(
    clickhouse,
    Array.from({ length: 5 }, (_, n) =>
      storedRow({ projectId, kind: `kind-${n}`, ints: { seats: 9_007_199_254_740_993n } }),
    ),
  );
  client = createClient({
    url: server.url,
    pathname: '/sql',
    username: 'any',
    password: projectId,
    log,
  });
});
afterAll(async () => {
  await client.close();
  await server.close();
  await clickhouse.close();
});

interface Sent {
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
  method?: string;
  path?: string;
}

const basic = (): string => `Basic ${Buffer.from(`default:${projectId}`).toString('base64')}`;

async function send({ query = {}, headers, body = '', method = 'POST', path = '/sql' }: Sent) {
  const response = await fetch(`${server.url}${path}?${new URLSearchParams(query)}`, {
    ...{ method, headers: { authorization: basic(), ...headers } },
    ...(method === 'POST' && { body }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes, text: bytes.toString() };
}

function contentOf(path: string): Buffer[] {
  try {
    return [readFileSync(path)];
  } catch {
    return [];
  }
}

describe('@clickhouse/client', () => {
  it('finds the service, by a ping and by a statement', async () => {
    expect(await client.ping()).toEqual({ success: true });
    expect(await client.ping({ select: true })).toEqual({ success: true });
  });

  it('reads rows, streams them, and binds parameters', async () => {
    const all = await client.query({ query: 'SELECT count() AS n FROM events;', format: 'JSON' });
    expect((await all.json<{ n: string }>()).data).toEqual([{ n: '5' }]);
    const one = await client.query({
      query: 'SELECT kind FROM events WHERE kind = {kind:String}',
      query_params: { kind: 'kind-3' },
      format: 'JSONEachRow',
      session_id: 'mine',
      query_id: 'my-id',
      clickhouse_settings: { max_execution_time: 900, wait_end_of_query: 1 },
    });
    expect(one.query_id).toBe('my-id');
    const rows: unknown[] = [];
    for await (const page of one.stream()) for (const row of page) rows.push(row.json());
    expect(rows).toEqual([{ kind: 'kind-3' }]);
  });

  it('loses no digit of a 64-bit integer, unless it wants to', async () => {
    const query = "SELECT int_properties['seats'] AS seats FROM events LIMIT 1";
    const exact = await client.query({ query, format: 'JSONEachRow' });
    expect(await exact.json()).toEqual([{ seats: '9007199254740993' }]);
    const settings = { output_format_json_quote_64bit_integers: 0 as const };
    const bare = await client.query({
      query,
      format: 'JSONEachRow',
      clickhouse_settings: settings,
    });
    expect(await bare.text()).toContain(':9007199254740993');
  });

  it('is told why it is refused, in the words of ClickHouse', async () => {
    const codeOf = async (work: Promise<unknown>): Promise<string> => {
      const error = await work.then(
        () => undefined,
        (cause: unknown) => cause,
      );
      if (!(error instanceof ClickHouseError)) throw new Error(`no answer of ClickHouse: ${error}`);
      return `${error.code} ${error.type}`;
    };
    const query = (text: string) => client.query({ query: text, format: 'JSON' });
    expect(await codeOf(query('SELECT nothing FROM events'))).toBe('47 UNKNOWN_IDENTIFIER');
    expect(await codeOf(query('SELECT ('))).toBe('62 SYNTAX_ERROR');
    expect(await codeOf(query('SELECT * FROM millrace.profile_days'))).toBe('497 ACCESS_DENIED');
    expect(await codeOf(client.command({ query: 'DROP TABLE events' }))).toBe('497 ACCESS_DENIED');
    const rows = client.insert({ table: 'events', values: [{ kind: 'x' }], format: 'JSONEachRow' });
    expect(await codeOf(rows)).toBe('497 ACCESS_DENIED');
    const stranger = createClient({ url: server.url, pathname: '/sql', password: 'none', log });
    expect(await codeOf(stranger.query({ query: 'SELECT 1' }))).toBe('516 AUTHENTICATION_FAILED');
    await stranger.close();
  });

  it('takes Parquet and packed answers', async () => {
    const parquet = await client.exec({ query: 'SELECT kind FROM events FORMAT Parquet' });
    const chunks: Buffer[] = [];
    for await (const chunk of parquet.stream) chunks.push(chunk);
    expect(Buffer.concat(chunks).subarray(0, 4).toString()).toBe('PAR1');
    const packed = await send({
      ...{ query: { enable_http_compression: '1' }, body: 'SELECT 1 FORMAT CSV' },
      headers: { 'accept-encoding': 'gzip' },
    });
    expect(packed.text).toBe('1\n');
    expect(packed.headers.get('content-encoding')).toBe('gzip');
  });
});

describe('clickhouse-connect', () => {
  it('connects as it does: two values, settings, and a probe of the protocol', async () => {
    const hello = await send({ body: 'SELECT version(), timezone()' });
    expect(hello.text).toMatch(/^[\d.]+\tUTC\n$/);
    const settings = await send({
      query: { wait_end_of_query: '1', database: 'millrace' },
      body: 'SELECT name, value, readonly FROM system.settings LIMIT 10000\n FORMAT TSV',
    });
    const names = settings.text.split('\n').map((line) => line.split('\t'));
    expect(names).toContainEqual(['date_time_input_format', '', '0']);
    expect(names).toContainEqual(['readonly', '1', '1']);
    expect(settings.text).not.toContain('max_threads');
    const query = { client_protocol_version: '54405', session_id: randomUUID() };
    const probe = await send({ query, body: 'SELECT 1 AS check\n FORMAT Native' });
    expect([...probe.bytes.subarray(0, 2)]).toEqual([1, 1]);
  });

  it('sends no setting to later statements that they refuse', async () => {
    const query = {
      ...{ date_time_input_format: 'best_effort', cast_string_to_dynamic_use_inference: '1' },
      ...{ cancel_http_readonly_queries_on_client_close: '1', wait_end_of_query: '1' },
      ...{ send_progress_in_http_headers: '1', http_headers_progress_interval_ms: '120000' },
    };
    const answer = await send({ query, body: 'SELECT count() FROM events\n FORMAT TSV' });
    expect(answer.text).toBe('5\n');
  });

  it.each([
    ['SELECT currentDatabase()', 'millrace\n'],
    ['SHOW DATABASES', 'millrace\n'],
    ['SHOW TABLES FROM `millrace`', 'events\nprofiles\nsessions\n'],
    ['EXISTS DATABASE millrace', '1\n'],
    ['EXISTS TABLE `millrace`.`events`', '1\n'],
    ['EXISTS TABLE nothing', '0\n'],
    ['SELECT engine FROM system.databases WHERE name = database()', 'Memory\n'],
    [
      "SELECT engine, engine_full, comment FROM system.tables WHERE database='millrace' AND name='events'",
      'View\t\t\n',
    ],
    ['SELECT * FROM (SELECT kind FROM events) LIMIT 0', ''],
  ])('Superset and dbt ask %s', async (sql, text) => {
    expect((await send({ body: sql })).text).toBe(text);
  });
});

describe('a driver of Java', () => {
  it('names its format in a header, and its ping in the text', async () => {
    const headers = {
      ...{
        'x-clickhouse-format': 'RowBinaryWithNamesAndTypes',
        'x-clickhouse-database': 'default',
      },
      'content-type': 'text/plain',
    };
    const rows = await send({ path: '/sql/default', headers, body: 'SELECT toUInt8(7) AS seven' });
    const [columns, nameLength] = rows.bytes;
    expect([columns, nameLength]).toEqual([1, 5]);
    expect(rows.headers.get('x-clickhouse-format')).toBe('RowBinaryWithNamesAndTypes');
    const ping = await send({ headers, body: 'SELECT 1 FORMAT TabSeparated' });
    expect(ping.text).toBe('1\n');
  });

  it('takes blocks of its own packing, and sends them', async () => {
    const headers = { 'x-clickhouse-format': 'RowBinaryWithNamesAndTypes' };
    const body = 'SELECT number, toString(number) FROM numbers(200000)';
    const plain = await send({ headers, body });
    const packed = await send({ headers, query: { compress: '1' }, body });
    expect(packed.bytes.length).toBeLessThan(plain.bytes.length);
    const raw = unpackBlocks(packed.bytes, plain.bytes.length) ?? Buffer.of();
    expect(Buffer.compare(raw, plain.bytes)).toBe(0);
    const sent = await send({ query: { decompress: '1' }, body: packedBlock(Buffer.from(body)) });
    expect(sent.text.slice(0, 8)).toBe('0\t0\n1\t1\n');
    const both = { compress: '1', enable_http_compression: '1' };
    const gzip = { 'accept-encoding': 'gzip' };
    const twice = await send({ headers: gzip, query: both, body: 'SELECT 1 FORMAT CSV' });
    expect(twice.headers.get('content-encoding')).toBe('gzip');
    expect(Buffer.from(unpackBlocks(twice.bytes, 100) ?? []).toString()).toBe('1\n');
  });

  it('reads in plain text what is refused, and is told of blocks that are none', async () => {
    const refused = await send({ query: { compress: '1' }, body: 'DROP TABLE events' });
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining('(ACCESS_DENIED)'),
    ]);
    const plain = await send({ query: { decompress: '1' }, body: 'SELECT 1' });
    expect([plain.status, plain.text]).toEqual([400, expect.stringContaining('decompress=1')]);
  });

  it('checks the engine’s own blocks as the engine does', async () => {
    const files = readdirSync(engine.dir, { recursive: true, encoding: 'utf8' }).filter((path) =>
      /_\d+_\d+_\d+\/data\.bin$/.test(path),
    );
    // The engine may have thrown one away meanwhile.
    const read = files.flatMap((path) => contentOf(join(engine.dir, path)));
    expect(read.length).toBeGreaterThan(0);
    const packed = read.filter((bytes) => unpackBlocks(bytes, 1_000_000) !== undefined);
    expect(packed.length).toBeGreaterThan(0);
  });

  it('finds tables and columns', async () => {
    const tables = await send({
      body: `SELECT t.database AS TABLE_SCHEM, t.name AS TABLE_NAME FROM system.tables t
        JOIN system.databases d ON system.tables.database = d.name ORDER BY t.name`,
    });
    expect(tables.text).toBe('millrace\tevents\nmillrace\tprofiles\nmillrace\tsessions\n');
    const columns = await send({
      body: `SELECT name, numeric_precision, numeric_scale, character_octet_length, default_expression, position, comment,
        multiIf(startsWith(system.columns.type, 'UUID'), 1, 2) FROM system.columns WHERE table = 'events' LIMIT 1`,
    });
    expect(columns.text).toBe('event_id\t\\N\t\\N\t\\N\t\t1\t\t1\n');
    const described = await send({ body: 'DESC (SELECT NULL AS a, 1 AS b) FORMAT TSKV' });
    expect(described.text).toContain('name=b\ttype=UInt8');
    const sizes = await send({
      body: 'SELECT sum(bytes), max(max_date), max(modification_time) FROM system.parts WHERE active',
    });
    expect(sizes.status, sizes.text).toBe(200);
  });
});

describe('Grafana', () => {
  const url = { default_format: 'Native', client_protocol_version: '54460', database: 'default' };

  it('reads the first answer in the form of its protocol', async () => {
    const body = 'SELECT displayName(), version(), revision(), timezone()';
    const { bytes } = await send({ query: url, body });
    expect(bytes.subarray(0, 10).toString('hex')).toBe('010002ffffffff000401');
    expect(bytes.subarray(10, 24).toString()).toBe('\rdisplayName()');
    expect(bytes.toString()).toContain('\u0008Millrace');
    // Revision 0: later answers are bare.
    expect(bytes.toString('latin1')).toContain('revision()\u0006UInt32\0\0\0\0\0');
    const ping = await send({ query: url, body: 'SELECT 1' });
    expect(ping.bytes.subarray(0, 4).toString('latin1')).toBe('\u0001\u0001\u00011');
  });

  it('bounds its panels by settings in the URL and in the text', async () => {
    const query = { ...url, limit: '2', max_execution_time: '65', default_format: 'TSV' };
    const panel = await send({ query, body: 'SELECT kind FROM "default"."events" ORDER BY kind' });
    expect(panel.text).toBe('kind-0\nkind-1\n');
    const counted = await send({ query, body: 'SELECT count() FROM events' });
    expect(counted.text).toBe('5\n');
    const inText = await send({
      body: 'SELECT arrayJoin(mapKeys(int_properties)) FROM events LIMIT 1 SETTINGS max_execution_time = 10',
    });
    expect(inText.text).toBe('seats\n');
    const filters = await send({
      body: "SELECT 1 SETTINGS additional_table_filters = {'default.events': 'kind = 1'}",
    });
    expect(filters.headers.get('x-clickhouse-exception-code')).toBe('497');
  });
});

describe('any client', () => {
  it('sends its key in any of the usual ways, and never in the URL', async () => {
    const body = 'SELECT 1';
    for (const headers of [
      { authorization: '', 'x-clickhouse-user': 'me', 'x-clickhouse-key': projectId },
      { authorization: '', 'x-api-key': projectId },
      { authorization: `Bearer ${projectId}` },
    ]) {
      expect((await send({ headers, body })).text).toBe('1\n');
    }
    const inUrl = await send({ query: { password: projectId }, body });
    expect([inUrl.status, inUrl.headers.get('x-clickhouse-exception-code')]).toEqual([401, '516']);
    const none = await send({ headers: { authorization: '' }, body });
    expect(none.text).toContain('send the private key as password');
    expect(none.status).toBe(401);
  });

  it('may put the statement into the URL', async () => {
    const read = await send({ method: 'GET', query: { query: 'SELECT count() FROM events' } });
    expect(read.text).toBe('5\n');
    const both = await send({ query: { query: 'SELECT count()' }, body: 'FROM events FORMAT CSV' });
    expect(both.text).toBe('5\n');
    const written = await send({ method: 'GET', query: { query: 'DROP TABLE events' } });
    expect(written.status).toBe(400);
  });

  it.each([
    ...[
      'SET max_threads = 1',
      'USE system',
      'KILL QUERY WHERE 1',
      'SHOW GRANTS',
      'SHOW PROCESSLIST',
    ],
    ...[
      'SET ROLE NONE',
      'INSERT INTO events SELECT 1',
      'EXPLAIN SELECT 1',
      'CREATE TABLE t (a Int8)',
    ],
  ])('is refused for good, not for now: %s', async (body) => {
    const answer = await send({ body });
    expect([answer.status, answer.headers.get('x-clickhouse-exception-code')]).toEqual([
      400,
      '497',
    ]);
  });

  it('is told of a setting that it may not have, by its name', async () => {
    for (const name of ['max_threads', 'additional_result_filter', 'dialect', 'readonly2']) {
      const answer = await send({ query: { [name]: '1' }, body: 'SELECT 1' });
      expect(answer.text).toContain(`the setting ${name} is not allowed`);
    }
    const other = await send({ query: { database: 'system2' }, body: 'SELECT 1' });
    expect(other.text).toContain('there is no database system2');
    const format = await send({ body: 'SELECT 1 FORMAT Template' });
    expect(format.headers.get('x-clickhouse-exception-code')).toBe('73');
  });
});
