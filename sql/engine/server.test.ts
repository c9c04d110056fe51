import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ClickHouseError, createClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { readServerUrl, socketAgent } from '../../platform/clickhouse/server-url.ts';
import { createLog } from '../../platform/log.ts';
import { engineReaders } from '../../test/harness/servers/engine.ts';
import { askEngine } from '../../test/harness/servers/engine-request.ts';
import { memoryKiB } from '../../test/harness/servers/process-memory.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';

const engine = useEngine();
let client: ReturnType<typeof createClickHouse>;
beforeAll(async () => {
  client = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 200 });
});
afterAll(async () => {
  await client.close();
});

async function rows<T = Record<string, unknown>>(
  query: string,
  options: Omit<Parameters<DatabaseClient['query']>[0], 'query' | 'format'> = {},
): Promise<T[]> {
  return (await client.query({ query, format: 'JSONEachRow', ...options })).json<T>();
}

async function failure(work: Promise<unknown>): Promise<ClickHouseError> {
  const error = await work.then(
    () => undefined,
    (reason) => reason,
  );
  if (error instanceof ClickHouseError) return error;
  throw new Error(`not a ClickHouseError: ${error}`);
}

describe('results', () => {
  it.each([
    ['JSONEachRow', '{"n":"0","s":"a"}\n{"n":"1","s":"a"}\n'],
    ['JSONCompactEachRow', '["0", "a"]\n["1", "a"]\n'],
    ['TabSeparatedWithNames', 'n\ts\n0\ta\n1\ta\n'],
    ['CSV', '0,"a"\n1,"a"\n'],
  ] as const)('come as %s', async (format, expected) => {
    const query = "SELECT number AS n, 'a' AS s FROM numbers(2)";
    const result = await client.query({ query, format });
    expect(await result.text()).toBe(expected);
  });

  it('come as JSON with a single head, even from many blocks', async () => {
    const result = await client.query({ query: 'SELECT number AS n FROM numbers(200000)' });
    const { data, rows, meta } = await result.json<{ n: string }>();
    expect(meta).toEqual([{ name: 'n', type: 'UInt64' }]);
    expect(rows).toBe(200_000);
    expect(data.at(-1)).toEqual({ n: '199999' });
  });

  it('come from other statements than SELECT too', async () => {
    expect(await rows('SHOW TABLES')).toContainEqual({ name: 'events' });
    expect(await rows('DESCRIBE TABLE events')).toContainEqual(
      expect.objectContaining({ name: 'kind', type: 'LowCardinality(String)' }),
    );
    expect(await rows('EXISTS TABLE events')).toEqual([{ result: 1 }]);
    expect(await rows('(SELECT 1 AS a) UNION ALL (SELECT 1)')).toEqual([{ a: 1 }, { a: 1 }]);
    expect(await rows('SELECT 1 AS format -- a comment ends it')).toEqual([{ format: 1 }]);
    expect(await rows('SELECT 1 WHERE 0')).toEqual([]);
  });

  it('keep 64-bit integers and text exact', async () => {
    const query = `SELECT toInt64('-9223372036854775808') AS i, 18446744073709551615 AS u,
      'a\\'b\\\\c\\t\\0é🎉' AS s, toDateTime64('2024-01-02 03:04:05.678', 3, 'UTC') AS t`;
    expect(await rows(query)).toEqual([
      {
        ...{ i: '-9223372036854775808', u: '18446744073709551615' },
        ...{ s: "a'b\\c\t\0é🎉", t: '2024-01-02 03:04:05.678' },
      },
    ]);
  });

  it('stream in bounded memory, at the pace of their reader', async () => {
    const before = memoryKiB(engine.pid());
    const { stream } = await client.exec({
      query: "SELECT number, repeat('x', 100) FROM numbers(30000000) FORMAT TabSeparated",
    });
    let bytes = 0;
    let most = 0;
    for await (const chunk of stream) {
      const passed =
        Math.floor(bytes / 10_000_000) !== Math.floor((bytes + chunk.length) / 10_000_000);
      if (passed) most = Math.max(most, memoryKiB(engine.pid()));
      bytes += chunk.length;
      if (bytes > 300_000_000) break;
    }
    expect(most - before).toBeLessThan(150_000);
  });
});

describe('compression', () => {
  it('works both ways where the client asks', async () => {
    const zipped = createClient({
      url: readServerUrl(engine.url).http,
      http_agent: socketAgent(readServerUrl(engine.url).socketPath ?? '', 2),
      database: 'millrace',
      compression: { request: true, response: true },
    });
    await zipped.command({ query: 'CREATE TABLE zipped (n UInt64) ENGINE = Memory' });
    const values = Array.from({ length: 1_000 }, (_, n) => ({ n }));
    await zipped.insert({ table: 'zipped', values, format: 'JSONEachRow' });
    const result = await zipped.query({
      query: 'SELECT n FROM zipped ORDER BY n',
      format: 'JSONCompactEachRow',
    });
    expect(result.response_headers['content-encoding']).toBe('gzip');
    expect(await result.json()).toEqual(values.map(({ n }) => [n]));
    await zipped.close();
  });
});

describe('settings', () => {
  it('apply to their statement only', async () => {
    const query = "SELECT getSetting('max_block_size') AS size";
    const [usual] = await rows(query);
    const set = { clickhouse_settings: { max_block_size: '77' } };
    for (let round = 0; round < 20; round++) {
      expect(await rows(query, set)).toEqual([{ size: 77 }]);
      await Promise.all([failure(rows('SELECT nonsense', set)), rows('SELECT 1', set)]);
    }
    const after = await Promise.all(Array.from({ length: 20 }, () => rows(query)));
    expect(after.flat()).toEqual(Array(20).fill(usual));
  });

  it('that do not exist are refused, and leave nothing behind', async () => {
    const settings = { clickhouse_settings: { max_block_size: '77', no_such_setting: 1 } };
    for (let round = 0; round < 20; round++) {
      expect((await failure(rows('SELECT 1', settings))).code).toBe('115');
    }
    const sizes = await Promise.all(
      Array.from({ length: 20 }, () => rows("SELECT getSetting('max_block_size') = 77 AS leaked")),
    );
    expect(sizes.flat()).toEqual(Array(20).fill({ leaked: 0 }));
  });

  it('in the text of a statement work as well', async () => {
    const query = "SELECT getSetting('max_block_size') AS size SETTINGS max_block_size = 78";
    expect(await rows(query)).toEqual([{ size: 78 }]);
  });

  it.each(['SET max_threads = 1', 'USE system', 'CREATE TEMPORARY TABLE x (n Int8)'])(
    '%s is refused: it would outlive its request',
    async (query) => {
      expect((await failure(client.command({ query }))).code).toBe('48');
    },
  );

  it('cannot come from a session, which is refused', async () => {
    expect((await failure(rows('SELECT 1', { session_id: 'mine' }))).code).toBe('48');
  });

  it('bound the time of a statement', async () => {
    const slow = rows('SELECT sum(sipHash64(number)) FROM numbers(100000000000)', {
      clickhouse_settings: { max_execution_time: 0.2 },
    });
    expect((await failure(slow)).code).toBe('159');
  });

  it('bound the memory of a statement by default', async () => {
    const greedy = rows('SELECT length(groupArray(number)) FROM numbers(1000000000)');
    expect((await failure(greedy)).code).toBe('241');
  });

  it('allow three merges at once, the third a small one where it merges events', async () => {
    const metric = 'BackgroundMergesAndMutationsPoolSize';
    const query = `SELECT value FROM system.metrics WHERE metric = '${metric}'`;
    expect(await rows(query)).toEqual([{ value: '3' }]);
    // ClickHouse lowers the size of a further merge once two run and fewer than this many more could start.
    const setting = 'number_of_free_entries_in_pool_to_lower_max_size_of_merge = (\\\\d+)';
    const lowered = `SELECT extract(engine_full, '${setting}') AS value FROM system.tables WHERE database = 'millrace' AND name = 'events'`;
    expect(await rows(lowered)).toEqual([{ value: '3' }]);
  });

  it('include the database, which belongs to one request', async () => {
    const ask = async (database: string) =>
      askEngine(engine.url, {
        body: 'SELECT currentDatabase()',
        headers: { 'X-ClickHouse-Database': database },
      });
    for (const database of ['default', 'millrace', 'default']) {
      expect(await ask(database)).toMatchObject({ text: `${database}\n` });
    }
    expect((await ask('nowhere')).header('x-clickhouse-exception-code')).toBe('81');
    const both = await askEngine(engine.url, {
      path: '/?database=default',
      body: 'SELECT currentDatabase()',
      headers: { 'X-ClickHouse-Database': 'millrace' },
    });
    expect(both.text).toBe('millrace\n');
  });

  it('a query id is given back, and made where there is none', async () => {
    const named = await client.query({ query: 'SELECT 1', query_id: 'mine' });
    expect(named.response_headers['x-clickhouse-query-id']).toBe('mine');
    const answer = await askEngine(engine.url, { body: 'SELECT 1' });
    expect(answer.header('x-clickhouse-query-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.text).toBe('1\n');
  });
});

describe('errors', () => {
  it('have ClickHouse code, type and status', async () => {
    const error = await failure(rows('SELECT * FROM no_such_table'));
    expect(error).toMatchObject({ code: '60', type: 'UNKNOWN_TABLE' });
    expect(error.message).toMatch(/no_such_table/);
    const answer = await askEngine(engine.url, { body: 'SELEC 1' });
    expect(answer.status).toBe(400);
    expect(answer.header('x-clickhouse-exception-code')).toBe('62');
    expect(answer.text).toMatch(/^Code: 62\. DB::Exception: .*\(SYNTAX_ERROR\) \(version 26/s);
  });

  it('in the middle of a result end it as a ClickHouseError', async () => {
    const result = await client.query({
      query: "SELECT number, throwIf(number = 2000000, 'boom') FROM numbers(4000000)",
      format: 'JSONEachRow',
      clickhouse_settings: { max_threads: 1 },
    });
    let seen = 0;
    const read = async (): Promise<void> => {
      for await (const batch of result.stream()) seen += batch.length;
    };
    const error = await failure(read());
    expect(error).toMatchObject({ code: '395', message: expect.stringContaining('boom') });
    expect(seen).toBeGreaterThan(100_000);
  });

  it("for a statement that is too long are the server's", async () => {
    const long = rows(`SELECT 1 -- ${'x'.repeat(300_000)}`);
    expect((await failure(long)).code).toBe('62');
    const rowsOfText = Array.from({ length: 40_000 }, (_, n) => `(${n})`).join(', ');
    await client.command({ query: 'CREATE TABLE wide (n UInt64) ENGINE = Memory' });
    await client.command({ query: `INSERT INTO wide VALUES ${rowsOfText}` });
    expect(await rows('SELECT count() AS n FROM wide')).toEqual([{ n: '40000' }]);
  });

  it("for a statement about files are the server's", async () => {
    const into = client.command({ query: "SELECT 1 INTO OUTFILE 'x'" });
    expect((await failure(into)).code).toBe('48');
    const from = client.command({ query: "INSERT INTO t FROM INFILE '/etc/passwd' FORMAT CSV" });
    expect((await failure(from)).code).toBe('48');
  });

  it.each([
    'INSERT INTO kept FORMAT CSV 1',
    'INSERT INTO kept SELECT 1',
    'WITH 1 AS n INSERT INTO kept SETTINGS input_format_allow_errors_num = 10 FORMAT CSV 1',
    'DROP TABLE kept',
  ])("for a GET that would change something are the server's: %s", async (sql) => {
    await client.command({ query: 'CREATE TABLE IF NOT EXISTS kept (n UInt64) ENGINE = Memory' });
    const path = `/?query=${encodeURIComponent(sql)}`;
    const answer = await askEngine(engine.url, { method: 'GET', path });
    expect(answer.header('x-clickhouse-exception-code')).toBe('164');
    expect(await rows('SELECT count() AS n FROM kept')).toEqual([{ n: '0' }]);
  });

  // Each text or comment of the engine must be a text or comment here too.
  it.each([
    'SELECT 1 AS $x$; DROP TABLE several',
    'SELECT 1 AS a$x$; DROP TABLE several; SELECT 1 AS b$x$',
    'SELECT +.5a$x$; DROP TABLE several; SELECT 1 AS a$x$',
    'SELECT ‘--’; DROP TABLE several; SELECT 1\n+ 1',
    "SELECT 1 AS “'”; DROP TABLE several; SELECT ‘'’",
    "SELECT 1 // '\n; DROP TABLE several -- '",
    "SELECT 1 -- \r'\n; DROP TABLE several -- '",
    'EXPLAIN AST INSERT INTO several FORMAT CSV 1\n\nDROP TABLE several',
    'WITH 1 AS n INSERT INTO several FORMAT CSV 1\n\nDROP TABLE several',
    "INSERT INTO several SELECT n FROM input('n UInt8') FORMAT CSV 1 /*\n\nDROP TABLE several -- */",
    'INSERT INTO several VALUES (1) /* /* */ ;\nDROP TABLE several -- */ */',
  ])("for several statements are the server's, and none of them runs: %s", async (body) => {
    await client.command({
      query: 'CREATE TABLE IF NOT EXISTS several (n UInt64) ENGINE = Memory',
    });
    const answer = await askEngine(engine.url, { body });
    expect(answer.header('x-clickhouse-exception-code')).toBe('62');
    expect(await rows('SELECT count() AS n FROM several')).toEqual([{ n: '0' }]);
  });

  it('leave a connection as good as new, even a hundred of them', async () => {
    await Promise.all(Array.from({ length: 100 }, () => failure(rows('SELECT nonsense'))));
    expect(await rows('SELECT 1 AS a')).toEqual([{ a: 1 }]);
  });
});

describe('many at once', () => {
  const busy = 'SELECT sum(sipHash64(number)) FROM numbers(100000000000)';
  const idle = 'SELECT sum(sleepEachRow(0.1)) FROM numbers(100000) SETTINGS max_block_size = 1';
  /** Reads that may wait for one of the readers. */
  const maxWaiting = 100;
  const beyond = 40;

  async function running(): Promise<number> {
    const ours = "(query LIKE '%sipHash64%' OR query LIKE '%sleepEachRow%')";
    const [row] = await rows<{ n: string }>(
      `SELECT count() AS n FROM system.processes WHERE ${ours} AND query NOT LIKE '%processes%'`,
    );
    return Number(row?.n);
  }

  /** Asked by an insert: that runs on a writer's connection, when no reader is free. */
  async function everyReaderIsBusy(): Promise<boolean> {
    const isFewer = `throwIf(count() < ${engineReaders}, 'some reader is free')`;
    const query = `INSERT INTO held SELECT ${isFewer} FROM system.processes WHERE query LIKE '%sleepEachRow(0.1)%' AND query NOT LIKE '%held%'`;
    return client.command({ query }).then(
      () => true,
      (error: unknown) => {
        if (String(error).includes('some reader is free')) return false;
        throw error;
      },
    );
  }

  it('statements end when their client hangs up', async () => {
    const hangUp = new AbortController();
    const gone = rows(busy, { abort_signal: hangUp.signal }).catch(() => 'gone');
    await vi.waitUntil(async () => (await running()) === 1, { timeout: 300_000 });
    hangUp.abort();
    expect(await gone).toBe('gone');
    await vi.waitUntil(async () => (await running()) === 0, { timeout: 300_000 });
  });

  it('results end when their client hangs up in the middle', async () => {
    const hangUp = new AbortController();
    const { stream } = await client.exec({
      query: 'SELECT sipHash64(number) FROM numbers(100000000000) FORMAT TSV',
      abort_signal: hangUp.signal,
    });
    for await (const _ of stream) break;
    stream.destroy();
    await vi.waitUntil(async () => (await running()) === 0, { timeout: 300_000 });
  });

  it('statements beyond the queue are refused with code 202, and the others go on', async () => {
    await client.command({ query: 'CREATE TABLE held (n UInt8) ENGINE = Memory' });
    const hangUp = new AbortController();
    const long = Array.from({ length: engineReaders }, () =>
      rows(idle, { abort_signal: hangUp.signal }).catch(() => 'gone'),
    );
    await vi.waitUntil(() => everyReaderIsBusy(), { timeout: 300_000 });
    const outcomes: string[] = [];
    const short = Array.from({ length: maxWaiting + beyond }, async () => {
      const outcome = await rows('SELECT 1').then(
        () => 'answered',
        (error) => (error instanceof ClickHouseError ? error.code : String(error)),
      );
      outcomes.push(outcome);
    });
    await vi.waitUntil(() => outcomes.length === beyond, { timeout: 300_000 });
    expect(new Set(outcomes)).toEqual(new Set(['202']));
    hangUp.abort();
    await Promise.all([...long, ...short]);
    expect(new Set(outcomes.slice(beyond))).toEqual(new Set(['answered']));
    expect(await rows('SELECT 1 AS a')).toEqual([{ a: 1 }]);
  });

  it('a ping is answered while every connection is busy', async () => {
    const hangUp = new AbortController();
    const long = Array.from({ length: engineReaders }, () =>
      rows(idle, { abort_signal: hangUp.signal }).catch(() => 'gone'),
    );
    for (let round = 0; round < 20; round++) {
      expect(await client.ping()).toEqual({ success: true });
    }
    hangUp.abort();
    await Promise.all(long);
    expect(await client.ping({ select: true })).toEqual({ success: true });
  });
});

describe('inserts', () => {
  it('take rows as JSON, as arrays and from the statement itself', async () => {
    await client.command({
      query: 'CREATE TABLE people (id Int64, name String) ENGINE = MergeTree ORDER BY id',
    });
    const values = [
      { id: '-9223372036854775808', name: 'quote\' back\\slash\t"x"\n é🎉' },
      { id: '9223372036854775807', name: '{name:String} $1 ;--' },
    ];
    await client.insert({ table: 'people', values, format: 'JSONEachRow' });
    await client.insert({ table: 'people', values: [[1, 'a']], format: 'JSONCompactEachRow' });
    await client.command({ query: "INSERT INTO people VALUES (2, 'b'), (3, 'c')" });
    await client.command({ query: "INSERT INTO people SELECT number + 4, 'd' FROM numbers(1)" });
    await client.command({
      query: 'INSERT INTO people FORMAT JSONEachRow {"id": 5, "name": "e"}',
    });
    const expected = [values[0], ...'abcde'].map((row, n) =>
      typeof row === 'string' ? { id: String(n), name: row } : row,
    );
    expect(await rows('SELECT * FROM people ORDER BY id')).toEqual([...expected, values[1]]);
  });

  it('store the sent bytes unchanged, in pieces of any size, compressed or not', async () => {
    await client.command({ query: 'CREATE TABLE plain (n UInt64) ENGINE = Memory' });
    await client.command({ query: 'CREATE TABLE packed AS plain' });
    // Random numbers: a byte that is read after its memory was freed changes one.
    const numbers = new BigUint64Array(randomBytes(4_194_304).buffer);
    const bytes = Buffer.from(numbers.buffer);
    const send = async (
      table: string,
      body: Buffer,
      headers: Record<string, string>,
    ): Promise<string> => {
      const query = encodeURIComponent(`INSERT INTO ${table} FORMAT RowBinary`);
      const path = `/?database=millrace&query=${query}`;
      return (await askEngine(engine.url, { path, body, headers })).text;
    };
    const sent = ['plain', 'packed', 'plain', 'packed'].map((table) =>
      table === 'plain'
        ? send(table, bytes, {})
        : send(table, gzipSync(bytes), { 'content-encoding': 'gzip' }),
    );
    expect(await Promise.all(sent)).toEqual(['', '', '', '']);
    const sum = numbers.reduce((total, number) => BigInt.asUintN(64, total + 2n * number), 0n);
    const expected = { count: String(2 * numbers.length), sum: String(sum) };
    for (const table of ['plain', 'packed']) {
      expect(await rows(`SELECT count() AS count, sum(n) AS sum FROM ${table}`)).toEqual([
        expected,
      ]);
    }
  });

  it('of unreadable data fail with a code and leave no file', async () => {
    const { code } = await failure(
      client.insert({
        table: 'people',
        values: [{ id: 'no number', name: 'x' }],
        format: 'JSONEachRow',
      }),
    );
    expect(code).toBe('27');
    const left = readdirSync(join(engine.dir, 'requests'));
    expect(left.filter((name) => name.startsWith('upload'))).toEqual([]);
  });
});
