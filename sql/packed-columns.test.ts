// The migration that packs columns of few values, on a database that has events: it is interrupted after each of its
// statements, and events come meanwhile.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { autoColumns, packedColumns } from '../platform/clickhouse/event-columns.ts';
import { type OldDatabase, startOldDatabase } from '../test/harness/tables/old-database.ts';
import { expectRollupsOfEvents } from '../test/harness/tables/rollups.ts';
import { storedRow, storeRows } from '../test/harness/tables/stored-events.ts';

let database: OldDatabase;
beforeAll(async () => {
  database = await startOldDatabase('0019_packed_columns.sql');
});
afterAll(() => database?.stop());

/** Of that migration: a later one adds another. */
const names = autoColumns.map(({ column }) => column).filter((name) => name !== 'ai_assistant');
const startMs = Date.UTC(2026, 9, 31, 23);
/** The columns of each event that was stored, by its kind. */
const stored: Record<string, Record<string, string>> = {};

/** Events of two months with all of the columns, with none, and with any one of them. */
async function store(seed: number): Promise<void> {
  const all = Object.fromEntries(names.map((name) => [name, `ÿ ${name} ${seed}`]));
  const sets = [all, {}, ...names.map((name) => ({ [name]: `${seed}` }))];
  for (const month of [0, 1]) {
    const rows = sets.map((columns, index) => {
      const kind = `${seed}.${month}.${index}`;
      stored[kind] = columns;
      const occurTimeMs = startMs + month * 7_200_000 + index;
      const distinctId = `${index % 5}`;
      return storedRow({ projectId: 'p', kind, distinctId, occurTimeMs, columns });
    });
    await storeRows(database.client, rows);
  }
}

async function rowsOf<Row>(query: string): Promise<Row[]> {
  const result = await database.client.query({ query, format: 'JSONCompactEachRow' });
  return result.json<Row>();
}

async function readAll(): Promise<typeof stored> {
  const rows = await rowsOf<string[]>(`SELECT kind, ${names.join(', ')} FROM events`);
  return Object.fromEntries(
    rows.map(([kind = '', ...texts]) => [
      kind,
      Object.fromEntries(
        names.flatMap((name, index) => (texts[index] ? [[name, texts[index]]] : [])),
      ),
    ]),
  );
}

/** What profiles know of their agents and places. */
function profiles(): Promise<unknown[]> {
  return rowsOf(`SELECT hex(profile_id), hex(max(agent)), hex(max(place)), sum(total_events)
    FROM profile_activity GROUP BY profile_id ORDER BY profile_id`);
}

it('keeps every value, from before, from meanwhile and from after', async () => {
  const { client, statements } = database;
  await store(1);
  // Files of their own for each column, as large parts have them.
  const wideFrom = (bytes: number) =>
    client.command({
      query: `ALTER TABLE events MODIFY SETTING min_bytes_for_wide_part = ${bytes}`,
    });
  await wideFrom(0);
  await store(2);
  await wideFrom(268_435_456);
  expect(await readAll()).toEqual(stored);
  await database.interruptMigration();
  await store(3);
  await database.finishMigration();
  await store(4);
  expect(await readAll()).toEqual(stored);
  await expectRollupsOfEvents(client);
  // A second process that is late.
  for (const query of statements) await client.command({ query });
  await client.command({ query: 'OPTIMIZE TABLE events FINAL' });
  expect(await readAll()).toEqual(stored);
  const old = packedColumns.flatMap(({ of }) => of.map((name) => `'${name}'`));
  const left = `SELECT name FROM system.columns
    WHERE table = 'events' AND name IN (${old.join(', ')}) AND data_compressed_bytes > 0`;
  expect(await rowsOf(left)).toEqual([]);
});

it('tells profiles the same as the columns did', async () => {
  const { client } = database;
  const before = await profiles();
  expect(before.length).toBe(5);
  await client.command({ query: 'TRUNCATE TABLE profile_activity' });
  const [[view] = ['']] = await rowsOf<[string]>(
    "SELECT as_select FROM system.tables WHERE name = 'profile_activity_view'",
  );
  await client.command({
    query: `INSERT INTO profile_activity (project_id, profile_id, first_seen, last_seen, first_received, total_events,
      pageviews, sessions, agent, place) ${view}`,
  });
  expect(await profiles()).toEqual(before);
});
