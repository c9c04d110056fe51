// How large a question's statement is where the store reads it: every part of a question has the filter groups again,
// and a parameter may become text at each place that names it.

/** The longest text of a statement, with its parameters in it. */
export const maxStatementBytes = 8 * 1_048_576;
/** Parameters travel in a URL, of which servers take a MiB; the rest is for settings. */
const maxUrlBytes = 1_048_576 - 16_384;

/** Whether a statement is as short as the store takes it. */
export function fitsStore(sql: string, params: Readonly<Record<string, unknown>>): boolean {
  const bytesOf = new Map<string, number>();
  let urlBytes = 0;
  for (const [name, value] of Object.entries(params)) {
    const text = Array.isArray(value) ? value.map(quoted).join() : String(value);
    urlBytes += name.length + encodedBytes(text);
    bytesOf.set(name, literalBytes(text));
  }
  let statementBytes = sql.length;
  for (const [, name = ''] of sql.matchAll(/\{(\w+):/g)) statementBytes += bytesOf.get(name) ?? 0;
  return urlBytes <= maxUrlBytes && statementBytes <= maxStatementBytes;
}

function quoted(element: unknown): string {
  return typeof element === 'string' ? `'${element}'` : String(element);
}

/** In a list, each of these is escaped twice. */
function literalBytes(text: string): number {
  return Buffer.byteLength(text) + 3 * countOf(text, /['\\\0\b\f\n\r\t]/g);
}

/** Of UTF-8, three for each byte that is no letter or digit, and the same for the backslash that escapes it. */
function encodedBytes(text: string): number {
  const plain = countOf(text, /[A-Za-z0-9]/g);
  return plain + 3 * (Buffer.byteLength(text) - plain) + 3 * countOf(text, /['\\\n\r\t]/g);
}

function countOf(text: string, pattern: RegExp): number {
  let count = 0;
  for (const _ of text.matchAll(pattern)) count++;
  return count;
}
