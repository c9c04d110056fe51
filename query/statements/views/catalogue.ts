// What clients ask the system tables, answered from views of the project's own database: constants, so that no real
// system table is read. The names of real tables, databases and ids are in none of them.

import { allowedSql } from '../judge/allowed-functions.ts';

/** The one database that callers see; `default` is taken for it. */
export const databaseName = 'millrace';
export const databaseNames: ReadonlySet<string> = new Set([databaseName, 'default']);

export interface ViewColumn {
  table: string;
  name: string;
  type: string;
  position: number;
}

/** Of `system.NAME`. */
export const helperName = (name: string): string => `sys_${name}`;

type Columns = Readonly<Record<string, string>>;

const none = "''";
const noNumber = 'toUInt64(0)';
const noId = "toUUID('00000000-0000-0000-0000-000000000000')";

/** Rows of one array of tuples, with columns by SQL over `t`. */
function rowsSql(tuples: readonly string[], columns: Columns): string {
  const named = Object.entries(columns).map(([name, sql]) => `${sql} AS ${name}`);
  return `SELECT ${named.join(', ')} FROM (SELECT arrayJoin([${tuples.join(', ')}]) AS t)`;
}

/** A table that is always empty. */
function emptySql(columns: Columns): string {
  return `${rowsSql(['tuple(1)'], columns)} WHERE 0`;
}

/** Types that columns and answers have. */
const families = [
  ...[
    'String',
    'FixedString',
    'UUID',
    'Bool',
    'Int8',
    'Int16',
    'Int32',
    'Int64',
    'UInt8',
    'UInt16',
  ],
  ...['UInt32', 'UInt64', 'Float32', 'Float64', 'Decimal', 'Date', 'Date32', 'DateTime'],
  ...['DateTime64', 'Array', 'Map', 'Tuple', 'Nullable', 'LowCardinality', 'Enum8', 'Enum16'],
];

/** Each helper's SELECT, by the name of its system table. `settings`: those that a statement may change. */
export function catalogueSql(
  columns: readonly ViewColumn[],
  settings: readonly string[],
): Readonly<Record<string, string>> {
  const tables = [...new Set(columns.map(({ table }) => table))];
  return {
    databases: rowsSql([`tuple('${databaseName}')`], {
      ...{ name: 't.1', engine: "'Memory'", data_path: none, metadata_path: none, uuid: noId },
      ...{ engine_full: none, comment: none, is_external: 'toUInt8(0)' },
    }),
    tables: rowsSql(
      tables.map((name) => `tuple('${name}')`),
      {
        ...{ database: `'${databaseName}'`, name: 't.1', uuid: noId, engine: "'View'" },
        ...{ is_temporary: 'toUInt8(0)', data_paths: "CAST([], 'Array(String)')" },
        ...{ metadata_path: none, metadata_modification_time: 'toDateTime(0)' },
        ...{ create_table_query: none, engine_full: none, as_select: none, comment: none },
        ...{ partition_key: none, sorting_key: none, primary_key: none, sampling_key: none },
        ...{ total_rows: "CAST(NULL, 'Nullable(UInt64)')" },
        ...{ total_bytes: "CAST(NULL, 'Nullable(UInt64)')", has_own_data: 'toUInt8(0)' },
      },
    ),
    columns: rowsSql(
      columns.map(
        (one) => `('${one.table}', '${one.name}', '${quoted(one.type)}', ${one.position})`,
      ),
      {
        ...{ database: `'${databaseName}'`, table: 't.1', name: 't.2', type: 't.3' },
        ...{ position: 'toUInt64(t.4)', default_kind: none, default_expression: none },
        ...{ comment: none, is_in_partition_key: 'toUInt8(0)', is_in_sorting_key: 'toUInt8(0)' },
        ...{ is_in_primary_key: 'toUInt8(0)', is_in_sampling_key: 'toUInt8(0)' },
        ...{ compression_codec: none, character_octet_length: "CAST(NULL, 'Nullable(UInt64)')" },
        ...{ numeric_precision: "CAST(NULL, 'Nullable(UInt64)')" },
        ...{ numeric_scale: "CAST(NULL, 'Nullable(UInt64)')" },
        ...{ data_compressed_bytes: noNumber, data_uncompressed_bytes: noNumber },
      },
    ),
    settings: rowsSql(
      [
        ...settings.map((name) => `('${name}', '', 0)`),
        ...["('readonly', '1', 1)", "('cloud_mode', '0', 1)"],
      ],
      {
        ...{ name: 't.1', value: 't.2', changed: 'toUInt8(0)', description: none },
        ...{ min: "CAST(NULL, 'Nullable(String)')", max: "CAST(NULL, 'Nullable(String)')" },
        ...{ readonly: 'toUInt8(t.3)', type: "'String'", default: none, alias_for: none },
      },
    ),
    functions: `SELECT name, is_aggregate, case_insensitive, alias_to, create_query, origin, description, syntax,
      arguments, parameters, returned_value, examples, introduced_in, categories
      FROM system.functions WHERE ${allowedSql}`,
    data_type_families: rowsSql(
      families.map((name) => `tuple('${name}')`),
      { name: 't.1', case_insensitive: 'toUInt8(0)', alias_to: none },
    ),
    table_engines: rowsSql(["tuple('View')"], { name: 't.1' }),
    ...emptyTables(),
  };
}

/** Of clients that look at servers: there is nothing to see. */
function emptyTables(): Readonly<Record<string, string>> {
  return {
    clusters: emptySql({
      ...{ cluster: none, shard_num: 'toUInt32(0)', replica_num: 'toUInt32(0)', host_name: none },
      ...{ host_address: none, port: 'toUInt16(0)', is_local: 'toUInt8(0)' },
    }),
    parts: emptySql({
      ...{ partition: none, name: none, database: none, table: none, engine: none },
      ...{ active: 'toUInt8(0)', rows: noNumber, bytes: noNumber, bytes_on_disk: noNumber },
      ...{ data_compressed_bytes: noNumber, data_uncompressed_bytes: noNumber },
      ...{ modification_time: 'toDateTime(0)', min_date: 'toDate(0)', max_date: 'toDate(0)' },
    }),
    dictionaries: emptySql({ database: none, name: none, status: none, type: none, origin: none }),
    processes: emptySql({ query: none, elapsed: 'toFloat64(0)' }),
    mutations: emptySql({ database: none, table: none, mutation_id: none, is_done: 'toUInt8(0)' }),
    merges: emptySql({
      database: none,
      table: none,
      elapsed: 'toFloat64(0)',
      progress: 'toFloat64(0)',
    }),
  };
}

/** Names of `system` that are answered. */
export const catalogueNames: ReadonlySet<string> = new Set(Object.keys(catalogueSql([], [])));

function quoted(text: string): string {
  return text.replace(/[\\']/g, (character) => `\\${character}`);
}
