// The migration that merges visits whose days an earlier one gave a second row.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OldDatabase, startOldDatabase } from '../test/harness/tables/old-database.ts';
import { storedRow, storeRows } from '../test/harness/tables/stored-events.ts';

let database: OldDatabase;
beforeAll(async () => {
  database = await startOldDatabase('0034_merged_visits.sql');
});
afterAll(() => database?.stop());

/** Of the table visits, and those that are left once the rows of a session's day are one. */
async function countRows(): Promise<unknown> {
  const query =
    'SELECT toUInt32(count()), toUInt32(uniqExact(project_id, day, session_id)) FROM visits';
  const result = await database.client.query({ query, format: 'JSONCompactEachRow' });
  return result.json();
}

it('leaves one row of each day of a session', async () => {
  const { client } = database;
  await client.command({ query: 'SYSTEM STOP MERGES visits' });
  for (const kind of ['page_view', 'scroll']) {
    await storeRows(client, [
      storedRow({ projectId: 'shop', sessionId: '00000000-0000-4000-8000-000000000001', kind }),
    ]);
  }
  expect(await countRows()).toEqual([[2, 1]]);
  await client.command({ query: 'SYSTEM START MERGES visits' });
  await database.finishMigration();
  expect(await countRows()).toEqual([[1, 1]]);
});
