// The rows of a CSV as objects by its header. Values in quotes may hold commas, quotes and line breaks (RFC 4180).

import type { Line } from './lines.ts';

/** Longer rows are no export's: a quote was not closed. */
const maxRowCharacters = 1_048_576;

export interface CsvRow {
  number: number;
  /** Its fields by name. */
  value: Readonly<Record<string, string>> | undefined;
  problem?: 'row_columns' | 'row_quote';
}

export async function* readCsv(lines: AsyncIterable<Line[]>): AsyncGenerator<CsvRow[]> {
  let header: readonly string[] | undefined;
  let row: OpenRow | undefined;
  for await (const some of lines) {
    const rows: CsvRow[] = [];
    for (const { number, text } of some) {
      if (row === undefined && text === '') continue;
      row ??= { number, values: [], quoted: undefined, characters: 0 };
      if (!closes(row, text) && row.characters < maxRowCharacters) continue;
      if (header === undefined) header = row.values;
      else rows.push(rowOf(row, header));
      row = undefined;
    }
    if (rows.length > 0) yield rows;
  }
  if (row !== undefined) yield [rowOf(row, [])];
}

function rowOf({ number, values, quoted }: OpenRow, header: readonly string[]): CsvRow {
  if (quoted !== undefined) return { number, value: undefined, problem: 'row_quote' };
  if (values.length !== header.length) {
    return { number, value: undefined, problem: 'row_columns' };
  }
  const value = Object.fromEntries(header.map((name, index) => [name, values[index] ?? '']));
  return { number, value };
}

/** A row some lines of which are read; the others are still to come. */
interface OpenRow {
  number: number;
  values: string[];
  /** The lines of a value whose quote is not closed yet. */
  quoted: string[] | undefined;
  characters: number;
}

/** Reads the row's next line; false where a quote is open at its end, and the row goes on in the line behind it. */
function closes(row: OpenRow, text: string): boolean {
  row.characters += text.length + 1;
  if (row.quoted === undefined && !text.includes('"')) {
    row.values = text.split(',');
    return true;
  }
  for (let at = 0; at <= text.length; ) {
    if (row.quoted === undefined) {
      if (text[at] !== '"') {
        const comma = text.indexOf(',', at);
        const end = comma < 0 ? text.length : comma;
        row.values.push(text.slice(at, end));
        at = end + 1;
        continue;
      }
      row.quoted = [];
      at++;
    }
    const end = closingQuote(text, at);
    row.quoted.push(text.slice(at, end < 0 ? undefined : end));
    if (end < 0) return false;
    row.values.push(row.quoted.join('\n').replaceAll('""', '"'));
    row.quoted = undefined;
    at = end + 2;
  }
  return true;
}

/** A doubled quote is one of the text. */
function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}
