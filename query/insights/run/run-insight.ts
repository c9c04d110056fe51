// Runs the statement of one question within its bounds of time, memory and rows. Unlike other reads, it may use every
// core and go through every row of a project. Whether it has to run at all is insight-runs.ts's.

import { ClickHouseError } from '@clickhouse/client';
import { Code, ConnectError } from '@connectrpc/connect';
import { lackOfMemory, type RowReader } from '../../../platform/clickhouse/select-rows.ts';
import type { Statement } from '../../read-rows.ts';
import type { KeptRange } from './kept/kept-days.ts';
import type { Rows } from './result-cache.ts';
import { fitsStore, maxStatementBytes } from './statement-size.ts';

/** The time limit of one question. */
export const maxInsightMs = 30_000;
/** An answer has at most 100,000 points of some 40 characters. */
const maxCharacters = 16 * 1_048_576;
/** Groups and sorts beyond this part of a statement's memory go to disk. */
const partBeforeDisk = 4;

export interface InsightStatement extends Statement {
  /** The most rows that it can answer. */
  maxRows: number;
  /** The days whose cells it may find kept; absent for a statement that names no placeholder of theirs. */
  kept?: KeptRange;
}

/**
 * The same for all questions, because each change of a setting costs the embedded engine a statement. Only the priority
 * and the threads differ by project (insight-runs.ts).
 */
const settings = {
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_denormals: 1,
  max_execution_time: maxInsightMs / 1_000,
  max_query_size: String(maxStatementBytes),
  // Of events and the few merged ids, it would at times hold the events in memory: the engine's guess of how many match
  // is far too low.
  query_plan_join_swap_table: 'false',
  // A statement counts rows of a table and takes others of it back: a merge that ends between two reads must not show.
  // The engine's default, which a server of one's own may have changed.
  enable_shared_storage_snapshot_in_query: 1,
  // A granule's values of a column are some 64 KiB or less, beside those of all other columns in one file: with the
  // server's 128 KiB three quarters of what is read belong to others.
  max_read_buffer_size_local_fs: 32_768,
  // These look through the whole statement for what none of ours has, and take a quarter of the time to plan a board's.
  optimize_aggregators_of_group_by_keys: 0,
  optimize_group_by_function_keys: 0,
  optimize_injective_functions_in_group_by: 0,
  optimize_syntax_fuse_functions: 0,
} as const;

/**
 * Without `memoryBytes` the server's own bound counts. Throws resource_exhausted where memory, disk, rows or characters
 * do not suffice or the statement is too long, and the client's errors.
 */
export async function runInsight(
  clickhouse: RowReader,
  { sql, params, maxRows }: InsightStatement,
  memoryBytes: number | undefined,
  signal: AbortSignal,
): Promise<Rows> {
  if (!fitsStore(sql, params)) throw tooLong();
  const texts: string[] = [];
  let characters = 0;
  const bounded = { ...settings, ...memorySettings(memoryBytes) };
  try {
    await clickhouse.select({ sql, params, settings: bounded, signal }, (text) => {
      characters += text.length;
      if (characters > maxCharacters || texts.length >= maxRows) throw tooLarge();
      texts.push(text);
      return true;
    });
  } catch (error) {
    // The caller can do nothing about what others hold.
    if (!(error instanceof ClickHouseError) || lackOfMemory(error) === 'engine') throw error;
    if (exhausted.has(error.type ?? '')) throw tooLarge();
    if (tooManyTerms.has(error.type ?? '')) throw tooLong();
    throw error;
  }
  signal.throwIfAborted();
  return { texts, characters };
}

/** ClickHouse's names of errors: the memory is used up, the room on disk is used up, a list is too long. */
const exhausted = new Set([
  'MEMORY_LIMIT_EXCEEDED',
  'TOO_MANY_ROWS_OR_BYTES',
  'TOO_LARGE_ARRAY_SIZE',
]);
/** A statement has at most 50,000 terms: reading and planning more takes a core for many seconds. */
const tooManyTerms = new Set(['TOO_BIG_AST', 'TOO_DEEP_AST', 'TOO_DEEP_RECURSION']);

function memorySettings(bytes: number | undefined) {
  if (bytes === undefined) return {};
  const beforeDisk = String(Math.floor(bytes / partBeforeDisk));
  return {
    max_memory_usage: String(bytes),
    max_bytes_before_external_group_by: beforeDisk,
    max_bytes_before_external_sort: beforeDisk,
  };
}

function tooLarge(): ConnectError {
  const asks = 'ask for a shorter range, fewer breakdowns or narrower filters';
  return new ConnectError(`the question needs too much memory: ${asks}`, Code.ResourceExhausted);
}

function tooLong(): ConnectError {
  const asks = 'ask for fewer events, breakdowns or filters, or shorter texts';
  return new ConnectError(`the question is too long: ${asks}`, Code.ResourceExhausted);
}
