// The migration that lists merged ids by their roots, on a database that has merges: it is interrupted after each of
// its statements, and a writer goes on meanwhile.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OldDatabase, startOldDatabase } from '../test/harness/tables/old-database.ts';
import { storeProfiles } from '../test/harness/tables/stored-profiles.ts';

let database: OldDatabase;
beforeAll(async () => {
  database = await startOldDatabase('0007_profiles_by_root.sql');
});
afterAll(() => database?.stop());

/** The merges among the ids `id <number>`, each as `id 2 into id 9`. */
async function merged(): Promise<string[]> {
  const result = await database.client.query({
    query: `WITH arrayMap(n -> concat('id ', toString(n)), range(50)) AS ids,
        arrayMap(id -> millraceProfileHash('p', id), ids) AS hashes
      SELECT concat(transform(profile_id, hashes, ids, 'nobody'), ' into ', transform(root_id, hashes, ids, 'nobody')) AS one
      FROM profiles_by_root FINAL WHERE project_id = 'p' AND live ORDER BY one`,
    format: 'JSONCompactEachRow',
  });
  return (await result.json<[string]>()).map(([one]) => one);
}

it('lists existing merges, and merges that change while it is applied', async () => {
  const { client, statements } = database;
  await client.command({ query: 'SYSTEM STOP MERGES profiles' });
  // In the first version every id is merged into id 0. In the second, whose parts are not merged with the first: a
  // third still is, a third was taken back, a third has another root.
  for (const version of [1, 2]) {
    await client.command({
      query: `INSERT INTO profiles (project_id, edge, distinct_id, owner, root, version)
        SELECT 'p', true, concat('id ', toString(number)), root,
          if(${version} = 1, 'id 0', ['id 0', '', 'id 9'][1 + number % 3]) AS root, ${version}
        FROM numbers(1, 8)`,
    });
  }
  await client.command({
    query: `INSERT INTO profiles (project_id, edge, distinct_id, named, root, version) VALUES
      ('p', false, 'id 8', true, 'id 9', 2), ('p', false, 'id 0', true, '', 2)`,
  });
  expect(statements.length).toBe(4);
  await database.interruptMigration();
  // Changes between the creation of the view and the statement that fills the table: one merge is taken back, one
  // moves, one is new, one is written again unchanged.
  const edge = { projectId: 'p', named: false, wasClaimed: true };
  const changed = [
    { ...edge, distinctId: 'id 3', storedRoot: 'id 0' },
    { ...edge, distinctId: 'id 5', storedRoot: 'id 9', root: 'id 20' },
    { ...edge, distinctId: 'id 30', root: 'id 0' },
    { ...edge, distinctId: 'id 8', storedRoot: 'id 9', root: 'id 9' },
  ];
  await storeProfiles(client, changed, '3');
  await database.finishMigration();
  const expected = ['id 2 into id 9', 'id 30 into id 0', 'id 5 into id 20'];
  expected.push('id 6 into id 0', 'id 8 into id 9');
  expect(await merged()).toEqual(expected);
  // Rows that the migration has written can move too, and do not return when it is applied again.
  const moved = { ...edge, distinctId: 'id 6', storedRoot: 'id 0', root: 'id 20' };
  const back = { ...edge, distinctId: 'id 2', storedRoot: 'id 9' };
  await storeProfiles(client, [moved, back], '4');
  const now = ['id 30 into id 0', 'id 5 into id 20', 'id 6 into id 20', 'id 8 into id 9'];
  expect(await merged()).toEqual(now);
  for (const query of statements) await client.command({ query });
  expect(await merged()).toEqual(now);
});
