// Turns a failed export into its reader's error, where nothing was sent yet, and into a line of the log.

import { ClickHouseError } from '@clickhouse/client';
import { Code, ConnectError } from '@connectrpc/connect';
import { lackOfMemory, timeoutErrors } from '../../platform/clickhouse/select-rows.ts';
import type { Log } from '../../platform/log.ts';

/** A ConnectError was written for the reader. Logs code and name alone: a message repeats the statement's values. */
export function exportFailure(cause: unknown, gone: AbortSignal, log: Log): ConnectError {
  if (cause instanceof ConnectError) return cause;
  if (gone.aborted) return new ConnectError('gone', Code.Canceled);
  if (cause instanceof ClickHouseError) {
    log.warn({ clickhouseCode: cause.code, clickhouseError: cause.type }, 'an export failed');
    if (timeoutErrors.has(cause.type ?? '')) return tooLong();
    if (lackOfMemory(cause) === 'statement') {
      return new ConnectError(
        'the rows are too large: export a shorter range, or columns=maps',
        Code.ResourceExhausted,
      );
    }
    if (lackOfMemory(cause) === 'engine') {
      return new ConnectError('the event store is busy: export again later', Code.Unavailable);
    }
    return new ConnectError('the export failed', Code.Internal);
  }
  if (cause instanceof Error && cause.name === 'TimeoutError') return tooLong();
  log.warn({ err: cause }, 'an export failed: the event store cannot be reached');
  return new ConnectError('the event store cannot be reached, try again', Code.Unavailable);
}

function tooLong(): ConnectError {
  return new ConnectError(
    'the export took too long: export shorter ranges one by one',
    Code.DeadlineExceeded,
  );
}
