// Puts the tables of a backup into a database that has none: functions first, because tables hold what they say, then
// the migrations that the backup has, then rows, which no view may see again.

import { createReadStream, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import type { DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import type { Log } from '../../platform/log.ts';
import { migrate } from '../../sql/migrate.ts';
import { partDirectory, type SavedStore, type SavedTable } from '../manifest.ts';
import { countOf, partsOf, readPieces, writePiece } from '../row-pieces.ts';
import { copyFile, makeDirectory, syncPath } from '../saved-files.ts';
import {
  appliedMigrations,
  filledCopy,
  inDefault,
  rowsOf,
  run,
  type StoreTable,
  storeFunctions,
  storeTables,
} from '../store-tables.ts';

/** How the rows of a table come into a database. */
export type FillTable = (
  clickhouse: DatabaseClient,
  table: StoreTable,
  saved: SavedTable,
) => Promise<void>;

/**
 * Throws one sentence where the server has functions of another instance, or the database has tables; with `again`
 * they are what a restore has left, and are dropped.
 */
export async function requireEmptyStore(
  clickhouse: DatabaseClient,
  store: SavedStore,
  { again }: { again: boolean },
): Promise<void> {
  const there = await storeFunctions(clickhouse);
  for (const { name, create } of store.functions) {
    const found = there.find((one) => one.name === name);
    if (found === undefined || found.create === create) continue;
    throw new Error(
      `the ClickHouse server holds the function ${name} of another instance: restore into a server of its own`,
    );
  }
  const tables = await tablesIn(clickhouse);
  if (tables.length === 0) return;
  if (!again) {
    throw new Error(
      `the database ${clickhouse.database} has tables, ${tables[0]} for one: restore into an empty one`,
    );
  }
  for (const name of tables) await run(clickhouse, `DROP TABLE IF EXISTS ${name} SYNC`);
}

/** Views first: they would not let their tables go. */
async function tablesIn(clickhouse: DatabaseClient): Promise<string[]> {
  const rows = await rowsOf(
    clickhouse,
    `SELECT name FROM system.tables WHERE database = {database:String}
      ORDER BY engine != 'MaterializedView', name`,
    { database: clickhouse.database },
    inDefault,
  );
  return rows.map(([name = '']) => name);
}

/** Resolves with the number of rows once every table has those of the backup. Throws one sentence where one has not. */
export async function restoreTables(
  clickhouse: DatabaseClient,
  store: SavedStore,
  { fill, log, mergesAfter }: { fill: FillTable; log: Log; mergesAfter: boolean },
): Promise<number> {
  const there = new Set((await storeFunctions(clickhouse)).map(({ name }) => name));
  for (const { name, create } of store.functions) {
    if (!there.has(name)) await clickhouse.command({ query: create, http_headers: inDefault });
  }
  await migrate(clickhouse, log, { only: new Set(store.migrations) });
  const applied = new Set(await appliedMigrations(clickhouse));
  const unknown = store.migrations.filter((name) => !applied.has(name));
  if (unknown.length > 0) {
    throw new Error(`the backup has migrations that this version lacks, ${unknown[0]} for one`);
  }
  const tables = await storeTables(clickhouse);
  let rows = 0;
  for (const saved of store.tables) {
    const table = tables.find(({ name }) => name === saved.name);
    if (table === undefined) throw new Error(`this version has no table ${saved.name}`);
    // A merge makes fewer rows of some tables, and they are counted.
    await run(clickhouse, `SYSTEM STOP MERGES ${table.name}`);
    await fill(clickhouse, table, saved);
    const count = await countOf(clickhouse, table.name);
    if (count !== saved.rows) {
      throw new Error(
        `the table ${table.name} has ${count} rows of ${saved.rows} after the restore`,
      );
    }
    rows += count;
  }
  if (mergesAfter) {
    for (const { name } of store.tables) await run(clickhouse, `SYSTEM START MERGES ${name}`);
  }
  return rows;
}

/** Copies parts into an embedded engine's own directory. */
export function partsFrom(directory: string): FillTable {
  return async (clickhouse, { name, path }, { parts }) => {
    for (const part of parts) {
      const from = partDirectory(directory, name, part.id);
      const to = join(path, 'detached', part.name);
      makeDirectory(to);
      for (const file of readdirSync(from)) await copyFile(join(from, file), join(to, file));
      syncPath(to);
      await run(clickhouse, `ALTER TABLE ${name} ATTACH PART '${part.name}'`);
    }
  };
}

/** Sends the rows of the backup's files. */
export function rowsFrom(directory: string): FillTable {
  return (clickhouse, { name }, { parts }) =>
    throughCopy(clickhouse, name, async (copy) => {
      for (const { id } of parts) {
        const part = partDirectory(directory, name, id);
        for (const file of readdirSync(part).sort()) {
          const piece = createReadStream(join(part, file));
          await writePiece(clickhouse, copy, piece.pipe(createGunzip()));
        }
      }
    });
}

/** Sends the rows of another engine's tables, which must have no merges. */
export function rowsOfEngine(engine: DatabaseClient): FillTable {
  return (clickhouse, { name }) =>
    throughCopy(clickhouse, name, async (copy) => {
      for (const part of await partsOf(engine, name)) {
        for await (const piece of readPieces(engine, name, part)) {
          await writePiece(clickhouse, copy, piece);
        }
      }
    });
}

/** Rows go into a copy without views; the table then takes its parts, which no view sees. */
async function throughCopy(
  clickhouse: DatabaseClient,
  table: string,
  fill: (copy: string) => Promise<void>,
): Promise<void> {
  const copy = filledCopy(table);
  await run(clickhouse, `DROP TABLE IF EXISTS ${copy} SYNC`);
  await run(clickhouse, `CREATE TABLE ${copy} AS ${table}`);
  await run(clickhouse, `SYSTEM STOP MERGES ${copy}`);
  await fill(copy);
  await run(clickhouse, `ALTER TABLE ${table} ATTACH PARTITION ALL FROM ${copy}`);
  await run(clickhouse, `DROP TABLE ${copy} SYNC`);
}
