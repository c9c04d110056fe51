// The migration that tells which projects have deleted anybody, on a database that has deletions: it is interrupted
// after each of its statements, and a writer goes on meanwhile.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OldDatabase, startOldDatabase } from '../test/harness/tables/old-database.ts';
import { storeProfiles } from '../test/harness/tables/stored-profiles.ts';

let database: OldDatabase;
beforeAll(async () => {
  database = await startOldDatabase('0018_deletions.sql');
});
afterAll(() => database?.stop());

async function projectsWithDeletions(): Promise<string[]> {
  const result = await database.client.query({
    query:
      'SELECT project_id FROM project_changes GROUP BY project_id HAVING sum(deletions) > 0 ORDER BY project_id',
    format: 'JSONCompactEachRow',
  });
  return (await result.json<[string]>()).map(([project]) => project);
}

it('knows the deletions from before, from meanwhile and from after', async () => {
  const { client, statements } = database;
  const store = (projectId: string, deleted: boolean, version: string) =>
    storeProfiles(client, [{ projectId, distinctId: 'ada', deleted }], version);
  await store('before', true, '1');
  await store('never', false, '1');
  await database.interruptMigration();
  await store('meanwhile', true, '2');
  await database.finishMigration();
  await store('after', true, '3');
  await store('never', false, '3');
  const expected = ['after', 'before', 'meanwhile'];
  expect(await projectsWithDeletions()).toEqual(expected);
  for (const query of statements) await client.command({ query });
  expect(await projectsWithDeletions()).toEqual(expected);
});
