// Rows of `events` written straight into the engine, for tests of their readers.

import { randomUUID } from 'node:crypto';
import type { DatabaseClient } from '../../../platform/clickhouse/clickhouse.ts';
import { packedColumns } from '../../../platform/clickhouse/event-columns.ts';

export interface StoredRow {
  projectId: string;
  eventId: string;
  kind: string;
  distinctId: string;
  cookieless: boolean;
  sessionId: string;
  occurTimeMs: number;
  receiveTimeMs: number;
  /** Columns of automatic properties, for example `browser`. */
  columns: Record<string, string>;
  strings: Record<string, string>;
  ints: Record<string, bigint>;
  doubles: Record<string, number>;
  bools: Record<string, boolean>;
  /** Milliseconds since the epoch. */
  times: Record<string, number>;
}

/** A page_view of now with fresh ids and no properties; `fields` override. */
export function storedRow(fields: Partial<StoredRow> & { projectId: string }): StoredRow {
  const occurTimeMs = fields.occurTimeMs ?? Date.now();
  return {
    eventId: randomUUID(),
    kind: 'page_view',
    distinctId: 'visitor',
    cookieless: false,
    sessionId: randomUUID(),
    occurTimeMs,
    receiveTimeMs: occurTimeMs + 1_000,
    columns: {},
    strings: {},
    ints: {},
    doubles: {},
    bools: {},
    times: {},
    ...fields,
  };
}

const structure = [
  'project_id String, event_id UUID, kind String, distinct_id String, cookieless Bool, session_id UUID',
  'occur_ms Int64, receive_ms Int64, columns Map(String, String), strings Map(String, String)',
  'ints Map(String, Int64), doubles Map(String, Float64), bools Map(String, Bool), times Map(String, Int64)',
].join(', ');

/** One insert, so that each call makes one part. */
export async function storeRows(
  clickhouse: Pick<DatabaseClient, 'command' | 'query'>,
  rows: readonly StoredRow[],
): Promise<void> {
  const given = new Set(rows.flatMap((row) => Object.keys(row.columns)));
  const columns = await columnsToInsert(given, clickhouse);
  const named = columns.map(({ column }) => `, ${column}`).join('');
  const selected = columns.map(({ sql }) => `, ${sql}`).join('');
  const lines = rows.map(jsonLine).join('\n');
  const sent = `rows_${randomUUID().replaceAll('-', '')}`;
  await clickhouse.command({ query: `CREATE TABLE ${sent} (${structure}) ENGINE = Memory` });
  await clickhouse.command({ query: `INSERT INTO ${sent} FORMAT JSONEachRow\n${lines}` });
  await clickhouse.command({
    query: `INSERT INTO events (project_id, event_id, kind, distinct_id, cookieless, session_id, occur_time,
      receive_time, string_properties, int_properties, double_properties, bool_properties, time_properties${named})
      SELECT project_id, event_id, kind, distinct_id, cookieless, session_id,
        fromUnixTimestamp64Milli(occur_ms, 'UTC'), fromUnixTimestamp64Milli(receive_ms, 'UTC'),
        strings, ints, doubles, bools, mapApply((k, v) -> (k, fromUnixTimestamp64Milli(v, 'UTC')), times)${selected}
      FROM ${sent}`,
    clickhouse_settings: { max_partitions_per_insert_block: '0' },
  });
  await clickhouse.command({ query: `DROP TABLE ${sent}` });
}

/** The columns in which these are stored, and the SQL of their values. */
async function columnsToInsert(
  given: ReadonlySet<string>,
  clickhouse: Pick<DatabaseClient, 'query'>,
): Promise<{ column: string; sql: string }[]> {
  const touched = packedColumns.filter(({ of }) => of.some((column) => given.has(column)));
  const parts = touched.length > 0 ? await partsOfPackedColumns(clickhouse) : new Set<string>();
  const packed = touched
    .map(({ column, of }) => ({ column, of: of.filter((name) => parts.has(name)) }))
    .filter(({ of }) => of.length > 0);
  const within = new Set<string>(packed.flatMap(({ of }) => of));
  const alone = [...given].filter((column) => !within.has(column));
  return [
    ...alone.map((column) => ({ column, sql: `columns['${column}']` })),
    ...packed.map(({ column, of }) => {
      const texts = of.map((one) => `columns['${one}']`);
      const isEmpty = texts.map((text) => `${text} = ''`).join(' AND ');
      return { column, sql: `if(${isEmpty}, '', concat(${texts.join(', char(255), ')}))` };
    }),
  ];
}

/** None in a database from before the migration that packed them, and fewer before those that added some. */
async function partsOfPackedColumns(
  clickhouse: Pick<DatabaseClient, 'query'>,
): Promise<ReadonlySet<string>> {
  const result = await clickhouse.query({
    query: `SELECT name FROM system.columns
      WHERE database = currentDatabase() AND table = 'events' AND default_kind = 'ALIAS'`,
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ name: string }>();
  return new Set(rows.map(({ name }) => name));
}

function jsonLine(row: StoredRow): string {
  const fields: [string, string][] = [
    ['project_id', JSON.stringify(row.projectId)],
    ['event_id', JSON.stringify(row.eventId)],
    ['kind', JSON.stringify(row.kind)],
    ['distinct_id', JSON.stringify(row.distinctId)],
    ['cookieless', String(row.cookieless)],
    ['session_id', JSON.stringify(row.sessionId)],
    ['occur_ms', String(row.occurTimeMs)],
    ['receive_ms', String(row.receiveTimeMs)],
    ['columns', JSON.stringify(row.columns)],
    ['strings', JSON.stringify(row.strings)],
    ['ints', jsonMap(row.ints, String)],
    ['doubles', jsonMap(row.doubles, (value) => (Object.is(value, -0) ? '-0' : String(value)))],
    ['bools', JSON.stringify(row.bools)],
    ['times', JSON.stringify(row.times)],
  ];
  return `{${fields.map(([name, text]) => `"${name}":${text}`).join(',')}}`;
}

function jsonMap<T>(map: Record<string, T>, text: (value: T) => string): string {
  const entries = Object.entries(map).map(
    ([key, value]) => `${JSON.stringify(key)}:${text(value)}`,
  );
  return `{${entries.join(',')}}`;
}
