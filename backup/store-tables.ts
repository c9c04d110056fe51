// The tables of a database that a backup holds, and what of their database it needs beside them: functions, whose drawn
// numbers are in every profile's key, and the names of the migrations.

import type { DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import { databaseHeader } from '../platform/clickhouse/select-rows.ts';

export interface StoreTable {
  name: string;
  uuid: string;
  /** Where an embedded engine has its files. */
  path: string;
}

/** The log of attempts is written beside the writers, and saved apart. */
export const attemptsTable = 'webhook_attempts';
/** A copy that a backup reads, or that a restore fills. */
export const savedCopy = (table: string): string => `backup_${table}`;
export const filledCopy = (table: string): string => `restore_${table}`;

/** Kept numbers may be forgotten, migrations make their own rows, and copies are somebody's work. */
const isLeftOut = (name: string): boolean =>
  /^(?:kept|backup|restore)_|_remade$/.test(name) || name === 'schema_migrations';

/** A reach is noted after its ids are stored: read first, it says no more than what is there. */
const first = ['event_ids_reach', 'event_ids'];

/** In the order in which they are saved. */
export async function storeTables(clickhouse: DatabaseClient): Promise<StoreTable[]> {
  const rows = await rowsOf(
    clickhouse,
    `SELECT name, toString(uuid), data_paths[1] FROM system.tables
      WHERE database = currentDatabase() AND engine LIKE '%MergeTree' ORDER BY name`,
  );
  const tables = rows.map(([name = '', uuid = '', path = '']) => ({ name, uuid, path }));
  const place = ({ name }: StoreTable): number => (first.indexOf(name) + 1 || 3) % 4;
  return tables.filter(({ name }) => !isLeftOut(name)).sort((a, b) => place(a) - place(b));
}

/** For statements of the server, whose database may not exist yet. */
export const inDefault = { [databaseHeader]: 'default' };

/** Functions of a server are every database's. */
export async function storeFunctions(
  clickhouse: DatabaseClient,
): Promise<{ name: string; create: string }[]> {
  const rows = await rowsOf(
    clickhouse,
    `SELECT name, create_query FROM system.functions
      WHERE origin = 'SQLUserDefined' AND startsWith(name, 'millrace') ORDER BY name`,
    {},
    inDefault,
  );
  return rows.map(([name = '', create = '']) => ({ name, create }));
}

export async function appliedMigrations(clickhouse: DatabaseClient): Promise<string[]> {
  const rows = await rowsOf(
    clickhouse,
    'SELECT DISTINCT name FROM schema_migrations ORDER BY name',
  );
  return rows.map(([name = '']) => name);
}

export async function rowsOf(
  clickhouse: DatabaseClient,
  query: string,
  parameters: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<string[][]> {
  const result = await clickhouse.query({
    query,
    query_params: parameters,
    http_headers: headers,
    format: 'JSONCompactEachRow',
    clickhouse_settings: { max_execution_time: 0 },
  });
  return (await result.json<unknown[]>()).map((row) => row.map(String));
}

/** A statement that may take long. */
export async function run(clickhouse: DatabaseClient, query: string): Promise<void> {
  await clickhouse.command({ query, clickhouse_settings: { max_execution_time: 0 } });
}
