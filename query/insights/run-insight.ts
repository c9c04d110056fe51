// Runs the statement of one question within its bounds of time, memory and rows. Unlike other reads, it may use every
// core and go through every row of a project.

import { availableParallelism } from 'node:os';
import { ClickHouseError } from '@clickhouse/client';
import { Code, ConnectError } from '@connectrpc/connect';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import type { Deadline } from '../deadline.ts';
import type { Plan } from './plan.ts';

/** The time limit of one question. */
export const maxInsightMs = 30_000;
/** An answer has at most 100,000 points of some 40 characters. */
const maxCharacters = 16 * 1_048_576;

/** The same for all questions, as a change of settings costs the embedded engine a statement. */
const settings = {
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_denormals: 1,
  max_threads: availableParallelism(),
  max_execution_time: maxInsightMs / 1_000,
  // A parameter may become part of the statement's text at each place that names it.
  max_query_size: String(8 * 1_048_576),
} as const;

/** Throws resource_exhausted where the engine lacks the memory, and the client's errors. */
export async function runInsight(
  clickhouse: RowReader,
  { sql, maxRows }: Plan,
  params: Readonly<Record<string, unknown>>,
  { signal }: Deadline,
): Promise<unknown[][]> {
  const rows: unknown[][] = [];
  let characters = 0;
  try {
    await clickhouse.select({ sql, params, settings, signal }, (text) => {
      characters += text.length;
      if (characters > maxCharacters || rows.length >= maxRows) throw tooLarge();
      rows.push(JSON.parse(text));
      return true;
    });
  } catch (error) {
    if (error instanceof ClickHouseError && error.type === 'MEMORY_LIMIT_EXCEEDED')
      throw tooLarge();
    throw error;
  }
  signal.throwIfAborted();
  return rows;
}

function tooLarge(): ConnectError {
  const message =
    'the question needs too much memory: ask for a shorter range, fewer breakdowns or narrower filters';
  return new ConnectError(message, Code.ResourceExhausted);
}
