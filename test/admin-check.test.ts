// `npm run admin -- check` as an operator runs it: derived tables that are right, and each of them wrong.
// test/admin-command.test.ts has it beside a running instance, and without one.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import { createLog } from '../platform/log.ts';
import { checkTables } from '../sql/check/compare-tables.ts';
import { useEngine } from './harness/servers/use-servers.ts';
import { root } from './harness/source-tree.ts';
import { storedRow, storeRows } from './harness/tables/stored-events.ts';
import { storeProfiles } from './harness/tables/stored-profiles.ts';

const engine = useEngine();
const dataDir = mkdtempSync(join(tmpdir(), 'millrace-check-'));
let clickhouse: DatabaseClient;

beforeAll(async () => {
  clickhouse = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 4 });
  const rows = Array.from({ length: 60 }, (_, index) =>
    storedRow({
      projectId: 'p',
      distinctId: `visitor-${index % 7}`,
      kind: index % 2 === 0 ? 'page_view' : 'click',
      strings: { plan: 'pro' },
      cookieless: index % 7 === 6,
    }),
  );
  await storeRows(clickhouse, rows);
  await storeProfiles(clickhouse, [{ projectId: 'p', distinctId: 'visitor-1' }], '7');
});
afterAll(async () => {
  await clickhouse.close();
  rmSync(dataDir, { recursive: true, force: true });
});

function check() {
  const command = [join(root, 'dist', 'admin.js'), '--data', dataDir, 'check'];
  const env = { ...process.env, CLICKHOUSE_URL: engine.url, NATS_URL: 'nats://127.0.0.1:1' };
  const run = spawnSync(process.execPath, command, { encoding: 'utf8', env });
  return { code: run.status, out: run.stdout, error: run.stderr };
}

async function tablesWithDifferences(wait: (ms: number) => Promise<unknown>): Promise<string[]> {
  const different: string[] = [];
  for await (const { table, differences } of checkTables(clickhouse, wait)) {
    if (differences.length > 0) different.push(table);
  }
  return different;
}

it('finds nothing where every table is what the raw rows say', () => {
  const { code, out, error } = check();
  expect(error).toBe('');
  expect(code).toBe(0);
  expect(out.match(/: as the raw rows say/g)).toHaveLength(11);
});

it('counts no difference that a later look finds no more', async () => {
  const run = (query: string) => clickhouse.command({ query });
  // A row of the raw table that its views get between two looks, as while an insert is on its way.
  await run('DETACH TABLE event_counts_view SYNC');
  await storeRows(clickhouse, [storedRow({ projectId: 'late', distinctId: 'visitor-1' })]);
  await run('ATTACH TABLE event_counts_view');
  let looks = 0;
  const complete = async () => {
    if (++looks > 1) return;
    await run(`INSERT INTO event_counts (project_id, kind, quarter, events)
      SELECT project_id, kind, toStartOfFifteenMinutes(toDateTime(occur_time, 'UTC')), 1 FROM events WHERE project_id = 'late'`);
  };
  expect(await tablesWithDifferences(complete)).toEqual([]);
  expect(looks).toBe(1);
});

it.each([
  ['event_counts', "WHERE kind = 'click'"],
  ['profile_days', 'WHERE true'],
  ['visits', 'WHERE true'],
  ['property_keys', "WHERE property = 'plan'"],
  ['visit_entries', 'WHERE true'],
  ['profile_activity', 'WHERE total_events > 0'],
  ['profile_activity', "WHERE record != ''"],
  ['profile_listing', 'WHERE true'],
  ['profiles_by_creation', 'WHERE true'],
  ['project_changes', 'WHERE true'],
])('tells of rows that %s has lost %s', async (table, where) => {
  const saved = `saved_${table}`;
  await clickhouse.command({ query: `CREATE TABLE ${saved} AS ${table}` });
  await clickhouse.command({ query: `ALTER TABLE ${saved} ATTACH PARTITION ALL FROM ${table}` });
  await clickhouse.command({
    query: `ALTER TABLE ${table} DELETE ${where} SETTINGS mutations_sync = 1`,
  });
  expect((await tablesWithDifferences(async () => {}))[0]).toContain(table);
  await clickhouse.command({ query: `TRUNCATE TABLE ${table}` });
  await clickhouse.command({ query: `ALTER TABLE ${table} ATTACH PARTITION ALL FROM ${saved}` });
  await clickhouse.command({ query: `DROP TABLE ${saved} SYNC` });
  expect(await tablesWithDifferences(async () => {})).toEqual([]);
});

it('prints the rows, and ends with 1', async () => {
  await clickhouse.command({
    query: `INSERT INTO event_counts (project_id, kind, quarter, events) VALUES ('p', 'click', '2026-01-02 00:00:00', 3)`,
  });
  const { code, out, error } = check();
  expect(code).toBe(1);
  expect(error).toBe('millrace: other rows than the raw ones say: event_counts\n');
  expect(out).toContain('event_counts: 1 different rows\n');
  expect(out).toMatch(/ {2}only there: \('p','click',1767312000,3,0\)\n/);
});
