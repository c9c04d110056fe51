// The rows of a CSV as objects by its header. Values in quotes may hold commas, quotes and line breaks (RFC 4180).

import type { Line } from './lines.ts';

/** Longer rows are no export's: a quote was not closed. */
const maxRowCharacters = 8 * 1_048_576;

/** `fields` is undefined where the row has another number of values than the header. */
export interface CsvRow {
  number: number;
  fields: Readonly<Record<string, string>> | undefined;
}

export async function* readCsv(lines: AsyncIterable<Line[]>): AsyncGenerator<CsvRow[]> {
  let header: string[] | undefined;
  let open: Line | undefined;
  for await (const some of lines) {
    const rows: CsvRow[] = [];
    for (const line of some) {
      const whole = open === undefined ? line : { ...open, text: `${open.text}\n${line.text}` };
      open = undefined;
      if (whole.text === '') continue;
      const values = valuesOf(whole.text);
      if (values === undefined && whole.text.length < maxRowCharacters) open = whole;
      else if (header === undefined) header = values ?? [];
      else rows.push({ number: whole.number, fields: byName(header, values ?? []) });
    }
    if (rows.length > 0) yield rows;
  }
  if (open !== undefined) yield [{ number: open.number, fields: undefined }];
}

function byName(header: readonly string[], values: readonly string[]): CsvRow['fields'] {
  if (values.length !== header.length) return undefined;
  return Object.fromEntries(header.map((name, index) => [name, values[index] ?? '']));
}

/** Undefined where a quote is not closed: the row goes on in the next line. */
function valuesOf(text: string): string[] | undefined {
  if (!text.includes('"')) return text.split(',');
  const values: string[] = [];
  for (let at = 0; at <= text.length; ) {
    if (text[at] !== '"') {
      const comma = text.indexOf(',', at);
      const end = comma < 0 ? text.length : comma;
      values.push(text.slice(at, end));
      at = end + 1;
      continue;
    }
    const end = closingQuote(text, at + 1);
    if (end < 0) return undefined;
    values.push(text.slice(at + 1, end).replaceAll('""', '"'));
    at = end + 2;
  }
  return values;
}

/** A doubled quote is one of the text. */
function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}
