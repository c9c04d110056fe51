// Tables with rows in many months, made anew in partitions of years: whoever is interrupted or killed, and whoever does
// it at the same time, ends with the same rows in the same tables.
// Takes some 130 seconds.

import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import { createLog } from '../platform/log.ts';
import { inDatabase } from '../test/harness/servers/engine.ts';
import { type OldDatabase, startOldDatabase } from '../test/harness/tables/old-database.ts';
import { expectRollupsOfEvents } from '../test/harness/tables/rollups.ts';
import { storedRow, storeRows } from '../test/harness/tables/stored-events.ts';
import { copyRows } from './copied-rows.ts';
import type { TellDay } from './day-log.ts';
import { migrate } from './migrate.ts';
import { readRemake, remakeTable } from './remake-table.ts';

const log = createLog('silent');
const remade = ['events', 'profile_days', 'visits', 'visit_entries'];
let database: OldDatabase;
let client: DatabaseClient;

beforeAll(async () => {
  database = await startOldDatabase('0028_years.sql');
});
afterAll(() => database?.stop());

let before: unknown;
let created: string[];

function madeRows(part: number) {
  return Array.from({ length: 600 }, (_, index) => {
    const number = index * 2 + part;
    // From 2000 to the turn of 2024, and to 48 hours ahead of a December.
    const occurTimeMs = Date.UTC(2000, number % 326, 1 + (number % 27), 23, 59, 59, 999);
    return storedRow({
      projectId: `p${number % 2}`,
      kind: ['page_view', 'click'][number % 2] ?? '',
      distinctId: `visitor-${number % 11}`,
      cookieless: number % 11 === 4,
      sessionId: `00000000-0000-4000-8000-${String(number % 40).padStart(12, '0')}`,
      occurTimeMs,
      columns: { browser: 'Lynx', country: 'DE', pathname: `/${number % 7}` },
      strings: { plan: `${number % 3}` },
      ints: { n: BigInt(number) },
    });
  });
}

async function rows(query: string): Promise<unknown[][]> {
  const result = await client.query({ query, format: 'JSONCompactEachRow' });
  return result.json<unknown[]>();
}

/** The columns that hold something and those that follow from others, of every row. */
function contents(): Promise<unknown[][]> {
  return rows(
    `SELECT count(), sum(cityHash64(*)), sum(cityHash64(profile_key, os, country, utm_term)) FROM events`,
  );
}

async function createOf(table: string): Promise<string> {
  const [row] = await rows(`SHOW CREATE TABLE ${table}`);
  return String(row?.[0]);
}

async function expectRemade(): Promise<void> {
  expect(await contents()).toEqual(before);
  await expectRollupsOfEvents(client);
  for (const [index, table] of remade.entries()) {
    const time = table === 'events' ? 'occur_time' : 'day';
    const years = `if(toYear(${time}) < 2024, 0, toYear(${time}))`;
    expect(await createOf(table)).toBe(created[index]?.replace(`toYYYYMM(${time})`, years));
  }
  expect(await rows(`SHOW TABLES LIKE '%remade'`)).toEqual([]);
  // 2000 to 2027: one for all that is old, and a year each.
  const [[partitions] = []] = await rows(
    `SELECT uniqExact(partition) FROM system.parts WHERE active AND database = currentDatabase() AND table = 'events'`,
  );
  expect(Number(partitions)).toBeLessThanOrEqual(5);
}

/**
 * The client of a process that ends with the first command that `isLast` names, by `end`: no later call of it reaches
 * the server.
 */
function ending(
  isLast: (query: string) => boolean,
  end: (command: Promise<unknown>) => Promise<unknown>,
): DatabaseClient {
  let hasEnded = false;
  return new Proxy(client, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...given: [{ query: string }]) => {
        if (hasEnded) throw new Interrupted();
        hasEnded = name === 'command' && isLast(given[0].query);
        const answer: Promise<unknown> = member.apply(target, given);
        if (!hasEnded) return answer;
        await end(answer);
        throw new Interrupted();
      };
    },
  });
}

/** True for the first command that was not asked about before. */
function eachOnce(): { seen: Set<string>; isLast: (query: string) => boolean } {
  const seen = new Set<string>();
  return {
    seen,
    isLast: (query) => {
      const isNew = !seen.has(query);
      seen.add(query);
      return isNew;
    },
  };
}

/** As at the embedded engine: nobody waits for the lock of a process that was killed. */
const finishAlone = (by: DatabaseClient) => database.finishMigration({ isAlone: true }, by);

class Interrupted extends Error {}

const isNever = (): boolean => false;

function isInterrupted(error: unknown): boolean {
  if (!(error instanceof Interrupted)) throw error;
  return true;
}

describe('tables with rows in 300 months', () => {
  /** Each test has a database of its own, as the migrations before leave it, with rows in 300 months. */
  beforeEach(async () => {
    const url = inDatabase(database.engine.url, `years_${randomUUID().slice(0, 8)}`);
    client = createClickHouse(url, { log, maxConnections: 4 });
    await database.migrateBefore(client);
    for (const part of [0, 1]) await storeRows(client, madeRows(part));
    before = await contents();
    created = await Promise.all(remade.map(createOf));
    return () => client.close();
  });

  it('have the same rows and clauses, interrupted after each statement', async () => {
    const { seen, isLast } = eachOnce();
    const by = () => ending(isLast, (command) => command);
    while (await finishAlone(by()).then(isNever, isInterrupted)) {
      expect(await contents()).toEqual(before);
    }
    // The tables are made, filled, given their window, exchanged and dropped.
    expect(seen.size).toBeGreaterThan(4 * 5);
    await expectRemade();
    await storeRows(client, madeRows(2));
    await expectRollupsOfEvents(client);
  });

  it('have the same rows after the engine is killed within a statement, whichever it is', async () => {
    const { seen, isLast } = eachOnce();
    // Every second statement: a start takes a second.
    const by = () =>
      ending(
        (query) => isLast(query) && seen.size % 2 === 0,
        (command) => {
          command.catch(() => {});
          return database.engine.kill9();
        },
      );
    while (await finishAlone(by()).then(isNever, isInterrupted)) {
      await database.engine.restart();
    }
    await expectRemade();
  });

  it('have the same rows where several processes make them at once', async () => {
    const remakes = database.statements.flatMap((statement) => readRemake(statement) ?? []);
    const makeAll = async () => {
      for (const remake of remakes) await remakeTable(client, remake);
    };
    await Promise.all(Array.from({ length: 3 }, makeAll));
    await expectRemade();
  });

  it('are left as they are where the disk has no room for a copy, and one sentence says so', async () => {
    const end = database.finishMigration({ freeBytes: async () => 0 }, client);
    await expect(end).rejects.toThrow(
      /^the table events is copied once.* \d MiB .* 0 free: make room and start again$/,
    );
    expect(await contents()).toEqual(before);
    expect(await createOf('events')).toBe(created[0]);
  });

  it('ask for promised batches to be finished before each table, and not once they are made anew', async () => {
    const asked: string[] = [];
    const beforeRemake = async () => {
      const [[old] = []] = await rows(
        `SELECT arrayStringConcat(arraySort(groupArray(name)), ' ') FROM system.tables
        WHERE database = currentDatabase() AND partition_key LIKE 'toYYYYMM%'`,
      );
      asked.push(String(old));
    };
    await database.finishMigration({ beforeRemake }, client);
    await database.finishMigration({ beforeRemake }, client);
    expect(asked).toEqual([
      'events profile_days visit_entries visits',
      'profile_days visit_entries visits',
      'visit_entries visits',
      'visit_entries',
    ]);
    await expectRemade();
  });

  it('know an insert that is repeated after the server has started anew', async () => {
    await database.finishMigration({}, client);
    const insert = () =>
      client.command({
        query: `INSERT INTO events (project_id, event_id, kind, session_id, occur_time)
        SELECT 'again', toUUID('00000000-0000-4000-8000-000000000001'), 'k', toUUID('00000000-0000-4000-8000-000000000002'),
          toDateTime64('2003-01-01 00:00:00', 3, 'UTC') + toIntervalMonth(number) FROM numbers(280)`,
        clickhouse_settings: {
          insert_deduplication_token: 'again',
          max_partitions_per_insert_block: '0',
        },
      });
    await insert();
    await database.engine.kill9();
    await database.engine.restart();
    await insert();
    const sums = ['events', 'event_counts', 'profile_days', 'visits'].map((table) =>
      rows(
        `SELECT ${table === 'events' ? 'count()' : 'sum(events)'} FROM ${table} WHERE project_id = 'again'`,
      ),
    );
    expect((await Promise.all(sums)).flat(2)).toEqual(['280', '280', '280', '280']);
  });
});

it('are copied in slices where a day has many rows, each once, and repeated to no effect', async () => {
  // Without views, which would take most of the time.
  const long = createClickHouse(
    inDatabase(database.engine.url, `years_${randomUUID().slice(0, 8)}`),
    { log, maxConnections: 2, requestTimeoutMs: 120_000 },
  );
  await migrate(long, log, { directory: mkdtempSync(join(tmpdir(), 'millrace-no-migrations-')) });
  await long.command({ query: `CREATE TABLE events AS ${database.client.database}.events` });
  await long.command({ query: `CREATE TABLE copy AS events` });
  await long.command({
    query: `INSERT INTO events (project_id, event_id, kind, distinct_id, occur_time)
      SELECT 'long', generateUUIDv4(number), 'k', if(number % 2 = 0, 'one', toString(number)),
        toDateTime64('2026-11-20 00:00:00', 3, 'UTC') + toIntervalSecond(number % 86400) FROM numbers(450000)`,
  });
  const of = async (table: string) => {
    const query = `SELECT count(), uniqExact(event_id), sum(cityHash64(*)) FROM ${table}`;
    return (await long.query({ query, format: 'JSONCompactEachRow' })).json();
  };
  const asCopied = { from: 'events', to: 'copy', key: 'toYYYYMM(occur_time)' };
  const told = new Set<string>();
  const tellDay: TellDay = ({ day, done, of }) => void told.add(`${day} ${done}/${of}`);
  expect(await copyRows(long, asCopied, tellDay)).toBe(true);
  expect([...told]).toEqual(['2026-11-20 0/1']);
  expect(await of('copy')).toEqual(await of('events'));
  // Of a process that was killed before its last slice, as the next one sees it.
  const last = `DELETE WHERE distinct_id = 'one' AND cityHash64(event_id) % 3 = 1 SETTINGS mutations_sync = 1`;
  await long.command({ query: `ALTER TABLE copy ${last}` });
  expect(await copyRows(long, asCopied)).toBe(false);
  await long.close();
});

it('of an empty database are made anew at once', async () => {
  const url = inDatabase(database.engine.url, `years_${randomUUID().slice(0, 8)}`);
  const empty = createClickHouse(url, { log, maxConnections: 2 });
  await migrate(empty, log);
  await storeRows(empty, madeRows(0));
  await expectRollupsOfEvents(empty);
  await empty.close();
});

it('are named by one statement only', () => {
  expect(readRemake('-- why\n-- more\nREMAKE TABLE t PARTITION BY f(x)')).toEqual({
    table: 't',
    key: 'f(x)',
  });
  expect(readRemake('SELECT 1 -- REMAKE TABLE t PARTITION BY x')).toBeUndefined();
});
