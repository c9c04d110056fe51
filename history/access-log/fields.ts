// The fields of a line of text: words, texts in quotes, times in brackets, captures in braces.

export interface Field {
  readonly text: string;
  readonly form: 'word' | 'quoted' | 'bracketed' | 'braced';
}

const ends: Readonly<Record<string, { end: string; form: Field['form'] }>> = {
  '"': { end: '"', form: 'quoted' },
  '[': { end: ']', form: 'bracketed' },
  '{': { end: '}', form: 'braced' },
};
const maxFields = 256;

/** In order; undefined where one is not closed, or where there are too many. */
export function fieldsOf(line: string): Field[] | undefined {
  const fields: Field[] = [];
  for (let at = 0; at < line.length; ) {
    const first = line.charAt(at);
    if (first === ' ') {
      at++;
      continue;
    }
    if (fields.length === maxFields) return undefined;
    const closing = ends[first];
    const end = closing === undefined ? -1 : endOf(line, at + 1, closing.end);
    const isWhole = end >= 0 && (end + 1 === line.length || line.charAt(end + 1) === ' ');
    if (closing !== undefined && isWhole) {
      const text = line.slice(at + 1, end);
      const { form } = closing;
      fields.push({ text: form === 'quoted' ? plainText(text) : text, form });
      at = end + 1;
      continue;
    }
    // An address of version 6 with a port begins with a bracket, too.
    if (first === '"') return undefined;
    const space = line.indexOf(' ', at);
    const wordEnd = space < 0 ? line.length : space;
    fields.push({ text: line.slice(at, wordEnd), form: 'word' });
    at = wordEnd;
  }
  return fields;
}

/** Where the closing character stands; a backslash hides the character behind it. */
function endOf(line: string, from: number, close: string): number {
  for (let at = from; at < line.length; at++) {
    if (line.charAt(at) === '\\' && close === '"') at++;
    else if (line.charAt(at) === close) return at;
  }
  return -1;
}

const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', v: '\v', f: '\f' };

// Apache escapes unprintable bytes as \", \\, \n or \xhh, one by one: the bytes are put together as UTF-8 again.
function plainText(text: string): string {
  if (!text.includes('\\')) return text;
  const bytes = /\\x([0-9a-fA-F]{2})|\\(.)|([^\\]+)/g;
  const parts = [...text.matchAll(bytes)].map(([, hex, escaped, plain]) => {
    if (hex !== undefined) return Buffer.from(hex, 'hex');
    return Buffer.from(escaped === undefined ? (plain ?? '') : (escapes[escaped] ?? escaped));
  });
  return Buffer.concat(parts).toString('utf8');
}
