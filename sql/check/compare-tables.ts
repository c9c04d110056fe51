// Compares derived tables with the raw rows that they were made of (derived-tables.ts). While writers run, a row may be
// in one table and not yet in the other, so that a difference counts only where every look finds it.

import type { ClickHouseClient } from '@clickhouse/client';
import { type DerivedTable, profileTables, rollupsOf } from './derived-tables.ts';

type Reader = Pick<ClickHouseClient, 'query'>;

/** A row that one side has and the other lacks. */
export interface Difference {
  in: 'derived' | 'raw';
  /** As ClickHouse writes a tuple. */
  key: string;
  row: string;
}

interface TableCheck {
  table: string;
  /** At most `maxDifferences`. */
  differences: Difference[];
}

/** More are not looked for: they have one cause. */
export const maxDifferences = 1_000;
const looks = 8;
const pauseMs = 500;

/** Rows of one look; `keys` leaves out all others, `where` is a condition on the columns of `derived`. */
export async function differencesOf(
  clickhouse: Reader,
  { keys, derived, raw }: DerivedTable,
  { where = 'true', among }: { where?: string; among?: readonly string[] } = {},
): Promise<Difference[]> {
  const condition = among === undefined ? where : `${where} AND named IN {among:Array(String)}`;
  const result = await clickhouse.query({
    // Grouping goes to the disk where it must. A row that both have adds up to nothing.
    query: `SELECT if(sum(side) > 0, 'derived', 'raw') AS found, named, row FROM (
        SELECT 1 AS side, toString((${keys})) AS named, toString(tuple(*)) AS row FROM (${derived}) WHERE ${condition}
        UNION ALL
        SELECT -1 AS side, toString((${keys})) AS named, toString(tuple(*)) AS row FROM (${raw}) WHERE ${condition})
      GROUP BY named, row HAVING sum(side) != 0 ORDER BY named, row LIMIT ${maxDifferences}`,
    query_params: { ...(among !== undefined && { among }) },
    format: 'JSONCompactEachRow',
    clickhouse_settings: { max_execution_time: 0 },
  });
  const rows = await result.json<['derived' | 'raw', string, string]>();
  return rows.map(([side, key, row]) => ({ in: side, key, row }));
}

/** Columns of `events` and of `visits`, which tell what the rollups must have. */
export async function columnsOfRollups(clickhouse: Reader): Promise<Set<string>> {
  const result = await clickhouse.query({
    query:
      "SELECT name FROM system.columns WHERE database = currentDatabase() AND table IN ('events', 'visits', 'project_changes')",
    format: 'JSONEachRow',
  });
  return new Set((await result.json<{ name: string }>()).map(({ name }) => name));
}

/** Every derived table in turn. `wait` pauses between two looks. */
export async function* checkTables(
  clickhouse: Reader,
  wait: (ms: number) => Promise<unknown>,
): AsyncGenerator<TableCheck> {
  const tables = [...rollupsOf(await columnsOfRollups(clickhouse)), ...profileTables];
  for (const one of tables) {
    yield { table: one.table, differences: await lastingDifferences(clickhouse, one, wait) };
  }
}

/** Of keys that no look found equal, as the last look saw them. */
async function lastingDifferences(
  clickhouse: Reader,
  table: DerivedTable,
  wait: (ms: number) => Promise<unknown>,
): Promise<Difference[]> {
  let found = await differencesOf(clickhouse, table);
  for (let look = 1; look < looks && found.length > 0; look++) {
    await wait(pauseMs);
    const among = [...new Set(found.map(({ key }) => key))];
    found = await differencesOf(clickhouse, table, { among });
  }
  return found;
}
