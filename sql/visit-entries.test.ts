// The migration that gives the first events of visits a table of their own, on a database that has visits: it is
// interrupted after each of its statements, and events come meanwhile.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OldDatabase, startOldDatabase } from '../test/harness/tables/old-database.ts';
import { expectRollupsOfEvents } from '../test/harness/tables/rollups.ts';
import { storedRow, storeRows } from '../test/harness/tables/stored-events.ts';
import { dayByDay } from './migrate.ts';

let database: OldDatabase;
beforeAll(async () => {
  database = await startOldDatabase('0014_visit_entries.sql');
});
afterAll(() => database?.stop());

const midnightMs = Date.UTC(2026, 9, 25);

/** Sessions around a midnight, later events first; several events of a millisecond. */
async function store(seed: number): Promise<void> {
  const rows = Array.from({ length: 60 }, (_, index) =>
    storedRow({
      projectId: `p${index % 2}`,
      sessionId: `00000000-0000-4000-8000-00000000000${index % 9}`,
      kind: index % 3 === 0 ? 'click' : 'page_view',
      occurTimeMs: midnightMs + ((seed * 7 + index * 11) % 40) * 60_000 - 20 * 60_000,
      columns: { pathname: `/${seed}/${index}`, country: ['DE', ''][index % 2] ?? '' },
      strings: index % 5 === 0 ? { plan: 'pro' } : {},
    }),
  );
  await storeRows(database.client, rows);
}

it('knows the first events from before, from meanwhile and from after', async () => {
  const { client, statements } = database;
  for (const seed of [1, 2]) await store(seed);
  await expectRollupsOfEvents(client);
  await database.interruptMigration();
  await store(3);
  await database.finishMigration();
  await expectRollupsOfEvents(client);
  await store(4);
  // A second process that is late.
  for (const statement of statements) {
    for (const { query } of await dayByDay(client, statement)) await client.command({ query });
  }
  await expectRollupsOfEvents(client);
  await client.command({ query: 'OPTIMIZE TABLE visit_entries FINAL' });
  await expectRollupsOfEvents(client);
  const names = "SELECT count() FROM system.columns WHERE table = 'visits' AND name = 'entry'";
  const result = await client.query({ query: names, format: 'JSONCompactEachRow' });
  expect(await result.json()).toEqual([['0']]);
});
