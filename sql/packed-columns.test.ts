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

const names = autoColumns.map(({ column }) => column);
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

/** What profiles know of their agents and places, a text that is empty from its end on left out. */
function profiles(): Promise<unknown[]> {
  return rowsOf(`SELECT hex(profile_id), arrayMap(text -> trimRight(replaceAll(substring(text, 25), char(255), ' ')), [max(agent), max(place)])
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

it('finds the rows of a crash between the texts and their parts', async () => {
  const old = await startOldDatabase('0019_packed_columns.sql');
  const [add = '', fill = '', ...others] = old.statements;
  const read = async (): Promise<unknown> => {
    const query = 'SELECT kind, country, os FROM events ORDER BY kind';
    const result = await old.client.query({ query, format: 'JSONCompactEachRow' });
    return result.json();
  };
  const storeOne = (kind: string, columns: Record<string, string>) =>
    storeRows(old.client, [storedRow({ projectId: 'p', kind, columns })]);
  try {
    await storeOne('a', { country: 'DE' });
    for (const query of [add, fill]) await old.client.command({ query });
    // An older pipeline went on.
    await storeOne('b', { os: 'Linux' });
    for (const query of [add, fill, ...others]) await old.client.command({ query });
    await storeOne('c', { country: 'FR', os: 'iOS' });
    const expected = [
      ['a', 'DE', ''],
      ['b', '', 'Linux'],
      ['c', 'FR', 'iOS'],
    ];
    expect(await read()).toEqual(expected);
  } finally {
    await old.stop();
  }
});

it('tells profiles the same as the columns did', async () => {
  const { client } = database;
  const before = await profiles();
  expect(before.length).toBe(5);
  await client.command({ query: 'TRUNCATE TABLE profile_activity' });
  const view = database.statements.find((one) => one.includes('profile_activity_view')) ?? '';
  await client.command({
    query: `INSERT INTO profile_activity (project_id, profile_id, first_seen, last_seen, first_received, total_events,
      pageviews, sessions, agent, place) ${view.slice(view.indexOf('WITH'))}`,
  });
  expect(await profiles()).toEqual(before);
});
