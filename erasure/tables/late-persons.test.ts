// Attempts at webhooks that came late, where the persons are in another group of servers than the log: each group has
// keys of its own for the hashes that name persons.

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { type ErasureRecord, packIds } from '../../platform/erasure/erasure-record.ts';
import { createLog } from '../../platform/log.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { storeAttempts } from '../../test/harness/tables/stored-attempts.ts';
import { latePersons } from './late-persons.ts';
import { selectRows } from './select-rows.ts';

// One of its own directory: the others have one template, and so the same keys.
const dir = mkdtempSync(join(tmpdir(), 'millrace-late-'));
beforeAll(() => () => rmSync(dir, { recursive: true, force: true }));
const engines = [useEngine(), useEngine({ dir })] as const;
let log: DatabaseClient;
let store: DatabaseClient;

beforeAll(() => {
  const options = { log: createLog('silent'), maxConnections: 2 };
  [log, store] = [
    createClickHouse(engines[0].url, options),
    createClickHouse(engines[1].url, options),
  ];
});
afterAll(async () => {
  await log?.close();
  await store?.close();
});

const completedAtMs = Date.now();

async function requestOf(projectId: string, distinctId: string): Promise<ErasureRecord> {
  const sql = `SELECT lower(hex(millraceProfileHash('${projectId}', '${distinctId}')))`;
  const [[id] = []] = await selectRows(store, sql);
  const profileId = String(id);
  return {
    ...{ schemaVersion: 1, requestId: randomUUID(), projectId, status: 'completed' },
    ...{ profileId, ids: packIds([profileId]), sealedId: '', events: 0, error: '' },
    ...{ requestedAtMs: completedAtMs - 1_000, completedAtMs },
  };
}

it('finds whom an attempt names alone, unless the event was accepted after the erasure', async () => {
  const projectId = randomUUID();
  const ids = ['ada', 'bob', 'eve', 'grace'];
  const requests = await Promise.all(ids.map((id) => requestOf(projectId, id)));
  const [ada, , eve] = requests;
  expect(await latePersons({ store, log }, requests)).toEqual([]);
  await storeAttempts(log, projectId, {
    ada: completedAtMs - 1,
    bob: completedAtMs + 1,
    eve: completedAtMs - 5_000,
  });
  expect(await latePersons({ store, log }, requests)).toEqual([ada, eve]);
  expect(await latePersons({ store: log, log }, requests)).toEqual([]);
});

it('tells the keys of the other group neither in texts nor in errors', async () => {
  const projectId = randomUUID();
  const requests = [await requestOf(projectId, 'ada')];
  await storeAttempts(log, projectId, { ada: completedAtMs - 1 });
  const sql = "SELECT create_query FROM system.functions WHERE name = 'millraceProfileHash'";
  const [[text] = []] = await selectRows(store, sql);
  const keys = [...String(text).matchAll(/toUInt64\((\d+)\)/g)].map(([, key]) => String(key));
  expect(keys).toHaveLength(2);
  const asked: string[] = [];
  const reading = (
    change: (query: string) => string,
  ): Pick<DatabaseClient, 'query' | 'command'> => ({
    command: log.command.bind(log),
    query: (options) => {
      asked.push(options.query);
      return log.query({ ...options, query: change(options.query) });
    },
  });
  const told = await latePersons({ store, log: reading((query) => query) }, requests);
  expect(told).toEqual(requests);
  // The engine repeats the whole statement.
  const failing = reading((query) => query.replace('accept_time', 'no_column'));
  const failure = await latePersons({ store, log: failing }, requests).catch(String);
  expect(failure).toBe('Error: erasure: the log of webhooks cannot be read: UNKNOWN_IDENTIFIER');
  expect(asked).toHaveLength(2);
  for (const key of keys) expect(asked.join()).not.toContain(key);
});
