// The functions that a statement may call: those of the engine's own that compute from their arguments alone, by the
// engine's categories, and a few more by name. A category that is not named here is refused, and so are functions that
// somebody has defined.

import { collectRows, type RowReader } from '../../../platform/clickhouse/select-rows.ts';

export interface AllowedFunctions {
  /** Of a name in lower case. */
  has(name: string): boolean;
}

/** The same as the embedded engine allows (sql/engine/statement/reach.ts), but for those that sleep. */
const categories = [
  ...['Arithmetic', 'Arrays', 'Bit', 'Bitmap', 'Comparison', 'Conditional', 'Dates and Times'],
  ...[
    'Distance',
    'Encoding',
    'Encryption',
    'Financial',
    'Geo',
    'Geo Polygon',
    'Hash',
    'IP Address',
  ],
  ...['JSON', 'Logical', 'Map', 'Mathematical', 'Null', 'NumericIndexedVector', 'QBit'],
  ...['Random Number', 'Rounding', 'String', 'String Replacement', 'String Search'],
  ...['String Splitting', 'Time Series', 'Time Window', 'Tuple', 'Type Conversion', 'URL', 'UUID'],
];
/** Of the category Other, and words of the language that are no functions of the list. */
const named = [
  ...['bytesize', 'finalizeaggregation', 'identity', 'materialize', 'totypename', 'transform'],
  ...['version', 'exists', 'grouping', 'untuple'],
];
/** Those of an aggregate function's name that change what it takes or gives. */
const combinators = [
  ...['mergestate', 'simplestate', 'ordefault', 'resample', 'distinct', 'foreach', 'argmin'],
  ...['argmax', 'ornull', 'state', 'merge', 'array', 'map', 'if'],
];
const throwsByChance = 'aggthrow';

/** A condition on rows of system.functions. */
export const allowedSql = `origin = 'System' AND lower(name) != '${throwsByChance}' AND (is_aggregate
  OR lower(name) IN (${texts(named)})
  OR if(alias_to = '', name, alias_to) IN (
    SELECT name FROM system.functions WHERE categories IN (${texts(categories)})))`;

const maxCharacters = 1_048_576;

/** Throws the client's errors. */
export async function readAllowedFunctions(
  clickhouse: RowReader,
  signal: AbortSignal,
): Promise<AllowedFunctions> {
  const sql = `SELECT lower(name), is_aggregate FROM system.functions WHERE ${allowedSql}`;
  const { rows } = await collectRows(
    clickhouse,
    { sql, params: {}, settings: {}, signal },
    maxCharacters,
  );
  const plain = new Set(named);
  const aggregates = new Set<string>();
  for (const [name, isAggregate] of rows) {
    (Number(isAggregate) === 1 ? aggregates : plain).add(String(name));
  }
  return { has: (name) => plain.has(name) || isAggregate(name, aggregates) };
}

function isAggregate(name: string, aggregates: ReadonlySet<string>): boolean {
  if (aggregates.has(name)) return true;
  return combinators.some(
    (end) => name.endsWith(end) && isAggregate(name.slice(0, -end.length), aggregates),
  );
}

function texts(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}
