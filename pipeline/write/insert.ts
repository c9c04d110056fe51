// The `insert` part of the events' writer: repeats the same bytes under the same token until the engine says that it
// has them. After a failure that may have written, anything else would lose rows or double them.

import { failureOf } from '../../platform/clickhouse/clickhouse.ts';
import type { Log } from '../../platform/log.ts';
import { retry } from '../../platform/retry.ts';
import type { BuiltRows } from '../build/thread-messages.ts';
import { ShardLost } from './owned-calls.ts';

const firstWaitMs = 100;
const longestWaitMs = 10_000;

interface InsertOptions {
  /** One try; resolves once the rows are on disk. Ends all tries by throwing ShardLost. */
  insertArrow(arrow: Uint8Array, token: string): Promise<void>;
  signal: AbortSignal;
  log: Log;
  onInserted(seconds: number, built: BuiltRows): void;
  /** Reports how often the current insert has failed; 0 once it has succeeded. */
  onFailures(count: number): void;
}

/** Returns a function that resolves once a batch's rows are in the table, or rejects once the signal is aborted. */
export function createInsert(
  options: InsertOptions,
): (built: BuiltRows, token: string) => Promise<void> {
  const { insertArrow, signal, log } = options;
  return async (built, token) => {
    await retry(
      async () => {
        const startedMs = performance.now();
        await insertArrow(built.arrow, token);
        options.onInserted((performance.now() - startedMs) / 1_000, built);
      },
      {
        signal,
        baseMs: firstWaitMs,
        capMs: longestWaitMs,
        onFailure: ({ error, attempt, waitMs }) => {
          if (error instanceof ShardLost) throw error;
          options.onFailures(attempt);
          const fields = { token, rows: built.rows, attempt, waitMs, err: error };
          // The builder keeps out rows that the engine could refuse, so a refusal needs an operator.
          if (failureOf(error) === 'reject') log.error(fields, 'the engine refuses an insert');
          else log.warn(fields, 'an insert failed and is tried again');
        },
      },
    );
    options.onFailures(0);
  };
}
