// Turns a failed read into the caller's error. This is the only place that logs the cause, and the cause is never sent.

import { ClickHouseError } from '@clickhouse/client';
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import { timeoutErrors } from '../platform/clickhouse/select-rows.ts';
import type { Log } from '../platform/log.ts';
import type { Deadline } from './deadline.ts';
import { StoreAway } from './store-watch.ts';

// ClickHouse's names of its errors.
const outages = new Set([
  'TOO_MANY_SIMULTANEOUS_QUERIES',
  'ALL_CONNECTION_TRIES_FAILED',
  'NETWORK_ERROR',
  'SOCKET_TIMEOUT',
]);

/** Returns the caller's error for any thrown `cause`; a ConnectError passes, as it was written for the caller. */
export function readFailure(
  cause: unknown,
  context: Pick<HandlerContext, 'signal' | 'method'>,
  deadline: Deadline,
  log: Log,
): ConnectError {
  if (cause instanceof ConnectError) return cause;
  if (context.signal.aborted) {
    const { reason } = context.signal;
    return reason instanceof ConnectError ? reason : new ConnectError('gone', Code.Canceled);
  }
  const method = context.method.name;
  if (
    deadline.signal.aborted ||
    (cause instanceof ClickHouseError && timeoutErrors.has(cause.type ?? ''))
  ) {
    log.warn({ method }, 'a read took too long');
    return new ConnectError('the read took too long: ask for less', Code.DeadlineExceeded);
  }
  if (isOutage(cause)) {
    log.warn({ ...describe(cause), method }, 'the event store cannot be reached');
    return new ConnectError('the event store cannot be reached, try again', Code.Unavailable);
  }
  log.error({ ...describe(cause), method }, 'a read failed');
  return new ConnectError('the read failed', Code.Internal);
}

/** True if the store did not answer, or answered that it cannot answer now. */
function isOutage(cause: unknown): boolean {
  if (cause instanceof StoreAway) return true;
  if (cause instanceof ClickHouseError) return outages.has(cause.type ?? '');
  // A network failure has the system's code, such as ECONNREFUSED.
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string';
}

/** Logs only code and name of a ClickHouse error: its message repeats the statement with the caller's filter values. */
function describe(cause: unknown): object {
  if (!(cause instanceof ClickHouseError)) return { err: cause };
  return { clickhouseCode: cause.code, clickhouseError: cause.type };
}
