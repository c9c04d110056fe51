// Turns a failed read into the caller's error. This is the only place that logs the cause, and the cause is never sent.
// Of reads that took too long, those that asked for too much are told from those that waited for their turn or the
// machine.

import { ClickHouseError } from '@clickhouse/client';
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import { lackOfMemory, timeoutErrors } from '../platform/clickhouse/select-rows.ts';
import type { Log } from '../platform/log.ts';
import { engineTimeOf } from './calls/engine-time.ts';
import type { CallDeadline } from './deadline.ts';
import { StoreAway } from './store-watch.ts';

// ClickHouse's names of its errors.
const outages = new Set([
  'TOO_MANY_SIMULTANEOUS_QUERIES',
  'ALL_CONNECTION_TRIES_FAILED',
  'NETWORK_ERROR',
  'SOCKET_TIMEOUT',
]);

/** A read that had the engine for less than this part of its time waited, whatever it asked for. */
const leastPart = 0.5;
/** Turns that others have now are over by then, as a rule. */
const retryAfterSeconds = 5;

export interface FailureParts {
  /** Whether the store's statements hardly get the processor. */
  isStarved: () => boolean;
  log: Log;
}

/** Returns the caller's error for any thrown `cause`; a ConnectError passes, as it was written for the caller. */
export function readFailure(
  cause: unknown,
  context: Pick<HandlerContext, 'signal' | 'method'>,
  deadline: Pick<CallDeadline, 'signal' | 'limitMs' | 'isCallers'>,
  { isStarved, log }: FailureParts,
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
    const hasWaited = deadline.signal.aborted && waited(deadline);
    if (hasWaited || isStarved()) {
      log.warn({ method, hasWaited }, 'a read waited too long for its turn or the machine');
      return busy(deadline.isCallers && deadline.signal.aborted);
    }
    log.warn({ method }, 'a read took too long');
    return new ConnectError('the read took too long: ask for less', Code.DeadlineExceeded);
  }
  if (lackOfMemory(cause) === 'engine') {
    log.warn({ method }, 'a read found no memory left in the event store');
    return busy(false);
  }
  if (isOutage(cause)) {
    log.warn({ ...describe(cause), method }, 'the event store cannot be reached');
    return new ConnectError('the event store cannot be reached, try again', Code.Unavailable);
  }
  log.error({ ...describe(cause), method }, 'a read failed');
  return new ConnectError('the read failed', Code.Internal);
}

function waited({ signal, limitMs }: Pick<CallDeadline, 'signal' | 'limitMs'>): boolean {
  return engineTimeOf(signal).msOfLast(limitMs) < leastPart * limitMs;
}

function busy(isCallers: boolean): ConnectError {
  const retryAfter = { 'retry-after': String(retryAfterSeconds) };
  return isCallers
    ? new ConnectError(`${busyMessage}, or allow more time`, Code.DeadlineExceeded, retryAfter)
    : new ConnectError(busyMessage, Code.ResourceExhausted, retryAfter);
}

const busyMessage = `the service is busy, the read is not too large: ask again in ${retryAfterSeconds} seconds`;

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
