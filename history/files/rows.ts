// The rows of a file in the form of its family, many at a time: what a line says, never what it means.

import { readCsv } from './csv.ts';
import { readJsonItems } from './json-values.ts';
import { type Line, maxLineBytes, maxLogLineBytes, readLines } from './lines.ts';
import type { Input, OnBytes } from './open-input.ts';
import { UnreadableFile } from './unreadable-file.ts';

export type Form = 'json lines' | 'json list' | 'tabs' | 'csv' | 'lines';

export interface Row {
  /** Its line, from 1; of Parquet its row. */
  number: number;
  /** A JSON value, the fields of a CSV's or TSV's line, or a line's text. */
  value: unknown;
  /** Why there is none. */
  problem?: 'row_json' | 'row_columns' | 'row_quote' | 'row_length';
}

/** Throws an UnreadableFile, and what the file's reading throws. */
export async function* readRows(
  { content, name }: Input,
  form: Form,
  onBytes: OnBytes,
): AsyncGenerator<Row[]> {
  if (content.kind === 'parquet') {
    yield* parquetRows(content.path, name, form);
    return;
  }
  const chunks = content.open(onBytes);
  if (form === 'json list') {
    for await (const item of readJsonItems(chunks)) yield [parsed(item)];
    return;
  }
  const lines = readLines(chunks, form === 'lines' ? maxLogLineBytes : undefined);
  switch (form) {
    case 'json lines':
      for await (const some of lines) yield jsonRows(some);
      return;
    case 'tabs':
      for await (const some of lines) {
        yield some.map(({ number, text }) => ({ number, value: text.split('\t') }));
      }
      return;
    case 'csv':
      yield* readCsv(lines);
      return;
    case 'lines':
      for await (const some of lines) {
        yield some.map(({ number, text }) => ({ number, value: text }));
      }
      return;
    default:
      form satisfies never;
  }
}

async function* parquetRows(path: string, name: string, form: Form): AsyncGenerator<Row[]> {
  if (form !== 'json lines')
    throw new UnreadableFile(`${name} is Parquet, which this family is not`);
  // Its packages take a tenth of the command's start.
  const { readParquet } = await import('./parquet.ts');
  let number = 0;
  try {
    for await (const rows of readParquet(path)) {
      yield rows.map((value) => ({ number: ++number, value }));
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UnreadableFile(`${name} is no whole Parquet file: ${why}`);
  }
}

function jsonRows(lines: readonly Line[]): Row[] {
  const rows: Row[] = [];
  for (const line of lines) if (line.text !== '') rows.push(parsed(line));
  return rows;
}

/** The last character may be cut. */
const maxCharacterBytes = 4;

function parsed({ number, text }: Line): Row {
  if (text.length >= maxLineBytes) return { number, value: undefined, problem: 'row_length' };
  try {
    return { number, value: JSON.parse(text) };
  } catch {
    // Of a longer line the first bytes are given, which may be fewer characters.
    const isLong = Buffer.byteLength(text) >= maxLineBytes - maxCharacterBytes;
    return { number, value: undefined, problem: isLong ? 'row_length' : 'row_json' };
  }
}
