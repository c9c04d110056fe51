// The migration that tells lists of profiles when each was first seen, on a database that has profiles: it is
// interrupted after each of its statements, and events come meanwhile.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OldDatabase, startOldDatabase } from '../test/harness/tables/old-database.ts';
import { storedRow, storeRows } from '../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../test/harness/tables/stored-profiles.ts';

let database: OldDatabase;
beforeAll(async () => {
  database = await startOldDatabase('0013_profile_first_seen.sql');
});
afterAll(() => database?.stop());

const startMs = Date.UTC(2026, 9, 10);

/** An event of each id, so many seconds after the start. */
async function store(seconds: Record<string, number>): Promise<void> {
  const rows = Object.entries(seconds).map(([distinctId, second]) =>
    storedRow({ projectId: 'p', distinctId, occurTimeMs: startMs + second * 1_000 }),
  );
  await storeRows(database.client, rows);
}

/** When each of the ids was first seen, in seconds after the start. */
async function seen(table: string): Promise<unknown> {
  const result = await database.client.query({
    query: `WITH ['a', 'b', 'c', 'd'] AS ids
      SELECT transform(profile_id, arrayMap(id -> millraceProfileHash('p', id), ids), ids, '?') AS id,
        intDiv(toUnixTimestamp64Milli(min(first_seen)) - ${startMs}, 1000)
      FROM ${table} WHERE project_id = 'p' GROUP BY id ORDER BY id`,
    format: 'JSONCompactEachRow',
  });
  return Object.fromEntries(
    (await result.json<[string, string]>()).map(([id, s]) => [id, Number(s)]),
  );
}

it('knows first events from before, from meanwhile and from after', async () => {
  await database.client.command({ query: 'SYSTEM STOP MERGES profile_listing' });
  await store({ a: 50, b: 50, c: 50 });
  await storeProfiles(database.client, [{ projectId: 'p', distinctId: 'never seen' }]);
  await database.interruptMigration();
  await store({ b: 10, c: 90, d: 30 });
  await database.finishMigration();
  const expected = { a: 50, b: 10, c: 50, d: 30 };
  expect(await seen('profile_listing')).toEqual(expected);
  await store({ a: 20, d: 40 });
  for (const query of database.statements) await database.client.command({ query });
  await database.client.command({ query: 'SYSTEM START MERGES profile_listing' });
  await database.client.command({ query: 'OPTIMIZE TABLE profile_listing FINAL' });
  expect(await seen('profile_listing FINAL')).toEqual({ ...expected, a: 20 });
});
