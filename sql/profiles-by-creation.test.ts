// The migration that lists profiles by creation, on a database that has profiles: it is interrupted after each of its
// statements, and a writer goes on meanwhile.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OldDatabase, startOldDatabase } from '../test/harness/tables/old-database.ts';

let database: OldDatabase;
beforeAll(async () => {
  database = await startOldDatabase('0005_profiles_by_creation.sql');
});
afterAll(() => database?.stop());

async function rows(query: string): Promise<unknown[]> {
  return (await database.client.query({ query, format: 'JSONCompactEachRow' })).json<unknown[]>();
}

it('lists existing profiles, and profiles that change while it is applied', async () => {
  const { client, statements } = database;
  // Ten of each kind. Every second profile was made anew, and its older row is not merged with the newer one yet.
  await client.command({ query: 'SYSTEM STOP MERGES profiles' });
  for (const version of [1, 2]) {
    await client.command({
      query: `INSERT INTO profiles (project_id, edge, distinct_id, named, deleted, root, create_time, update_time, traits, version)
        SELECT 'p', number % 5 = 4, concat('user ', toString(number)), number % 5 IN (0, 1, 2), number % 5 IN (1, 3),
          if(number % 5 IN (2, 4), 'user 0', ''), toDateTime64(${500 * version} + number, 3, 'UTC'), toDateTime64(2000, 3, 'UTC'),
          map('version', '${version}'), ${version}
        FROM numbers(50) WHERE ${version} = 2 OR number % 2 = 0`,
    });
  }
  expect(statements.length).toBe(4);
  await database.interruptMigration();
  // Changes between the creation of the view and the statement that fills the table.
  const changed = [
    ['user 0', true, 1_000, '[]'],
    ['user 5', false, 1_999, '[toDateTime64(1005, 3)]'],
    ['new', false, 1_998, '[]'],
  ];
  for (const [distinctId, deleted, createSeconds, former] of changed) {
    await client.command({
      query: `INSERT INTO profiles (project_id, edge, distinct_id, named, deleted, create_time, former_create_times, update_time, version)
        SELECT 'p', false, '${distinctId}', true, ${deleted}, toDateTime64(${createSeconds}, 3), ${former}, toDateTime64(2000, 3), 3`,
    });
  }
  await database.finishMigration();
  const expected = [
    ['1010000', 'user 10', '2'],
    ['1015000', 'user 15', '2'],
    ['1020000', 'user 20', '2'],
    ['1025000', 'user 25', '2'],
    ['1030000', 'user 30', '2'],
    ['1035000', 'user 35', '2'],
    ['1040000', 'user 40', '2'],
    ['1045000', 'user 45', '2'],
    ['1998000', 'new', ''],
    ['1999000', 'user 5', ''],
  ];
  const listed = `SELECT toString(toUnixTimestamp64Milli(listed_time)), distinct_id, traits['version']
    FROM profiles_by_creation FINAL WHERE project_id = 'p' AND live ORDER BY listed_time`;
  expect(await rows(listed)).toEqual(expected);
  for (const query of statements) await client.command({ query });
  expect(await rows(listed)).toEqual(expected);
});
