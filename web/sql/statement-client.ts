// The calls of the SQL page: POST /sql with the reader's session, and what it answers: rows, a file in a format that
// the statement names, or a failure in ClickHouse's form.

import { accessToken, hear, isReachable } from '../client.ts';
import { distinctNames } from './column-names.ts';
import { failureOf, type StatementFailure, wayFailure } from './statement-failure.ts';

/** A cell as JSONCompact has it: 64-bit integers are texts, maps are objects, tuples are lists. */
export type Cell = string | number | boolean | null | readonly unknown[] | object;

export interface AnswerColumn {
  /** No two columns of an answer have the same. */
  name: string;
  /** The engine's, such as Nullable(UInt64). */
  type: string;
}

export interface RowsAnswer {
  kind: 'rows';
  columns: readonly AnswerColumn[];
  /** At most `maxRows`. */
  rows: readonly (readonly Cell[])[];
  /** There are more rows than these. */
  isCut: boolean;
  /** Of the engine, without the way there and the wait for a place. */
  tookMs: number;
  readRows: number;
}

export interface FileAnswer {
  kind: 'file';
  format: string;
  /** Begins with text/ where it can be shown. */
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
}

export type Answer = RowsAnswer | FileAnswer;

/** More rows than somebody looks through; their CSV is opened by any spreadsheet. */
export const maxRows = 10_000;
/** Of an answer in the engine's memory: what a tab of a phone holds as rows. */
const maxBytes = 33_554_432;
const rowsFormat = 'JSONCompact';
/** An error behind rows stands in the last bytes: its message has 2,000 characters at most. */
const failureBytes = 16_384;

/** `ofRange`: values of the parameters. Throws StatementFailure, and the signal's reason. */
export async function runStatement(
  projectId: string,
  sql: string,
  signal: AbortSignal,
  ofRange: Record<string, string> = {},
): Promise<Answer> {
  const params = {
    ...ofRange,
    ...{ default_format: rowsFormat, enable_http_compression: '1' },
    max_result_bytes: String(maxBytes),
    // One row more tells that there are more. A file is whole.
    ...(/\bformat\b/i.test(sql) ? {} : { limit: String(maxRows + 1) }),
  };
  const { headers, bytes } = await ask(projectId, sql, params, signal);
  const tag = headers.get('x-clickhouse-exception-tag') ?? '';
  const behindRows = failureBehindRows(bytes, tag);
  if (behindRows !== undefined) throw behindRows;
  const format = headers.get('x-clickhouse-format') ?? '';
  const type = headers.get('content-type') ?? '';
  if (format !== rowsFormat) return { kind: 'file', format, type, bytes };
  return rowsOf(JSON.parse(new TextDecoder().decode(bytes)));
}

async function ask(
  projectId: string,
  sql: string,
  params: Record<string, string>,
  signal: AbortSignal,
): Promise<{ headers: Headers; bytes: Uint8Array<ArrayBuffer> }> {
  const headers = { authorization: `Bearer ${await accessToken()}`, 'x-project-id': projectId };
  let response: Response;
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    response = await fetch(`/sql?${new URLSearchParams(params)}`, {
      ...{ method: 'POST', body: sql, headers, signal },
    });
    bytes = new Uint8Array(await response.arrayBuffer());
  } catch {
    signal.throwIfAborted();
    isReachable.value = false;
    throw wayFailure;
  }
  hear();
  if (!response.ok) throw failureOf(new TextDecoder().decode(bytes));
  return { headers: response.headers, bytes };
}

/** An error that came when rows were sent already stands behind them, in a frame that the answer's tag marks. */
function failureBehindRows(bytes: Uint8Array, tag: string): StatementFailure | undefined {
  if (tag === '') return undefined;
  const end = new TextDecoder().decode(bytes.subarray(-failureBytes));
  const mark = `\r\n__exception__\r\n${tag}\r\n`;
  const at = end.lastIndexOf(mark);
  return at === -1 ? undefined : failureOf(end.slice(at + mark.length).split('\n')[0] ?? '');
}

interface CompactAnswer {
  meta: AnswerColumn[];
  data: Cell[][];
  statistics?: { elapsed: number; rows_read: number };
}

function rowsOf({ meta, data, statistics }: CompactAnswer): RowsAnswer {
  return {
    kind: 'rows',
    columns: distinctNames(meta),
    rows: data.slice(0, maxRows),
    isCut: data.length > maxRows,
    tookMs: (statistics?.elapsed ?? 0) * 1_000,
    readRows: statistics?.rows_read ?? 0,
  };
}

export interface View {
  name: string;
  columns: readonly AnswerColumn[];
}

const viewsSql = `SELECT table, name, type FROM system.columns
  WHERE table IN ('events', 'profiles', 'sessions') ORDER BY table, position`;

/** What a statement may read, as the service says. Throws StatementFailure. */
export async function listViews(projectId: string, signal: AbortSignal): Promise<View[]> {
  const answer = await runStatement(projectId, viewsSql, signal);
  const views = new Map<string, AnswerColumn[]>();
  if (answer.kind === 'rows') {
    for (const [view, name, type] of answer.rows) {
      const columns = views.get(String(view)) ?? [];
      views.set(String(view), [...columns, { name: String(name), type: String(type) }]);
    }
  }
  return [...views].map(([name, columns]) => ({ name, columns }));
}
