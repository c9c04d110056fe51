// The time limit of one read: the service's or the caller's, whichever ends first. Turning its end into an answer is
// read-failure.ts's.

import type { HandlerContext } from '@connectrpc/connect';
import { withTimeLimit } from '../platform/memory/time-limit.ts';

/** The limit of one read unless QueryOptions has another. */
export const defaultMaxReadMs = 10_000;

export interface Deadline {
  /** Aborted when the time is over or the caller has gone. */
  signal: AbortSignal;
  /** Never below 0. */
  remainingMs(): number;
}

/** The deadline of a whole call. */
export interface CallDeadline extends Deadline {
  /** Until the signal is aborted. */
  limitMs: number;
  /** The caller wants no answer after it. */
  isCallers: boolean;
}

/** The time starts with this call. */
export function startDeadline(
  context: Pick<HandlerContext, 'signal' | 'timeoutMs'>,
  maxReadMs: number,
): CallDeadline {
  const callersMs = context.timeoutMs() ?? Number.POSITIVE_INFINITY;
  const limitMs = Math.max(0, Math.min(maxReadMs, callersMs));
  const endMs = performance.now() + limitMs;
  return {
    signal: withTimeLimit(context.signal, Math.ceil(limitMs)),
    remainingMs: () => Math.max(0, endMs - performance.now()),
    limitMs,
    isCallers: callersMs <= maxReadMs,
  };
}
