// Runs one SELECT within bounds of time, rows and bytes. Rows come as JSON arrays with every type exact: a 64-bit
// integer is text, a double the shortest text that reads back as the same double. The meaning of columns is each
// caller's.

import { collectRows, lackOfMemory, type RowReader } from '../platform/clickhouse/select-rows.ts';
import { type Deadline, defaultMaxReadMs } from './deadline.ts';

/** The largest number of rows that a read may ask for. */
export const maxReadRows = 1_001;

/**
 * The same for all reads, because each change of a setting costs the embedded engine a statement; the small reads of
 * questions have a priority too (insights/run/insight-runs.ts). The engine's own time limit ends a read whose caller
 * has gone. How much memory a read may take is the client's (createClickHouse).
 */
const settings = {
  output_format_json_quote_64bit_integers: 1,
  max_execution_time: defaultMaxReadMs / 1_000,
  max_result_rows: String(maxReadRows),
  // A parameter may become part of the statement's text at each place that names it.
  max_query_size: String(8 * 1_048_576),
  // ClickHouse would compile a statement at its fourth run: 50 ms that save these reads nothing.
  compile_expressions: 0,
  compile_aggregate_expressions: 0,
  compile_sort_description: 0,
} as const;

export interface Statement {
  sql: string;
  params: Readonly<Record<string, unknown>>;
}

export interface ReadBounds {
  deadline: Pick<Deadline, 'signal'>;
  /** The statement's LIMIT; at most maxReadRows. */
  maxRows: number;
  /** Reading stops after the row that passes this many characters. */
  maxCharacters: number;
}

type ReadResult =
  | { kind: 'rows'; rows: unknown[][]; characters: number; stopped: boolean }
  /** The engine lacks the memory for so many rows of this size. */
  | { kind: 'too-large' };

/** Throws the client's errors; readFailure turns them into answers. */
export async function readRows(
  clickhouse: RowReader,
  statement: Statement,
  bounds: ReadBounds,
): Promise<ReadResult> {
  try {
    return await collect(clickhouse, statement, bounds);
  } catch (error) {
    if (lackOfMemory(error) === 'statement') return { kind: 'too-large' };
    throw error;
  }
}

async function collect(
  clickhouse: RowReader,
  { sql, params }: Statement,
  { deadline: { signal }, maxRows, maxCharacters }: ReadBounds,
): Promise<ReadResult> {
  const select = { sql, params, settings, signal };
  const { rows, characters } = await collectRows(clickhouse, select, maxCharacters);
  const stopped = characters >= maxCharacters && rows.length < maxRows;
  return { kind: 'rows', rows, characters, stopped };
}
