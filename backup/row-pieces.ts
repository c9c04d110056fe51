// Rows of a table piece by piece in ClickHouse's format Native, for a server whose disk is elsewhere: a part's rows by
// their place in it. A piece is small enough for one insert of the least engine.

import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { type DatabaseClient, untilInserted } from '../platform/clickhouse/clickhouse.ts';
import { rowsOf } from './store-tables.ts';

/** As many rows as the largest batch of the pipeline has. */
const pieceRows = 100_000;

export interface RowPart {
  name: string;
  /** Of its content: a copy of the part has the same one. */
  hash: string;
  rows: number;
}

export async function partsOf(clickhouse: DatabaseClient, table: string): Promise<RowPart[]> {
  const rows = await rowsOf(
    clickhouse,
    `SELECT name, hash_of_all_files, rows FROM system.parts
      WHERE active AND database = currentDatabase() AND table = {table:String} ORDER BY name`,
    { table },
  );
  return rows.map(([name = '', hash = '', count]) => ({ name, hash, rows: Number(count) }));
}

/** The pieces of a part in order, each as a stream of bytes. The table must have no merges meanwhile. */
export async function* readPieces(
  clickhouse: DatabaseClient,
  table: string,
  part: Pick<RowPart, 'name' | 'rows'>,
): AsyncGenerator<Readable> {
  for (let from = 0; from < part.rows; from += pieceRows) {
    const { stream } = await clickhouse.exec({
      query: `SELECT * FROM {table:Identifier} WHERE _part = {part:String}
        AND _part_offset >= {from:UInt64} AND _part_offset < {to:UInt64} FORMAT Native`,
      query_params: { table, part: part.name, from, to: from + pieceRows },
      // The whole answer, or an error in its place.
      clickhouse_settings: { max_execution_time: 0, wait_end_of_query: 1, max_threads: 1 },
    });
    yield stream;
  }
}

/** Inserts a piece. Two that are the same are rows of two parts: neither is a repetition. */
export async function writePiece(
  clickhouse: DatabaseClient,
  table: string,
  piece: Readable,
): Promise<void> {
  const { stream } = await clickhouse.exec({
    query: `INSERT INTO ${table} FORMAT Native`,
    values: piece,
    clickhouse_settings: {
      async_insert: 0,
      // ClickHouse 26.7 deduplicates by content, whatever insert_deduplicate says: a token of its own tells two apart.
      insert_deduplication_token: randomUUID(),
      max_partitions_per_insert_block: '0',
      // A piece stays what it was: sums are added up by merges.
      optimize_on_insert: 0,
      wait_end_of_query: 1,
      max_execution_time: 0,
    },
  });
  await untilInserted(stream);
}

export async function countOf(clickhouse: DatabaseClient, table: string): Promise<number> {
  const [[count = '0'] = []] = await rowsOf(clickhouse, `SELECT count() FROM ${table}`);
  return Number(count);
}
