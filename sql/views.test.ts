// Stands for a crash between a table and the tables that its views feed: a view is dropped while an insert lands. The
// same insert under the same token must add the missing rows, and nothing else.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { insertAgain } from '../pipeline/profiles/insert-block.ts';
import { createClickHouse, type DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import { createLog } from '../platform/log.ts';
import { useEngine } from '../test/harness/servers/use-servers.ts';
import { expectRollupsOfEvents } from '../test/harness/tables/rollups.ts';
import { storeProfiles } from '../test/harness/tables/stored-profiles.ts';

const engine = useEngine();
let client: DatabaseClient;
beforeAll(async () => {
  client = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 2 });
});
afterAll(async () => {
  await client?.close();
});

async function values(query: string): Promise<unknown[]> {
  const result = await client.query({ query, format: 'JSONCompactEachRow' });
  const [row] = await result.json<unknown[]>();
  return row ?? [];
}

async function insert(lines: string, token: string): Promise<void> {
  const { stream } = await client.exec({
    query: `INSERT INTO events FORMAT JSONEachRow\n${lines}`,
    clickhouse_settings: {
      async_insert: 0,
      deduplicate_blocks_in_dependent_materialized_views: 1,
      insert_deduplication_token: token,
      wait_end_of_query: 1,
    },
  });
  stream.resume();
  await new Promise((resolve) => stream.once('end', resolve));
}

it.each([['profile_activity_view'], ['profile_listing_view']])(
  'a repeated insert adds the rows that are missing because %s was dropped',
  async (view) => {
    const [definition] = await values(`SHOW CREATE TABLE ${view}`);
    const lines = Array.from({ length: 20 }, (_, index) =>
      JSON.stringify({
        project_id: view,
        event_id: randomUUID(),
        kind: 'page_view',
        distinct_id: `visitor-${index % 5}`,
        occur_time: `2026-11-01 00:00:${10 + index}`,
        receive_time: '2026-11-01 00:01:00',
        browser: `Browser ${index}`,
      }),
    ).join('\n');
    await client.command({ query: `DROP VIEW ${view}` });
    await insert(lines, view);
    await client.command({ query: String(definition) });
    await insert(lines, view);
    const of = `WHERE project_id = '${view}'`;
    expect(await values(`SELECT count() FROM events ${of}`)).toEqual(['20']);
    expect(
      await values(`SELECT sum(total_events), uniqExact(profile_id) FROM profile_activity ${of}`),
    ).toEqual(['20', '5']);
    expect(await values(`SELECT uniqExact(profile_id) FROM profile_listing ${of}`)).toEqual(['5']);
    const latest = 'splitByChar(char(255), substring(max(agent), 25))[1]';
    expect(await values(`SELECT ${latest} FROM profile_listing ${of}`)).toEqual(['Browser 19']);
  },
);

const rollups = ['event_counts', 'profile_days', 'visits', 'visit_entries', 'property_keys'];

it.each(rollups)('a repeated insert completes %s, and doubles no other', async (table) => {
  const view = `${table}_view`;
  const [definition] = await values(`SHOW CREATE TABLE ${view}`);
  // Around a midnight; two events of a session in one millisecond.
  const lines = Array.from({ length: 30 }, (_, index) =>
    JSON.stringify({
      project_id: view,
      event_id: randomUUID(),
      kind: ['page_view', 'click'][index % 2],
      distinct_id: `visitor-${index % 5}`,
      session_id: `00000000-0000-4000-8000-00000000000${index % 4}`,
      occur_time: `2026-11-0${1 + (index % 2)} ${index % 3 === 0 ? '00:00:00.000' : '23:59:59.999'}`,
      receive_time: '2026-11-03 00:01:00',
      pathname: `/${index}`,
      int_properties: { [`n${index % 3}`]: 1 },
    }),
  ).join('\n');
  await client.command({ query: `DROP VIEW ${view}` });
  await insert(lines, view);
  expect(await values(`SELECT count() FROM ${table} WHERE project_id = '${view}'`)).toEqual(['0']);
  await client.command({ query: String(definition) });
  for (const _ of ['after the crash', 'once more']) await insert(lines, view);
  expect(await values(`SELECT count() FROM events WHERE project_id = '${view}'`)).toEqual(['30']);
  await expectRollupsOfEvents(client, { where: `project_id = '${view}'` });
});

it('identity records take no place in the deduplication window of profile_activity', async () => {
  const remember = (inserts: number) =>
    client.command({
      query: `ALTER TABLE profile_activity MODIFY SETTING non_replicated_deduplication_window = ${inserts}`,
    });
  await remember(2);
  const projectId = 'remembered';
  const line = JSON.stringify({
    project_id: projectId,
    event_id: randomUUID(),
    kind: 'page_view',
    distinct_id: 'visitor',
    occur_time: '2026-11-01 00:00:10',
    receive_time: '2026-11-01 00:01:00',
  });
  await insert(line, projectId);
  for (const version of ['1', '2', '3', '4']) {
    await storeProfiles(client, [{ projectId, distinctId: 'visitor' }], version);
    await insertAgain(client, 0, version);
  }
  await insert(line, projectId);
  await remember(10_000);
  const sums = `SELECT sum(total_events), toBool(max(record) != '') FROM profile_activity WHERE project_id = '${projectId}'`;
  expect(await values(sums)).toEqual(['1', true]);
});
