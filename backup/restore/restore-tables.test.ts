// Rows that are sent from one engine to another: as many as there were, whatever they say.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../platform/log.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { countOf } from '../row-pieces.ts';
import { rowsOf, run, storeFunctions } from '../store-tables.ts';
import { requireEmptyStore, rowsOfEngine } from './restore-tables.ts';

const [from, to] = [useEngine(), useEngine()];
let [source, target]: DatabaseClient[] = [];
beforeAll(() => {
  const options = { log: createLog('silent'), maxConnections: 2 };
  source = createClickHouse(from.url, options);
  target = createClickHouse(to.url, options);
});
afterAll(() => Promise.all([source?.close(), target?.close()]));

it('of two parts with the same rows of sums both are there', async () => {
  if (source === undefined || target === undefined) throw new Error('no client');
  await run(source, 'SYSTEM STOP MERGES event_counts');
  await run(target, 'SYSTEM STOP MERGES event_counts');
  for (let part = 0; part < 2; part++) {
    await run(
      source,
      `INSERT INTO event_counts (project_id, kind, quarter, events) SETTINGS insert_deduplication_token = '${part}'
        VALUES ('p', 'k', '2026-01-01 00:00:00', 5)`,
    );
  }
  expect(await countOf(source, 'event_counts')).toBe(2);
  const saved = { name: 'event_counts', rows: 2, parts: [] };
  await rowsOfEngine(source)(target, { name: 'event_counts', uuid: '', path: '' }, saved);
  expect(await countOf(target, 'event_counts')).toBe(2);
  expect(await rowsOf(target, 'SELECT sum(events) FROM event_counts')).toEqual([['10']]);
});

it('a server with the functions of another instance is refused, and a database with tables', async () => {
  if (source === undefined || target === undefined) throw new Error('no client');
  const store = { kind: 'rows', migrations: [], tables: [] } as const;
  const ofBackup = (functions: { name: string; create: string }[]) => ({
    ...store,
    migrations: [],
    tables: [],
    functions,
  });
  const other = { name: 'millraceEventKey', create: 'CREATE FUNCTION millraceEventKey AS x -> x' };
  await expect(requireEmptyStore(target, ofBackup([other]), { again: false })).rejects.toThrow(
    'holds the function millraceEventKey of another instance',
  );
  const own = ofBackup(await storeFunctions(target));
  await expect(requireEmptyStore(target, own, { again: false })).rejects.toThrow(
    'the database millrace has tables',
  );
  await requireEmptyStore(target, own, { again: true });
  await requireEmptyStore(target, own, { again: false });
});
