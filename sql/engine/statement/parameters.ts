// Puts bound parameters into a statement: each {name:Type} becomes a literal of that type. The engine's own binding is
// not used, because its parameters belong to the process: two statements at once could read each other's values.

import { tokenize } from '../../../platform/clickhouse/statement-tokens.ts';
import { EngineError } from '../errors.ts';

const placeholder = /^\{\s*(\w+)\s*:\s*(.+?)\s*\}$/s;

/**
 * Replaces the placeholders of `sql` by `values`, which are in the form of ClickHouse's HTTP interface: text escaped
 * like TabSeparated. A placeholder without a value is refused with the server's error.
 */
export function bindParameters(sql: string, values: ReadonlyMap<string, string>): string {
  if (!sql.includes('{')) return sql;
  let bound = '';
  let copied = 0;
  for (const token of tokenize(sql)) {
    if (token.kind !== 'parameter') continue;
    const [, name = '', type = ''] = placeholder.exec(sql.slice(token.start, token.end)) ?? [];
    const value = values.get(name);
    if (value === undefined) {
      throw new EngineError(456, 'UNKNOWN_QUERY_PARAMETER', `Substitution \`${name}\` is not set`);
    }
    bound += sql.slice(copied, token.start) + literal(type, value);
    copied = token.end;
  }
  return bound + sql.slice(copied);
}

const wrapped = /^(LowCardinality|Nullable)\s*\(\s*(.+?)\s*\)$/is;
const nothing = '\\N';

function literal(type: string, value: string): string {
  const [, wrapper, inner = ''] = wrapped.exec(type) ?? [];
  if (wrapper !== undefined) {
    if (value === nothing && /\bNullable\b/i.test(type)) return `CAST(NULL AS ${type})`;
    // In two steps: a direct cast to Nullable would turn an unreadable text into NULL.
    return `CAST(${literal(inner, value)} AS ${type})`;
  }
  // The text of a composite value has its own quoting, which the cast reads.
  if (/^(Array|Tuple)\b/i.test(type)) return `CAST(${quoteString(value)} AS ${type})`;
  // Text casts to an array of maps, though not to a map.
  if (/^Map\b/i.test(type)) return `CAST(${quoteString(`[${value}]`)} AS Array(${type}))[1]`;
  const text = value === nothing ? '' : unescapeTabSeparated(value);
  if (/^Identifier$/i.test(type)) return quoteName(text);
  if (/^String$/i.test(type)) return quoteString(text);
  refuseUnreadableTime(type, text);
  return `CAST(${quoteString(text)} AS ${type})`;
}

const unixSeconds = /^\d{10}$/;
const unixFraction = /^\d{10}\.\d+$/;
const day = /^\d{4}-\d\d-\d\d$/;
const second = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;
const fraction = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+$/;
const readableTimes: readonly [type: RegExp, texts: readonly RegExp[]][] = [
  [/^Date(32)?$/i, [day]],
  [/^DateTime(\(.*\))?$/i, [unixSeconds, day, second]],
  [/^DateTime64\b/i, [unixSeconds, unixFraction, day, second, fraction]],
];

// The cast reads more forms of a time than a server's binding; the extra forms must fail here too.
function refuseUnreadableTime(type: string, text: string): void {
  const [, texts] = readableTimes.find(([pattern]) => pattern.test(type)) ?? [];
  if (texts === undefined || texts.some((pattern) => pattern.test(text))) return;
  const message = `Value ${text} cannot be parsed as ${type} for query parameter`;
  throw new EngineError(457, 'BAD_QUERY_PARAMETER', message);
}

/** A single-quoted literal that reads back as exactly `text`, for any text. */
export function quoteString(text: string): string {
  return quote(text, "'");
}

/** The name of a database or a table, in backquotes. */
export function quoteName(name: string): string {
  return quote(name, '`');
}

const escapes = new Map([
  ['\\', '\\\\'],
  ["'", "\\'"],
  ['`', '\\`'],
  ['\0', '\\0'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

function quote(text: string, mark: "'" | '`'): string {
  const escaped = text.replace(/[\\'`\0\b\f\n\r\t]/g, (character) => escapes.get(character) ?? '');
  return mark + escaped + mark;
}

const unescapes = new Map([
  ['0', '\0'],
  ['a', '\x07'],
  ['b', '\b'],
  ['e', '\x1b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
]);

function unescapeTabSeparated(text: string): string {
  return text.replace(/\\(x[0-9A-Fa-f]{2}|.)/gs, (_, code: string) =>
    code.length === 3
      ? String.fromCharCode(Number.parseInt(code.slice(1), 16))
      : (unescapes.get(code) ?? code),
  );
}
