// Names of users whose traits are as large as they may be, within the memory of a statement.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../platform/log.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { profileNames } from './profile-names.ts';

const engine = useEngine();
const projectId = randomUUID();
const deadline = { signal: new AbortController().signal, remainingMs: () => 60_000 };
/** One part has 48 MB of traits; each tenth of its profiles is asked for. */
const profiles = 1_600;
const traitBytes = 30_000;
const asked = profiles / 10;
const named = { deleted: false, name: 'Ada' };
let ids: string[];

const connect = (statementMemoryBytes: number): DatabaseClient =>
  createClickHouse(engine.url, {
    ...{ log: createLog('silent'), maxConnections: 2, statementMemoryBytes },
  });
let store: DatabaseClient;
beforeAll(async () => {
  store = connect(402_653_184);
  await store.command({
    query: `INSERT INTO profiles (project_id, edge, distinct_id, named, deleted, traits, version)
      SELECT '${projectId}', false, toString(number), true, number = 0,
        map('bio', concat('"', repeat('x', ${traitBytes}), '"'), 'name', '"Ada"'), 1
      FROM numbers(${profiles})`,
  });
  const answer = await store.query({
    query: `SELECT lower(hex(profile_id)) AS id FROM profiles
      WHERE project_id = '${projectId}' ORDER BY toUInt64(distinct_id) % 10, toUInt64(distinct_id)
      LIMIT ${asked}`,
    format: 'JSONEachRow',
  });
  ids = (await answer.json<{ id: string }>()).map(({ id }) => id);
});
afterAll(() => store?.close());

it.each([
  ['told while a few of a part’s traits fit into memory', 33_554_432, named],
  ['left out where not even those fit', 8_388_608, { deleted: false, name: '' }],
])('are %s, and who is deleted is told', async (_, memoryBytes, living) => {
  const clickhouse = connect(memoryBytes);
  const names = await profileNames(clickhouse, projectId, ids, deadline);
  await clickhouse.close();
  const [deleted, ...others] = ids.map((id) => names.get(id));
  expect(deleted?.deleted).toBe(true);
  expect(others).toEqual(others.map(() => living));
  expect(others).toHaveLength(asked - 1);
});
