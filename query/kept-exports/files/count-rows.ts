// Counts the rows of a file of an export by the file itself: texts while they are written, the others by what they say
// of themselves.

import type { FileHandle } from 'node:fs/promises';
import { Message } from 'apache-arrow';
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet';
import type { FormatName } from '../../export/export-format.ts';

export interface RowCounter {
  /** Of the text before it is packed. */
  take(chunk: Buffer): void;
  /** Once all of it is written to the file. */
  rows(file: FileHandle, path: string): Promise<number>;
}

const newline = 0x0a;
const quote = 0x22;

export function createRowCounter(format: FormatName): RowCounter {
  switch (format) {
    case 'ndjson':
      return ofLines();
    case 'csv':
      return ofRecords();
    case 'parquet':
      return { take() {}, rows: (_, path) => rowsOfParquet(path) };
    case 'arrow':
      return { take() {}, rows: (file) => rowsOfArrow(file) };
    default:
      return format satisfies never;
  }
}

/** JSON has no line end in a line. */
function ofLines(): RowCounter {
  let lines = 0;
  return {
    take(chunk) {
      for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) lines++;
    },
    rows: async () => lines,
  };
}

/** A line end between quotes is one of a value; a quote in a value is two. The first line has names. */
function ofRecords(): RowCounter {
  let lines = 0;
  let isQuoted = false;
  return {
    take(chunk) {
      for (const byte of chunk) {
        if (byte === quote) isQuoted = !isQuoted;
        else if (byte === newline && !isQuoted) lines++;
      }
    },
    rows: async () => lines - 1,
  };
}

async function rowsOfParquet(path: string): Promise<number> {
  const metadata = await parquetMetadataAsync(await asyncBufferFromFile(path));
  return Number(metadata.num_rows);
}

/** Each message has the length of its metadata before it, after a marker, and a body behind it. */
async function rowsOfArrow(file: FileHandle): Promise<number> {
  const prefix = Buffer.alloc(8);
  let rows = 0;
  for (let at = 0; ; ) {
    const { bytesRead } = await file.read(prefix, 0, 8, at);
    const length = prefix.readInt32LE(4);
    if (bytesRead < 8 || length === 0) return rows;
    if (prefix.readInt32LE(0) !== -1) throw new Error('a file of an export is no stream of Arrow');
    const metadata = Buffer.alloc(length);
    await file.read(metadata, 0, length, at + 8);
    const message = Message.decode(metadata);
    if (message.isRecordBatch()) rows += Number(message.header().length);
    at += 8 + length + Number(message.bodyLength);
  }
}
