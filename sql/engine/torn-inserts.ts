// What a killed engine leaves between two steps of an insert. It writes the insert's record into the table's
// deduplication log, and some 0.3 ms later it gives the part of the rows its name. Killed in between, it has a record
// without rows: the repeated insert would be taken for stored, and its rows would never be there. The engine (26.7.2.1)
// does not look for such a record. It holds the table's lock over both steps, so only a table's last record can be one.

import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';
import { quoteName, quoteString } from './statement/parameters.ts';

/** Runs a statement, and resolves with its output as text. */
type Ask = (sql: string) => Promise<string>;

interface LastRecord {
  file: string;
  /** Where the record begins. */
  offset: number;
  /** `1<TAB>partition_least_greatest_level<TAB>token<LF>`, 2 in place of 1 where the part was dropped. */
  text: string;
}

/** A record is some 100 bytes: two numbers of 20 digits, and the part's name. */
const longestRecordBytes = 4096;

/**
 * Removes the last record of each table where it has no rows, so that the repeated insert adds them. Call it once the
 * engine has the directory's lock and before it takes inserts.
 */
export async function forgetTornInserts(ask: Ask): Promise<void> {
  const tables = await ask(
    `SELECT database, name, path FROM system.tables ARRAY JOIN data_paths AS path
     WHERE engine LIKE '%MergeTree' AND database != 'system' FORMAT JSONCompactEachRow`,
  );
  for (const line of tables.split('\n').filter(Boolean)) {
    const [database = '', name = '', path = '']: string[] = JSON.parse(line);
    const record = lastRecord(join(path, 'deduplication_logs'));
    if (record === undefined || (await isWhole(ask, database, name, record.text))) continue;
    const table = `${quoteName(database)}.${quoteName(name)}`;
    // The engine has the log in memory. A start that is killed in between leaves the table to the next start.
    await ask(`DETACH TABLE ${table} SYNC`);
    truncateSync(record.file, record.offset);
    await ask(`ATTACH TABLE ${table}`);
  }
}

/** The newest file may have been begun without a record in it. */
function lastRecord(directory: string): LastRecord | undefined {
  if (!existsSync(directory)) return undefined;
  const numberOf = (file: string): number => Number(/_(\d+)\.txt$/.exec(file)?.[1] ?? 0);
  const files = readdirSync(directory).sort((a, b) => numberOf(b) - numberOf(a));
  for (const name of files) {
    const file = join(directory, name);
    const { bytes, startsAt } = readEnd(file);
    if (bytes.length === 0) continue;
    const offset = bytes.subarray(0, -1).lastIndexOf('\n') + 1;
    return { file, offset: startsAt + offset, text: bytes.toString('utf8', offset) };
  }
  return undefined;
}

function readEnd(file: string): { bytes: Buffer; startsAt: number } {
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    const startsAt = Math.max(0, size - longestRecordBytes);
    const bytes = Buffer.alloc(size - startsAt);
    readSync(descriptor, bytes, 0, bytes.length, startsAt);
    return { bytes, startsAt };
  } finally {
    closeSync(descriptor);
  }
}

/** Whether all of the record is there, and its rows too: in its part, or in one that a merge made of it. */
async function isWhole(ask: Ask, database: string, table: string, text: string): Promise<boolean> {
  if (!text.endsWith('\n')) return false;
  const [, partition, block] = /^1\t([^\t_]+)_(\d+)_/.exec(text) ?? [];
  if (partition === undefined) return true;
  const parts = await ask(
    `SELECT count() FROM system.parts WHERE active AND database = ${quoteString(database)}
     AND table = ${quoteString(table)} AND partition_id = ${quoteString(partition)}
     AND min_block_number <= ${block} AND max_block_number >= ${block}`,
  );
  return Number(parts) > 0;
}
