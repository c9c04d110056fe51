// What a reader sees of a project that keeps its events for some days: the engine itself leaves older rows out of every
// table that a statement reads, wherever it names the table. So an answer is that of a project which never had these
// rows, before they are deleted too, and no statement can forget them. Tables that add up all events of a profile have
// no time of their own: the daily work counts them anew (erasure/retained/).

import type { ResultReader, RowReader, Select } from '../clickhouse/select-rows.ts';
import { dayMs, utcDateOf } from '../clock.ts';

/** Tables with rows of events by time, and the column that tells it: of each, rows from the boundary on stay whole. */
export const timedTables = {
  events: 'occur_time',
  event_counts: 'quarter',
  profile_days: 'day',
  visits: 'day',
  visit_entries: 'day',
} as const;

/** ClickHouse's setting that filters rows by table. */
const setting = 'additional_table_filters';

/** Tables are those of the statement's own database. */
function retainedSettings(fromMs: number): Select['settings'] {
  const filters = Object.entries(timedTables).map(
    ([table, column]) => `'${table}': '${column} >= \\'${dateOf(fromMs)}\\''`,
  );
  return { [setting]: `{${filters.join(', ')}}` };
}

/** The value of the setting in which every table of `database` has a filter already, with the time besides. */
export function withRetained(
  filters: string,
  database: string,
  fromMs: number | undefined,
): string {
  if (fromMs === undefined) return filters;
  return Object.entries(timedTables).reduce((all, [table, column]) => {
    const start = `'${database}.${table}': '`;
    return all.replace(start, `${start}${column} >= \\'${dateOf(fromMs)}\\' AND `);
  }, filters);
}

/** A reader of one project's rows. */
export function retainedRows(reader: RowReader, fromMs: () => number | undefined): RowReader {
  return { select: (select, onRow) => reader.select(bounded(select, fromMs()), onRow) };
}

/** The same, of results as files too. */
export function retainedReader(
  reader: RowReader & ResultReader,
  fromMs: () => number | undefined,
): RowReader & ResultReader {
  return {
    ...retainedRows(reader, fromMs),
    stream: (select, format) => reader.stream(bounded(select, fromMs()), format),
  };
}

function bounded(select: Select, fromMs: number | undefined): Select {
  if (fromMs === undefined) return select;
  return { ...select, settings: { ...select.settings, ...retainedSettings(fromMs) } };
}

function dateOf(fromMs: number): string {
  return utcDateOf(Math.floor(fromMs / dayMs));
}
