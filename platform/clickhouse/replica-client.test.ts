// Several addresses of one real engine stand for servers that hold the same tables: behind each is a door that can be
// shut, or go silent. A second engine is a server with other tables.

import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Int64, Table, tableToIPC, vectorFromArray } from 'apache-arrow';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { inDatabase } from '../../test/harness/servers/engine.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { createLog } from '../log.ts';
import { type DatabaseClient, failureOf, insertArrow } from './clickhouse.ts';
import { openStore } from './replica-client.ts';
import { collectRows } from './select-rows.ts';
import { readServerUrl, socketUrl } from './server-url.ts';

const engine = useEngine({ migrated: false });
const other = useEngine({ migrated: false });
const log = createLog('silent');
const directory = mkdtempSync(join(tmpdir(), 'millrace-doors-'));
afterAll(() => rmSync(directory, { recursive: true }));

interface Door {
  url: string;
  /** Bytes that came from clients while it was open. */
  passed(): number;
  open(): void;
  /** Breaks all connections and takes no new one. */
  shut(): void;
  /** Connections stay and new ones are taken, and nothing passes. */
  silence(): void;
}

let doors = 0;
/** A comma in the path, which CLICKHOUSE_URL has between URLs. */
async function startDoor(serverUrl: string): Promise<Door> {
  const { socketPath = '', http, database } = readServerUrl(serverUrl);
  const path = join(directory, `a,b;${++doors}.sock`);
  const sockets = new Set<Socket>();
  let state: 'open' | 'shut' | 'silent' = 'open';
  let passed = 0;
  const server = createServer((client) => {
    sockets.add(client);
    client.on('error', () => {});
    if (state === 'shut') return void client.destroy();
    if (state === 'silent') return;
    const service = connect(socketPath);
    sockets.add(service);
    for (const [from, to] of [
      [client, service],
      [service, client],
    ] as const) {
      from.on('error', () => {});
      from.on('close', () => to.destroy());
      from.on('data', (bytes) => {
        if (from === client) passed += bytes.length;
        if (state === 'open') to.write(bytes);
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  onTestFinished(() => {
    breakAll();
    server.close();
  });
  return {
    url: socketUrl(path, database, http.password),
    passed: () => passed,
    open() {
      state = 'open';
      // What it swallowed is gone.
      breakAll();
    },
    shut() {
      state = 'shut';
      breakAll();
    },
    silence() {
      state = 'silent';
    },
  };
}

async function openAt(...at: readonly Door[]): Promise<DatabaseClient> {
  const urls = at.map(({ url }) => url);
  const client = await openStore(urls, { log, maxConnections: 4, lookEveryMs: 50 });
  onTestFinished(() => client.close());
  return client;
}

let databases = 0;
const freshUrl = (server = engine): string => inDatabase(server.url, `replicas_${++databases}`);

/** With a table, and with the one that tells stores apart. */
async function makeStore(url: string, storeId: string): Promise<void> {
  const client = await openStore([inDatabase(url, 'default')], { log, maxConnections: 1 });
  const { database } = readServerUrl(url);
  const run = (query: string) => client.command({ query });
  await run(`CREATE DATABASE ${database}`);
  await run(
    `CREATE TABLE ${database}.store_identity (store_id String) ENGINE = MergeTree ORDER BY ()`,
  );
  await run(`INSERT INTO ${database}.store_identity VALUES ('${storeId}')`);
  await run(`CREATE TABLE ${database}.numbers (n Int64) ENGINE = MergeTree ORDER BY n
    SETTINGS non_replicated_deduplication_window = 100`);
  await client.close();
}

const numbers = (values: bigint[]): Uint8Array =>
  tableToIPC(new Table({ n: vectorFromArray(values, new Int64()) }), 'stream');

async function count(client: DatabaseClient): Promise<unknown> {
  const signal = AbortSignal.timeout(60_000);
  const select = { sql: 'SELECT count() FROM numbers', params: {}, settings: {}, signal };
  return (await collectRows(client, select, 1_024)).rows[0]?.[0];
}

async function twoDoors(): Promise<[Door, Door]> {
  const url = freshUrl();
  await makeStore(url, 'of both');
  return [await startDoor(url), await startDoor(url)];
}

describe('of several servers', () => {
  it('one is asked, until its connections break: then the next one, and no other while that answers', async () => {
    const [first, second] = await twoDoors();
    second.shut();
    const client = await openAt(first, second);
    second.open();
    await insertArrow(client, 'numbers', numbers([1n]), 'a');
    expect(await count(client)).toBe(1);
    const [ofFirst, ofSecond] = [first.passed(), second.passed()];
    expect(ofFirst).toBeGreaterThan(0);
    expect(ofSecond).toBe(0);
    first.shut();
    await expect.poll(() => count(client).catch(() => 'failed')).toBe(1);
    expect(await client.isReady()).toBe(true);
    first.open();
    await expect.poll(() => client.isReady()).toBe(true);
    second.shut();
    await expect.poll(() => count(client).catch(() => 'failed')).toBe(1);
    expect(first.passed()).toBeGreaterThan(ofFirst);
    first.shut();
    await expect.poll(() => client.isReady()).toBe(false);
    await expect(count(client)).rejects.toThrow();
  });

  it('a silent one is left: its calls end, and an insert is there once when it is made again', async () => {
    const [first, second] = await twoDoors();
    second.shut();
    const client = await openAt(first, second);
    second.open();
    await expect.poll(() => client.isReady()).toBe(true);
    first.silence();
    const [insert, read] = await Promise.allSettled([
      insertArrow(client, 'numbers', numbers([1n, 2n]), 'a'),
      count(client),
    ]);
    for (const ended of [insert, read]) {
      expect(ended).toMatchObject({ status: 'rejected', reason: { code: 'SERVER_LEFT' } });
      if (ended.status === 'rejected') expect(failureOf(ended.reason)).toBe('retry');
    }
    await insertArrow(client, 'numbers', numbers([1n, 2n]), 'a');
    await insertArrow(client, 'numbers', numbers([1n, 2n]), 'a');
    expect(await count(client)).toBe(2);
  });

  it('one that refuses what its group can do is left for a while', async () => {
    const [first, second] = await twoDoors();
    second.shut();
    const client = await openAt(first, second);
    second.open();
    const readOnly = client.command({
      query: "SELECT throwIf(1, 'the table is read only', 242::Int16)",
      clickhouse_settings: { allow_custom_error_code_in_throwif: 1 },
    });
    await expect(readOnly).rejects.toThrow('read only');
    await expect.poll(() => second.passed()).toBeGreaterThan(0);
    await expect.poll(() => count(client).catch(() => 'failed')).toBe(0);
  });

  it('one with other tables is not asked', async () => {
    const [url, otherUrl] = [freshUrl(), freshUrl(other)];
    await makeStore(url, 'of the group');
    await makeStore(otherUrl, 'another');
    const [first, second] = [await startDoor(url), await startDoor(otherUrl)];
    second.shut();
    const client = await openAt(first, second);
    second.open();
    // It has learned what tells the store by now.
    const ofStart = first.passed();
    await expect.poll(() => first.passed()).toBeGreaterThan(ofStart + 2_000);
    first.shut();
    await expect.poll(() => second.passed()).toBeGreaterThan(2_000);
    await expect(count(client)).rejects.toThrow();
    first.open();
    expect(await count(client)).toBe(0);
  });
});

it('a store is opened where one of its servers lets us in, and else says why of each', async () => {
  const [first, second] = await twoDoors();
  first.shut();
  const client = await openAt(first, second);
  expect(await count(client)).toBe(0);
  const nowhere = [1, 2].map((n) => socketUrl(join(directory, `nothing-${n}`), 'x', 'secret'));
  await expect(openStore(nowhere, { log, maxConnections: 1 })).rejects.toThrow(
    /^ClickHouse at .*nothing-1 cannot be used: nothing listens there\nClickHouse at .*nothing-2 cannot be used: nothing listens there$/,
  );
});
