import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Int64, Table, tableToIPC, vectorFromArray } from 'apache-arrow';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createClickHouse,
  type DatabaseClient,
  insertArrow,
} from '../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../platform/log.ts';
import { compiledEngine } from '../../test/harness/compiled-entries.ts';
import type { ChildServer } from '../../test/harness/servers/child-server.ts';
import { passwordFileIn, startEngine } from '../../test/harness/servers/engine.ts';

let dir: string;
let engine: ChildServer;
let client: DatabaseClient;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'millrace-durability-'));
  engine = await startEngine({ dir });
  client = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 8 });
});
afterEach(async () => {
  await client.close();
  await engine.stop();
  rmSync(dir, { recursive: true });
});

const settings = 'SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1';

/** Makes a table and a view that counts its rows; a slow one delays each insert by eight seconds. */
async function createTables(isSlow: boolean): Promise<void> {
  // One call may sleep for three seconds, and the same call twice is one.
  const hold = isSlow ? 'WHERE sleep(3) = 0 AND sleep(2.9) = 0 AND sleep(2.1) = 0' : '';
  for (const query of [
    `CREATE TABLE numbers (n Int64) ENGINE = MergeTree ORDER BY n ${settings}`,
    `CREATE TABLE totals (one UInt8, rows UInt64) ENGINE = SummingMergeTree ORDER BY one ${settings}`,
    `CREATE MATERIALIZED VIEW numbers_to_totals TO totals AS
      SELECT 1 AS one, count() AS rows FROM numbers ${hold} GROUP BY one`,
  ]) {
    await client.command({ query });
  }
}

function arrowOf(count: number): Uint8Array {
  const numbers = Array.from({ length: count }, (_, index) => BigInt(index));
  return tableToIPC(new Table({ n: vectorFromArray(numbers, new Int64()) }), 'stream');
}

async function counted(): Promise<{ rows: number; total: number }> {
  const result = await client.query({
    query: 'SELECT (SELECT count() FROM numbers) AS rows, (SELECT sum(rows) FROM totals) AS total',
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ rows: string; total: string }>();
  return { rows: Number(row?.rows), total: Number(row?.total) };
}

async function valuesOf(query: string): Promise<string[]> {
  const result = await client.query({ query, format: 'JSONCompactEachRow' });
  return (await result.json<string[]>()).flat();
}

const isWritten = async (rows: number): Promise<boolean> => (await counted()).rows === rows;

describe('kill -9', () => {
  it('between a table and its view: the repeated insert completes both', async () => {
    await createTables(true);
    const sent = insertArrow(client, 'numbers', arrowOf(1_000), 'a').catch(() => 'cut off');
    await vi.waitUntil(() => isWritten(1_000), { timeout: 300_000, interval: 20 });
    await engine.kill9();
    expect(await sent).toBe('cut off');
    await engine.restart();
    expect(await counted()).toEqual({ rows: 1_000, total: 0 });
    await insertArrow(client, 'numbers', arrowOf(1_000), 'a');
    expect(await counted()).toEqual({ rows: 1_000, total: 1_000 });
  });

  it.each([
    ['numbers', { rows: 2_000, total: 3_000 }],
    ['totals', { rows: 3_000, total: 2_000 }],
  ])(
    'between the record and the part of %s: the repeated insert adds the rows',
    async (table, torn) => {
      await createTables(false);
      for (const token of ['a', 'b', 'c'])
        await insertArrow(client, 'numbers', arrowOf(1_000), token);
      const [part = ''] = await valuesOf(
        `SELECT path FROM system.parts WHERE active AND table = '${table}' ORDER BY min_block_number DESC LIMIT 1`,
      );
      await engine.kill9();
      rmSync(part, { recursive: true });
      await engine.restart();
      expect(await counted()).toEqual(torn);
      for (const token of ['a', 'b', 'c', 'c']) {
        await insertArrow(client, 'numbers', arrowOf(1_000), token);
      }
      expect(await counted()).toEqual({ rows: 3_000, total: 3_000 });
    },
  );

  it('in the middle of a record: the next one has a line of its own', async () => {
    await createTables(false);
    await insertArrow(client, 'numbers', arrowOf(1_000), 'a');
    const [path = ''] = await valuesOf(
      "SELECT data_paths[1] FROM system.tables WHERE name = 'numbers'",
    );
    await engine.kill9();
    appendFileSync(join(path, 'deduplication_logs/deduplication_log_1.txt'), '1\tall_2');
    await engine.restart();
    await insertArrow(client, 'numbers', arrowOf(1_000), 'b');
    await engine.restart();
    for (const token of ['a', 'b']) await insertArrow(client, 'numbers', arrowOf(1_000), token);
    expect(await counted()).toEqual({ rows: 2_000, total: 2_000 });
  });

  it('at any moment loses no acknowledged insert, and doubles no repeated one', async () => {
    await createTables(false);
    const arrow = arrowOf(20_000);
    let acknowledged = 0;
    for (let round = 0; round < 4; round++) {
      const tokens = Array.from({ length: 12 }, (_, index) => `${round}-${index}`);
      const unanswered = new Set(tokens);
      const insert = async (token: string): Promise<void> => {
        await insertArrow(client, 'numbers', arrow, token);
        unanswered.delete(token);
      };
      const all = Promise.allSettled(tokens.map(insert));
      // Some inserts are in the table, some on their way; the share differs from round to round.
      await vi.waitUntil(() => unanswered.size <= 11 - 2 * round, {
        timeout: 300_000,
        interval: 1,
      });
      await engine.kill9();
      await all;
      await engine.restart();
      const { rows } = await counted();
      acknowledged += tokens.length - unanswered.size;
      expect(rows).toBeGreaterThanOrEqual(acknowledged * 20_000);
      await Promise.all([...unanswered].map(insert));
      acknowledged = (round + 1) * tokens.length;
      const exact = acknowledged * 20_000;
      expect(await counted()).toEqual({ rows: exact, total: exact });
    }
  });

  it('leaves files that the next start removes', async () => {
    await engine.stop();
    const requests = join(dir, 'requests');
    mkdirSync(requests, { recursive: true });
    const stale = join(requests, 'upload-7');
    writeFileSync(stale, 'left by a process that was killed');
    await engine.restart();
    expect(existsSync(stale)).toBe(false);
  });
});

describe('the end', () => {
  it('on SIGTERM comes after the running inserts, and cuts reads short', async () => {
    await createTables(true);
    const sent = insertArrow(client, 'numbers', arrowOf(1_000), 'a');
    const read = client
      .query({ query: 'SELECT sum(sleepEachRow(1)) FROM numbers(100) SETTINGS max_block_size = 1' })
      .then((result) => result.text())
      .catch((error) => error.code);
    await vi.waitUntil(() => isWritten(1_000), { timeout: 300_000, interval: 20 });
    process.kill(engine.pid(), 'SIGTERM');
    await sent;
    expect(await read).toBe('394');
    await engine.restart();
    expect(await counted()).toEqual({ rows: 1_000, total: 1_000 });
  });

  it('on SIGTERM does not wait for a client that takes nothing', async () => {
    const { stream } = await client.exec({
      query: "SELECT repeat('x', 100) FROM numbers(100000000) FORMAT TSV",
    });
    const stopped = engine.stop();
    stream.on('error', () => {});
    await stopped;
    await engine.restart();
  });

  it('comes by itself once the parent is gone', async () => {
    await engine.stop();
    const args = [compiledEngine(), '--path', dir, '--socket', join(dir, 'engine.sock')];
    args.push('--password-file', passwordFileIn(dir));
    const child = spawn(process.execPath, args, { stdio: 'pipe' });
    await once(createInterface({ input: child.stdout }), 'line');
    child.stdin.end();
    expect(await once(child, 'exit')).toEqual([0, null]);
    await engine.restart();
  });

  it('is immediate for a second engine on the same directory', async () => {
    const args = [compiledEngine(), '--path', dir, '--socket', join(dir, 'engine.sock')];
    args.push('--password-file', passwordFileIn(dir));
    const child = spawn(process.execPath, args, { stdio: 'pipe' });
    const lines: string[] = [];
    createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
    expect(await once(child, 'exit')).toEqual([1, null]);
    expect(lines.join('\n')).toMatch(/Cannot lock .*\nmillrace engine: /s);
    await createTables(false);
    await insertArrow(client, 'numbers', arrowOf(10), 'a');
    expect(await counted()).toEqual({ rows: 10, total: 10 });
  });
});
