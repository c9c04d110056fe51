// The tables of sums beside the raw rows that they were made of: late events, several blocks, midnights and hostile
// names must not tell them apart, and neither may a migration that fills them from what a database has. Repeated and
// interrupted inserts are views.test.ts's.

import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { autoColumns } from '../platform/clickhouse/event-columns.ts';
import { createLog } from '../platform/log.ts';
import { type OldDatabase, startOldDatabase } from '../test/harness/tables/old-database.ts';
import { expectRollupsOfEvents } from '../test/harness/tables/rollups.ts';
import { type StoredRow, storedRow, storeRows } from '../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../test/harness/tables/stored-profiles.ts';
import { dayByDay, migrate } from './migrate.ts';

let database: OldDatabase;
beforeAll(async () => {
  database = await startOldDatabase('0010_rollups.sql');
});
afterAll(() => database?.stop());

async function rows(query: string): Promise<unknown[][]> {
  const result = await database.client.query({ query, format: 'JSONCompactEachRow' });
  return result.json<unknown[]>();
}

const rollups = ['event_counts', 'profile_days', 'visits', 'property_keys'];
const quarterMs = 900_000;
const midnightMs = Date.UTC(2026, 10, 1);
const hostile = ['', 'a.b', "'; DROP TABLE events --", 'ключ 🔑', '__proto__', '\u0000', '$city'];

/** Around two midnights and a turn of the month, some of it years ago; a few sessions and people, kinds and names. */
function madeRows(count: number, seed: number): StoredRow[] {
  return Array.from({ length: count }, (_, index) => {
    const number = seed * 1_000 + index;
    const name = hostile[number % hostile.length] ?? '';
    const sessionId = `00000000-0000-4000-8000-00000000000${number % 7}`;
    return storedRow({
      projectId: `p${number % 2}`,
      kind: ['page_view', 'click', "kind '\\"][number % 3] ?? '',
      distinctId: `visitor-${number % 5}`,
      cookieless: number % 5 === 4,
      sessionId,
      // Several events of a millisecond, in no order of their ids.
      occurTimeMs:
        midnightMs +
        ((number * 7) % 400) * quarterMs -
        200 * quarterMs -
        (number % 3) -
        (number % 50 === 0 ? 700 * 96 * quarterMs : 0),
      columns: {
        browser: ['Lynx', ''][number % 2] ?? '',
        pathname: `/${number % 4}`,
        country: 'DE',
      },
      strings: number % 2 === 0 ? { [name]: 'x', plan: '' } : {},
      ints: number % 3 === 0 ? { [name]: 1n, $pathname: 3n } : {},
      doubles: number % 4 === 0 ? { price: 1.5 } : {},
      bools: number % 5 === 0 ? { $mobile: true } : {},
      times: number % 6 === 0 ? { at: 1 } : {},
    });
  });
}

/** As the pipeline does: the rows of each month are an insert of their own. */
async function store(made: readonly StoredRow[]): Promise<void> {
  const month = ({ occurTimeMs }: StoredRow) => new Date(occurTimeMs).toISOString().slice(0, 7);
  for (const one of new Set(made.map(month))) {
    await storeRows(
      database.client,
      made.filter((row) => month(row) === one),
    );
  }
}

it('are what raw rows say, when they are filled and when rows arrive', async () => {
  const { client, statements } = database;
  for (const seed of [1, 2]) await store(madeRows(200, seed));
  await storeProfiles(client, [{ projectId: 'p0', distinctId: 'visitor-1' }], '7');
  await database.interruptMigration();
  await database.finishMigration();
  await expectRollupsOfEvents(client);
  const changes = 'SELECT project_id, max(newest_version) FROM project_changes GROUP BY project_id';
  expect(await rows(changes)).toEqual([['p0', '7']]);
  for (const seed of [3]) await store(madeRows(200, seed));
  await expectRollupsOfEvents(client);
  // A second process that is late: the first one has written rows meanwhile, and no window remembers what was filled.
  for (const table of rollups) {
    await client.command({
      query: `ALTER TABLE ${table} MODIFY SETTING non_replicated_deduplication_window = 0`,
    });
  }
  for (const statement of statements) {
    for (const { query } of await dayByDay(client, statement)) await client.command({ query });
  }
  await expectRollupsOfEvents(client);
  for (const table of rollups) {
    await client.command({ query: `OPTIMIZE TABLE ${table} FINAL` });
  }
  await expectRollupsOfEvents(client);
  await storeProfiles(client, [{ projectId: 'p0', distinctId: 'visitor-2' }], '9');
  expect(await rows(changes)).toEqual([['p0', '9']]);
});

it('stay so with the views of later migrations, each well-known column by its own name', async () => {
  const { client } = database;
  await migrate(client, createLog('silent'));
  const projectId = randomUUID();
  const columns = autoColumns.map(({ column }, index) =>
    storedRow({ projectId, columns: { [column]: 'x' }, receiveTimeMs: midnightMs + index }),
  );
  const emptied = storedRow({ projectId, kind: 'empty', strings: { $browser: '' } });
  await storeRows(client, [...columns, emptied]);
  await store(madeRows(200, 4));
  await expectRollupsOfEvents(client);
});

it('a block adds 2,000 names of a project, and says that there were more', async () => {
  const { client } = database;
  const ints = (start: number, count: number): Record<string, bigint> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${start + index}`, 1n]));
  const projectId = randomUUID();
  const flood = Array.from({ length: 20 }, (_, index) =>
    storedRow({ projectId, ints: { ...ints(index * 150, 150), often: 1n } }),
  );
  const neighbour = storedRow({ projectId: `${projectId} beside`, ints: { own: 1n } });
  await storeRows(client, [...flood, neighbour]);
  const named = (id: string) =>
    rows(`SELECT uniqExact(property), countIf(type = 'cut'), sumIf(events, property = 'often')
      FROM property_keys WHERE project_id = '${id}'`);
  expect(await named(projectId)).toEqual([['2000', '1', '20']]);
  expect(await named(neighbour.projectId)).toEqual([['2', '0', '0']]);
});

it.each([
  ['visits of long paths', 32_000, (event: number) => `/${event}${'p'.repeat(1_000)}\t{}`],
  [
    'names, of many projects',
    16_000,
    (event: number) =>
      `\t{${Array.from({ length: 250 }, (_, name) => `'${event * 250 + name}':1`)}}`,
  ],
])('a block of 32 MiB of %s fits into the memory of a statement', async (_, events, of) => {
  const run = randomUUID();
  const moments = '2026-10-05 10:00:00.000\t2026-10-05 10:00:01.000';
  const lines = Array.from({ length: events }, (_, event) =>
    [`${run} ${event % 100}`, randomUUID(), 'k', event, randomUUID(), of(event), moments].join(
      '\t',
    ),
  );
  const { stream } = await database.client.exec({
    query: `INSERT INTO events (project_id, event_id, kind, distinct_id, session_id, pathname, int_properties,
      occur_time, receive_time) FORMAT TSV`,
    values: Readable.from([lines.join('\n')]),
    clickhouse_settings: { wait_end_of_query: 1, input_format_parallel_parsing: 0 },
  });
  for await (const chunk of stream) expect.fail(String(chunk));
  const stored = `SELECT uniqExact(session_id), sum(events) FROM visits WHERE project_id LIKE '${run}%'`;
  expect(await rows(stored)).toEqual([[String(events), String(events)]]);
});
