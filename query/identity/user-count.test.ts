// User counts on a real engine: merges in every order, merges taken back, cookieless visitors.

import { randomUUID } from 'node:crypto';
import type { ClickHouseClient } from '@clickhouse/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClickHouse } from '../../platform/clickhouse/clickhouse.ts';
import { dayMs } from '../../platform/clock.ts';
import { createLog } from '../../platform/log.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../test/harness/tables/stored-profiles.ts';
import { type UserCount, userCountSql } from './user-count.ts';

const engine = useEngine();
let clickhouse: ClickHouseClient;
beforeAll(async () => {
  clickhouse = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 2 });
});
afterAll(async () => {
  await clickhouse.close();
});

const startMs = Date.UTC(2026, 9, 10, 12);

/** Stores one event of each id: the first list's on the day of `startMs`, each next list's a day later. */
async function store(projectId: string, ...days: string[][]): Promise<void> {
  const rows = days.flatMap((ids, day) =>
    ids.map((distinctId) =>
      storedRow({
        ...{ projectId, distinctId, occurTimeMs: startMs + day * dayMs },
        cookieless: distinctId.startsWith('cookieless-'),
      }),
    ),
  );
  await storeRows(clickhouse, rows);
}

/** Stores an edge from each id to its owner and root; a higher `version` replaces earlier edges. */
async function merge(projectId: string, version: string, edges: Record<string, string>) {
  const rootOf = (id: string): string => {
    const owner = edges[id] ?? '';
    return owner === '' ? id : rootOf(owner);
  };
  const rows = Object.entries(edges).map(([distinctId, owner]) => ({
    ...{ projectId, distinctId, owner, wasClaimed: true, named: false },
    root: owner === '' ? '' : rootOf(owner),
  }));
  await storeProfiles(clickhouse, rows, version);
}

async function users(projectId: string, count: Partial<UserCount> = {}): Promise<unknown[][]> {
  const result = await clickhouse.query({
    query: userCountSql({ project: '{project:String}', condition: 'true', ...count }),
    query_params: { project: projectId },
    format: 'JSONCompactEachRow',
  });
  const rows = await result.json<unknown[]>();
  return rows.map((row) => row.map(String)).sort();
}

it('counts a user once over all of their ids and days', async () => {
  const project = randomUUID();
  await store(project, ['anon-1', 'anon-2', 'ada', 'bob'], ['anon-1', 'ada', 'old', 'older']);
  expect(await users(project)).toEqual([['6']]);
  await merge(project, '1', { 'anon-1': 'ada', older: 'old', old: 'ada', 'anon-9': 'bob' });
  // Three users: ada with anon-1, old and older; bob; anon-2, which nobody claimed.
  expect(await users(project)).toEqual([['3']]);
  await store(project, [], [], ['anon-1', 'anon-9']);
  expect(await users(project)).toEqual([['3']]);
  expect(await users(project, { groups: { day: 'toDate(occur_time)' } })).toEqual([
    ['2026-10-10', '3'],
    ['2026-10-11', '1'],
    ['2026-10-12', '2'],
  ]);
  expect(await users(project, { condition: "distinct_id = 'older'" })).toEqual([['1']]);
  expect(await users(project, { condition: 'false' })).toEqual([['0']]);
});

it('counts an id for itself again once its merge is taken back', async () => {
  const project = randomUUID();
  await store(project, ['a', 'b', 'c']);
  await merge(project, '1', { a: 'b', b: 'c' });
  expect(await users(project)).toEqual([['1']]);
  await merge(project, '2', { a: 'b', b: '' });
  expect(await users(project)).toEqual([['2']]);
});

it('counts no cookieless visitors unless asked to', async () => {
  const project = randomUUID();
  await store(project, ['ada', 'cookieless-1', 'cookieless-2'], ['cookieless-1']);
  expect(await users(project)).toEqual([['1']]);
  expect(await users(project, { includeCookieless: true })).toEqual([['3']]);
});

it('ignores the same ids in another project', async () => {
  const [project, other] = [randomUUID(), randomUUID()];
  await store(project, ['a', 'b']);
  await store(other, ['a', 'b']);
  await merge(project, '1', { a: 'b' });
  expect(await users(other)).toEqual([['2']]);
});
