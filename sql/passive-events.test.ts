// The migration that counts the events that end no bounce, on a database that has visits: it is interrupted after each
// of its statements, and applied by a second process that is late.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OldDatabase, startOldDatabase } from '../test/harness/tables/old-database.ts';
import { storedRow, storeRows } from '../test/harness/tables/stored-events.ts';
import { dayByDay } from './migrate.ts';

let database: OldDatabase;
beforeAll(async () => {
  database = await startOldDatabase('0030_passive_events.sql');
});
afterAll(() => database?.stop());

const kinds = ['page_view', 'scroll', 'page_leave', 'click', 'error_occurred', 'web_vitals'];

async function store(seed: number): Promise<void> {
  const rows = Array.from({ length: 60 }, (_, index) =>
    storedRow({
      projectId: `p${index % 2}`,
      sessionId: `00000000-0000-4000-8000-00000000000${index % 9}`,
      kind: kinds[(index + seed) % kinds.length] ?? '',
      occurTimeMs: Date.UTC(2026, 9, 25) + (seed * 7 + index * 11 - 300) * 60_000,
      columns: { pathname: `/${seed}/${index}` },
    }),
  );
  await storeRows(database.client, rows);
}

async function rows(query: string): Promise<unknown[]> {
  const result = await database.client.query({ query, format: 'JSONCompactEachRow' });
  return result.json();
}

async function expectVisitsOfEvents(): Promise<void> {
  const stored =
    await rows(`SELECT project_id, day, session_id, min(first_time), max(last_time), sum(events), sum(views),
      sum(passive), substring(max(exit), 25)
    FROM visits GROUP BY project_id, day, session_id ORDER BY ALL`);
  const raw =
    await rows(`SELECT project_id, toDate(occur_time) AS day, session_id, min(occur_time), max(occur_time),
      count(), countIf(kind = 'page_view'), countIf(kind NOT IN ('page_view', 'click')),
      argMax(concat(kind, char(255), pathname), (occur_time, toString(event_id)))
    FROM events GROUP BY project_id, day, session_id ORDER BY ALL`);
  expect(raw.length).toBeGreaterThan(10);
  expect(stored).toEqual(raw);
}

it('counts those from before once, and those from after', async () => {
  await store(1);
  await database.interruptMigration();
  await database.finishMigration();
  await expectVisitsOfEvents();
  await store(2);
  for (const statement of database.statements) {
    for (const { query } of await dayByDay(database.client, statement)) {
      await database.client.command({ query });
    }
  }
  await expectVisitsOfEvents();
});
