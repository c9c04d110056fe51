import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, describe, expect, it } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import { createLog } from '../platform/log.ts';
import { inDatabase } from '../test/harness/servers/engine.ts';
import { useEngine } from '../test/harness/servers/use-servers.ts';
import { migrate, refuseOldServer, splitStatements } from './migrate.ts';

const log = createLog('silent');
const engine = useEngine({ migrated: false });
const clients: DatabaseClient[] = [];
const directories: string[] = [];

afterAll(async () => {
  for (const client of clients) await client.close();
  for (const directory of directories) rmSync(directory, { recursive: true });
});

function clientOf(database: string): DatabaseClient {
  const url = inDatabase(engine.url, database);
  const client = createClickHouse(url, { log, maxConnections: 4 });
  clients.push(client);
  return client;
}

function migrations(files: Record<string, string>): string {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-migrations-'));
  directories.push(directory);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}

async function rows<T>(client: DatabaseClient, query: string): Promise<T[]> {
  return (await client.query({ query, format: 'JSONEachRow' })).json<T>();
}

const applied = 'SELECT name FROM schema_migrations FINAL ORDER BY name';

const everyMigration = readdirSync(join(import.meta.dirname, 'migrations'))
  .toSorted()
  .map((name) => ({ name }));

describe('migrate', () => {
  it('puts no time limit on a statement', async () => {
    const text = "SELECT throwIf(getSetting('max_execution_time') > 0)";
    await migrate(clientOf('unhurried'), log, { directory: migrations({ '0001_slow.sql': text }) });
  });

  it('creates the database and every table, and does nothing the second time', async () => {
    const client = clientOf('millrace');
    await migrate(client, log);
    const tables = await rows<{ name: string }>(client, 'SHOW TABLES');
    expect(tables.map((table) => table.name)).toEqual(
      expect.arrayContaining(['events', 'profile_activity', 'schema_migrations']),
    );
    const hash = "SELECT hex(millraceProfileHash('p', 'd')) AS hash";
    const before = await rows(client, hash);
    await migrate(client, log);
    expect(await rows(client, hash)).toEqual(before);
    expect(await rows(client, applied)).toEqual(everyMigration);
  });

  it('applies files in the order of their names, and only new ones at the next call', async () => {
    const client = clientOf('ordered');
    const first = {
      '0002_rows.sql': "INSERT INTO t VALUES ('a;b'), ('c -- d');",
      '0001_table.sql': 'CREATE TABLE IF NOT EXISTS t (s String) ENGINE = MergeTree ORDER BY s',
      'notes.txt': 'no statement',
    };
    await migrate(client, log, { directory: migrations(first) });
    expect(await rows(client, 'SELECT s FROM t ORDER BY s')).toEqual([
      { s: 'a;b' },
      { s: 'c -- d' },
    ]);
    const later = { ...first, '0003_more.sql': "INSERT INTO t VALUES ('e')" };
    await migrate(client, log, { directory: migrations(later) });
    expect(await rows(client, 'SELECT count() AS n FROM t')).toEqual([{ n: '3' }]);
    expect(await rows(client, applied)).toEqual(
      ['0001_table.sql', '0002_rows.sql', '0003_more.sql'].map((name) => ({ name })),
    );
  });

  it('refuses a file that was changed after it was applied, and names it', async () => {
    const client = clientOf('changed');
    const name = '0001_a.sql';
    const text = 'CREATE TABLE IF NOT EXISTS a (n Int8) ENGINE = Memory';
    await migrate(client, log, { directory: migrations({ [name]: text }) });
    const changed = migrate(client, log, { directory: migrations({ [name]: `${text} ` }) });
    await expect(changed).rejects.toThrow('sql/migrations/0001_a.sql was changed');
  });

  it('refuses a database with migrations that it does not know', async () => {
    const client = clientOf('ahead');
    const both = { '0001_a.sql': 'SELECT 1', '0002_b.sql': 'SELECT 1' };
    await migrate(client, log, { directory: migrations(both) });
    const behind = migrate(client, log, { directory: migrations({ '0001_a.sql': 'SELECT 1' }) });
    await expect(behind).rejects.toThrow('0002_b.sql');
  });

  it('repeats a file in which it was stopped', async () => {
    const client = clientOf('stopped');
    const table = 'CREATE TABLE IF NOT EXISTS t (n UInt64) ENGINE = MergeTree ORDER BY n;';
    const broken = migrations({ '0001_t.sql': `${table} SELECT throwIf(1)` });
    await expect(migrate(client, log, { directory: broken })).rejects.toMatchObject({
      code: '395',
    });
    expect(await rows(client, applied)).toEqual([]);
    await migrate(client, log, { directory: migrations({ '0001_t.sql': `${table} SELECT 1` }) });
    expect(await rows(client, applied)).toEqual([{ name: '0001_t.sql' }]);
  });

  it('runs a statement for each day that has events', async () => {
    const client = clientOf('daily');
    const files = migrations({
      '0001_t.sql': `CREATE TABLE events (occur_time DateTime64(3, 'UTC')) ENGINE = MergeTree ORDER BY occur_time;
        INSERT INTO events VALUES ('2026-10-02 23:59:59.999'), ('2026-09-30 00:00:00'), ('2026-10-02 01:00:00');
        CREATE TABLE days (day Date, events UInt64) ENGINE = MergeTree ORDER BY day;
        INSERT INTO days SELECT '{day}', count() FROM events WHERE toDate(occur_time) = '{day}'`,
    });
    await migrate(client, log, { directory: files });
    expect(await rows(client, 'SELECT * FROM days ORDER BY day')).toEqual([
      { day: '2026-09-30', events: '1' },
      { day: '2026-10-02', events: '2' },
    ]);
  });

  it('tells in the log which file begins, and every two seconds which day of a loop', async () => {
    const directory = migrations({
      '0001_t.sql': `CREATE TABLE events (occur_time DateTime64(3, 'UTC')) ENGINE = MergeTree ORDER BY occur_time;
        INSERT INTO events SELECT toDateTime64('2026-10-01 00:00:00', 3, 'UTC') + toIntervalDay(number) FROM numbers(5)`,
      '0002_days.sql': "SELECT '{day}'",
    });
    const told = async (database: string, stepMs: number): Promise<object[]> => {
      const lines: object[] = [];
      const write = (line: string): void => void lines.push(JSON.parse(line));
      const plain = { base: null, timestamp: false };
      let nowMs = 0;
      const clock = { nowMs: () => (nowMs += stepMs) };
      await migrate(clientOf(database), pino(plain, { write }), { directory, clock });
      return lines;
    };
    const [first, second] = ['0001_t.sql', '0002_days.sql'].map((migration) => ({
      level: 30,
      migration,
    }));
    const goesOn = (done: number) => {
      const day = `2026-10-0${done + 1}`;
      return { ...second, day, done, of: 5, msg: 'a migration goes on' };
    };
    const lines = (...between: object[]) => [
      { ...first, msg: 'a migration begins' },
      { ...first, msg: 'applied a migration' },
      { ...second, msg: 'a migration begins' },
      ...between,
      { ...second, msg: 'applied a migration' },
    ];
    expect(await told('told', 1_000)).toEqual(lines(goesOn(1), goesOn(3)));
    expect(await told('told_nothing', 0)).toEqual(lines());
    // Nothing begins where all is applied.
    expect(await told('told', 1_000)).toEqual([]);
  });

  it('works in several processes that begin at once and take turns', async () => {
    let before: Promise<unknown> = Promise.resolve();
    const migrateInTurn = (): Promise<void> => {
      const turn = before;
      const ended = migrate(clientOf('crowd'), log, { onBegin: async () => void (await turn) });
      before = ended;
      return ended;
    };
    await Promise.all(Array.from({ length: 4 }, migrateInTurn));
    const client = clientOf('crowd');
    await migrate(client, log);
    expect(await rows(client, applied)).toEqual(everyMigration);
    expect(await rows(client, 'SELECT count() AS n FROM events')).toEqual([{ n: '0' }]);
  });
});

it('refuses a server that is too old, with its version', () => {
  for (const version of ['26.4.1.1', '26.7.2.1', '27.1.1.1']) {
    expect(() => refuseOldServer(version)).not.toThrow();
  }
  for (const version of ['26.3.9.1', '25.8.1.1', '']) {
    expect(() => refuseOldServer(version)).toThrow(`26.4 or newer is needed, this is ${version}:`);
  }
});

describe('splitStatements', () => {
  it('ends statements at semicolons outside texts and comments, and drops empty ones', () => {
    const text = "-- head;\nSELECT ';', `;`;\n/* ; */\n;SELECT 2\n-- tail;\n";
    expect(splitStatements(text)).toEqual(["-- head;\nSELECT ';', `;`", 'SELECT 2\n-- tail;']);
  });

  it('draws a new number for each {random}', () => {
    const [statement = ''] = splitStatements('SELECT {random}, {random}');
    const [, first, second] = /^SELECT (\d+), (\d+)$/.exec(statement) ?? [];
    expect(first).toBeDefined();
    expect(first).not.toBe(second);
    expect(BigInt(first ?? '') < 2n ** 64n).toBe(true);
  });
});
