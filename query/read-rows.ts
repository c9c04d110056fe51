// Runs one SELECT within bounds of time, rows and bytes. Rows come as JSON arrays, in which every type is exact: 64-bit
// integers are text, doubles the shortest text that reads back as the same double.

import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { type Deadline, defaultMaxReadMs } from './deadline.ts';

/** Rows that any read may ask for. */
export const maxReadRows = 1_001;

/**
 * The same for all reads, as changing settings costs the embedded engine a statement. The time is the engine's own
 * guard, for a read that nobody waits for any more.
 */
const settings = {
  output_format_json_quote_64bit_integers: 1,
  max_execution_time: defaultMaxReadMs / 1_000,
  max_result_rows: String(maxReadRows),
  max_memory_usage: String(512 * 1_048_576),
  // Parameters may become part of the statement's text, each as often as it is named.
  max_query_size: String(8 * 1_048_576),
} as const;

export interface Statement {
  sql: string;
  params: Readonly<Record<string, unknown>>;
}

export interface ReadBounds {
  deadline: Deadline;
  /** What the statement's LIMIT says: at most maxReadRows. */
  maxRows: number;
  /** Reading stops after the row that passes this many characters. */
  maxCharacters: number;
}

export type ReadResult =
  | { kind: 'rows'; rows: unknown[][]; characters: number; stopped: boolean }
  /** The engine cannot hold so many rows of this size. */
  | { kind: 'too-large' };

/** Throws what the client throws: readFailure tells what that means. */
export async function readRows(
  clickhouse: Pick<ClickHouseClient, 'query'>,
  statement: Statement,
  bounds: ReadBounds,
): Promise<ReadResult> {
  try {
    return await collect(clickhouse, statement, bounds);
  } catch (error) {
    if (error instanceof ClickHouseError && error.type === 'MEMORY_LIMIT_EXCEEDED') {
      return { kind: 'too-large' };
    }
    throw error;
  }
}

async function collect(
  clickhouse: Pick<ClickHouseClient, 'query'>,
  statement: Statement,
  { deadline, maxRows, maxCharacters }: ReadBounds,
): Promise<ReadResult> {
  deadline.signal.throwIfAborted();
  const result = await clickhouse.query({
    query: statement.sql,
    query_params: statement.params,
    format: 'JSONCompactEachRow',
    abort_signal: deadline.signal,
    clickhouse_settings: settings,
  });
  const close = (): void => result.close();
  deadline.signal.addEventListener('abort', close);
  try {
    const rows: unknown[][] = [];
    let characters = 0;
    for await (const chunk of result.stream<unknown[]>()) {
      for (const row of chunk) {
        rows.push(row.json());
        characters += row.text.length;
        if (characters >= maxCharacters) {
          return { kind: 'rows', rows, characters, stopped: rows.length < maxRows };
        }
      }
    }
    deadline.signal.throwIfAborted();
    return { kind: 'rows', rows, characters, stopped: false };
  } finally {
    deadline.signal.removeEventListener('abort', close);
    result.close();
  }
}
