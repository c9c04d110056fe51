// What a statement may reach: tables, and functions of their arguments alone. Refuses what reads or writes files, calls
// the network, or tells about the machine. The grants in users.xml refuse a part of this too, in the engine itself.

import type { Token } from '../../../platform/clickhouse/statement-tokens.ts';
import { EngineError } from '../errors.ts';

/** Refused names in lower case. Each version of the engine has more: see known-names.ts and `refusedNames`. */
export interface RefusedNames {
  tableFunctions: ReadonlySet<string>;
  functions: ReadonlySet<string>;
}

/** `values` is not among them: its structure is a text, and that may hold an ALIAS column with any function. */
const allowedTableFunctions = ['numbers', 'view'];

// Categories of functions without a reach beyond their arguments. A new category is refused until it is listed here.
const pureCategories = `
  Arithmetic, Arrays, Bit, Bitmap, Comparison, Conditional, Dates and Times, Distance, Encoding, Encryption, Financial,
  Geo, Geo Polygon, Hash, IP Address, JSON, Logical, Map, Mathematical, Null, NumericIndexedVector, QBit, Random Number,
  Rounding, String, String Replacement, String Search, String Splitting, Time Series, Time Window, Tuple,
  Type Conversion, URL, UUID`
  .split(',')
  .map((name) => name.trim());
// Pure or harmless functions of the category Other, which also has those of files, the network and the machine.
const allowedFunctions = (
  'bytesize currentdatabase database finalizeaggregation getsetting identity ignore indexhint materialize schema sleep ' +
  'sleepeachrow throwif totypename transform version'
).split(' ');

/** Reads the names that RefusedNames takes: each row is a name and whether it is a table function, as TabSeparated. */
export const refusedNames = `
  SELECT lower(name), 1 FROM system.table_functions WHERE name NOT IN (${literals(allowedTableFunctions)})
  UNION ALL
  SELECT lower(name), 0 FROM system.functions WHERE NOT is_aggregate AND origin = 'System'
    AND lower(name) NOT IN (${literals(allowedFunctions)})
    AND if(alias_to = '', name, alias_to) NOT IN (
      SELECT name FROM system.functions WHERE categories IN (${literals(pureCategories)}))`;

function literals(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}

/** Reads the answer to `refusedNames`. */
export function readRefusedNames(rows: string): RefusedNames {
  const tableFunctions = new Set<string>();
  const functions = new Set<string>();
  for (const row of rows.split('\n')) {
    const [name = '', isTableFunction] = row.split('\t');
    if (isTableFunction === '1') tableFunctions.add(name);
    else if (isTableFunction === '0') functions.add(name);
  }
  return { tableFunctions, functions };
}

/** A column of events has the name of a function. Its bare name is no way to call it, as it takes no arguments. */
const column = 'hostname';
/** Databases of the engine's own state; tables not listed here tell about the machine or other statements' data. */
const ownDatabases = new Set(['system', 'information_schema']);
const readableTables = new Set(
  'one numbers tables detached_tables columns parts merges mutations metrics processes functions table_functions settings jemalloc_stats'.split(
    ' ',
  ),
);

/**
 * Settings that place a table, and those that hold an expression, a file or an address as a text. users.xml forbids the
 * latter too, for settings of a request, but the engine does not ask it about the settings of a subquery.
 */
const refusedSettings = new Set(
  (
    'disk storage_policy additional_result_filter additional_table_filters parallel_replicas_custom_key ' +
    'schema_inference_hints output_format_schema input_format_record_errors_file_path rename_files_after_processing ' +
    'dialect format_schema format_schema_source format_template_row format_template_resultset ' +
    'format_avro_schema_registry_url send_logs_level compatibility'
  ).split(' '),
);

/**
 * Throws EngineError for a statement that reaches further. The name of a refused function is refused without brackets
 * too: `APPLY` and functions of functions take the bare name.
 */
export function refuseReach(sql: string, tokens: readonly Token[], refused: RefusedNames): void {
  let selecting = false;
  tokens.forEach((token, index) => {
    const name = nameOf(sql, token);
    if (name === undefined) return;
    const next = tokens[index + 1];
    selecting ||= token.value === 'SELECT' || token.value === 'FROM' || token.value === 'WITH';
    const isColumn = name === column && next?.value !== '(';
    if (refused.functions.has(name) && !isColumn) refuse(`the function ${name}`);
    if (next?.value === '(' && refused.tableFunctions.has(name)) {
      const isRows = name === 'values' && tokens[0]?.value === 'INSERT' && !selecting;
      if (!isRows) refuse(`the table function ${name}`);
    }
    if (refusedSettings.has(name)) refuse(`the setting ${name}`);
    if (ownDatabases.has(name) && next?.value === '.') {
      const table = tokens[index + 2];
      const read = table && nameOf(sql, table);
      const isReadable = name === 'system' && read !== undefined && readableTables.has(read);
      if (!isReadable) refuse(`${name}.${read ?? ''}`);
    }
  });
  refuseOwnFunction(sql, tokens);
}

/** The engine's own database is for statements that name it, so that each of its tables is seen. */
export function refuseDatabase(database: string): void {
  if (ownDatabases.has(database.toLowerCase())) refuse(`the database ${database} as a default`);
}

// A function of ours is a lambda of other functions, and its name says that it is ours.
function refuseOwnFunction(sql: string, tokens: readonly Token[]): void {
  const at = tokens.findIndex(({ value }) => value === 'FUNCTION');
  if (at === -1) return;
  const before = tokens
    .slice(0, at)
    .map(({ value }) => value)
    .join(' ');
  const after = tokens
    .slice(at + 1, at + 6)
    .filter(({ value }) => !/^(IF|NOT|EXISTS)$/.test(value));
  const [name, as] = after;
  const isOurs = name !== undefined && nameOf(sql, name)?.startsWith('millrace') === true;
  if (before === 'DROP' && isOurs) return;
  if (before === 'CREATE' && isOurs && as?.value === 'AS') return;
  refuse('FUNCTION here');
}

/** An identifier in lower case; undefined for other tokens. */
function nameOf(sql: string, { kind, start, end }: Token): string | undefined {
  if (kind === 'word') return sql.slice(start, end).toLowerCase();
  if (kind !== 'name') return undefined;
  const name = sql.slice(start + 1, end - 1);
  // An escaped quote or backslash stays in the name, and no function has one. Other escapes could spell any name.
  if (/\\[^\\`"']/.test(name)) refuse('an escape in a name');
  return name.toLowerCase();
}

function refuse(what: string): never {
  throw new EngineError(497, 'ACCESS_DENIED', `The embedded engine does not allow ${what}`);
}
