// Takes the tables of a server whose disk is elsewhere: copies beside them that share their parts, made in a moment and
// read afterwards at leisure. Copies of a command that was killed are dropped by the next one.

import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import type { DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import { partsOf, readPieces } from './row-pieces.ts';
import { syncPath } from './saved-files.ts';
import { rowsOf, run, type StoreTable, savedCopy } from './store-tables.ts';
import type { TakenPart, TakenTables } from './taken-tables.ts';

export function cloneTables(clickhouse: DatabaseClient): TakenTables {
  const drop = async (): Promise<void> => {
    const copies = await rowsOf(
      clickhouse,
      `SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, '${savedCopy('')}')`,
    );
    for (const [name = ''] of copies) await run(clickhouse, `DROP TABLE IF EXISTS ${name} SYNC`);
  };
  return {
    kind: 'rows',
    async prepare(tables) {
      await drop();
      for (const { name } of tables) {
        await run(clickhouse, `CREATE TABLE ${savedCopy(name)} AS ${name}`);
        // The parts must stay while they are read.
        await run(clickhouse, `SYSTEM STOP MERGES ${savedCopy(name)}`);
      }
    },
    begin: async () => {},
    async take({ name }) {
      // Nothing is there but what an earlier try took.
      await run(clickhouse, `TRUNCATE TABLE ${savedCopy(name)}`);
      await run(clickhouse, `ALTER TABLE ${savedCopy(name)} ATTACH PARTITION ALL FROM ${name}`);
    },
    async parts(table) {
      return partsOfCopy(clickhouse, table);
    },
    close: drop,
  };
}

async function partsOfCopy(
  clickhouse: DatabaseClient,
  { name: table }: StoreTable,
): Promise<TakenPart[]> {
  const parts = await partsOf(clickhouse, savedCopy(table));
  return parts.map((part) => ({
    id: part.hash,
    name: part.name,
    rows: part.rows,
    async save(directory) {
      let piece = 0;
      for await (const rows of readPieces(clickhouse, savedCopy(table), part)) {
        const path = join(directory, `${String(piece++).padStart(6, '0')}.native.gz`);
        await pipeline(
          rows,
          createGzip({ level: constants.Z_BEST_SPEED }),
          createWriteStream(path, { mode: 0o600 }),
        );
        syncPath(path);
      }
    },
  }));
}
