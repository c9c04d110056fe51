// The migration that tells the last page view of visits in place of their last event, on a database that has visits: it
// is interrupted after each of its statements, and leaves one row of each day of a session.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OldDatabase, startOldDatabase } from '../test/harness/tables/old-database.ts';
import { expectRollupsOfEvents } from '../test/harness/tables/rollups.ts';
import { storedRow, storeRows } from '../test/harness/tables/stored-events.ts';

let database: OldDatabase;
beforeAll(async () => {
  database = await startOldDatabase('0034_last_views.sql');
});
afterAll(() => database?.stop());

const kinds = ['page_view', 'click', 'page_view', 'scroll', 'page_leave'];

/** Sessions of several days and kinds; the seventh has no page view. */
async function store(seed: number): Promise<void> {
  const rows = Array.from({ length: 80 }, (_, index) =>
    storedRow({
      projectId: `p${index % 2}`,
      sessionId: `00000000-0000-4000-8000-00000000000${index % 7}`,
      kind: index % 7 === 6 ? 'click' : (kinds[(index + seed) % kinds.length] ?? ''),
      occurTimeMs: Date.UTC(2026, 9, 25) + (seed * 7 + index * 11 - 300) * 60_000,
      columns: { pathname: index % 5 === 0 ? '' : `/${seed}/${index}` },
    }),
  );
  await storeRows(database.client, rows);
}

/** Of the table visits, and those that are left once the rows of a session's day are one. */
async function countRows(): Promise<number[]> {
  const query =
    'SELECT toUInt32(count()), toUInt32(uniqExact(project_id, day, session_id)) FROM visits';
  const result = await database.client.query({ query, format: 'JSONCompactEachRow' });
  return (await result.json<number[]>()).flat();
}

it('knows those from before, in one row of each day, and those from after', async () => {
  const { client } = database;
  await client.command({ query: 'SYSTEM STOP MERGES visits' });
  await store(1);
  await store(2);
  await expectRollupsOfEvents(client);
  const [before = 0, days = 0] = await countRows();
  expect(before).toBeGreaterThan(days);
  await client.command({ query: 'SYSTEM START MERGES visits' });
  await database.interruptMigration();
  await database.finishMigration();
  expect(await countRows()).toEqual([days, days]);
  await expectRollupsOfEvents(client);
  await store(3);
  await expectRollupsOfEvents(client);
});
