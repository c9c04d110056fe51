// The way of every read of the log: it waits for its turn, and has bounds of time, rows and characters. A failure
// becomes the caller's error here, and its cause is logged here alone. Turns are read-turns.ts's.

import { ClickHouseError } from '@clickhouse/client';
import { Code, ConnectError } from '@connectrpc/connect';
import { EngineShare } from '../../platform/clickhouse/engine-share.ts';
import {
  type CollectedRows,
  collectRows,
  type RowReader,
  timeoutErrors,
} from '../../platform/clickhouse/select-rows.ts';
import type { Log } from '../../platform/log.ts';
import { timeLimit } from '../../platform/memory/time-limit.ts';
import { ReadTurns } from './read-turns.ts';

export interface BoundedStatement {
  /** Without FORMAT, and with a LIMIT. */
  sql: string;
  params: Readonly<Record<string, unknown>>;
  /** Reading stops after the row that passes so many characters. */
  maxCharacters: number;
}

interface ReadRows extends CollectedRows {
  /** Whether more rows may follow. */
  stopped: boolean;
}

/** Runs one statement within the read's time. */
export type ReadRowsOf = (statement: BoundedStatement) => Promise<ReadRows>;

export interface BoundedReads {
  /**
   * Runs a read of one or several statements. Throws ConnectError: resource_exhausted where its turn does not come,
   * its statements hardly get the processor or the engine lacks the memory, deadline_exceeded after ten seconds of
   * reading, unavailable where the engine does not answer, canceled where `gone` aborts before its turn.
   */
  run<T>(
    organizationId: string,
    read: (rowsOf: ReadRowsOf) => Promise<T>,
    gone?: AbortSignal,
  ): Promise<T>;
}

const maxReadMs = 10_000;
/** The engine's counters are looked at after this part of a read's time. */
const lookAfter = 0.7;

const settings = {
  output_format_json_quote_64bit_integers: 1,
  max_execution_time: maxReadMs / 1_000,
  // A page of 100 among 250,000 attempts takes 50 ms instead of 400: nothing is read ahead of the page.
  read_in_order_use_buffering: 0,
  // A page's ids are a parameter.
  max_query_size: String(1_048_576),
} as const;

interface BoundedReadsOptions {
  clickhouse: RowReader;
  log: Log;
  /** Whose an organization is: owners take turns. Each organization has its own unless given. */
  ownerOf?: (organizationId: string) => string | undefined;
  /** Ten seconds unless given. */
  readMs?: number;
}

export function createBoundedReads(options: BoundedReadsOptions): BoundedReads {
  const { clickhouse, log } = options;
  const readMs = options.readMs ?? maxReadMs;
  const turns = new ReadTurns();
  const share = new EngineShare({ clickhouse, nowMs: () => performance.now() });
  return {
    async run(organizationId, read, gone) {
      const owner = options.ownerOf?.(organizationId) ?? organizationId;
      await turns.take(owner, gone);
      const signal = timeLimit(readMs);
      const looking = setTimeout(() => void share.look(), lookAfter * readMs);
      try {
        return await read((statement) => readRows(clickhouse, statement, signal));
      } catch (error) {
        throw failureOf(error, signal, share, log);
      } finally {
        clearTimeout(looking);
        turns.give(owner);
      }
    },
  };
}

async function readRows(
  clickhouse: RowReader,
  { sql, params, maxCharacters }: BoundedStatement,
  signal: AbortSignal,
): Promise<ReadRows> {
  const select = { sql, params, settings, signal };
  const { rows, characters } = await collectRows(clickhouse, select, maxCharacters);
  return { rows, characters, stopped: characters >= maxCharacters };
}

/** Code and name of an engine's error are logged, not its text: that repeats the statement with the caller's values. */
function failureOf(
  error: unknown,
  signal: AbortSignal,
  share: EngineShare,
  log: Log,
): ConnectError {
  if (error instanceof ConnectError) return error;
  const type = error instanceof ClickHouseError ? (error.type ?? '') : '';
  if (signal.aborted || timeoutErrors.has(type)) {
    if (share.isStarved()) {
      log.warn('a read of the webhook log waited for the machine');
      const message = 'the service is busy, the read is not too large: ask again in 5 seconds';
      return new ConnectError(message, Code.ResourceExhausted, { 'retry-after': '5' });
    }
    log.warn('a read of the webhook log took too long');
    const message = 'the read took too long: ask for a shorter range';
    return new ConnectError(message, Code.DeadlineExceeded);
  }
  if (type === 'MEMORY_LIMIT_EXCEEDED') {
    log.warn('a read of the webhook log took too much memory');
    const message = 'too much to read at once: ask for a shorter range';
    return new ConnectError(message, Code.ResourceExhausted);
  }
  if (error instanceof ClickHouseError) {
    log.error({ clickhouseCode: error.code, clickhouseError: type }, 'the webhook log is not read');
  } else log.error({ err: error }, 'the webhook log is not read');
  return new ConnectError('the webhook log cannot be read now, try again', Code.Unavailable);
}
