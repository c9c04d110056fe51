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

/** The time starts with this call. */
export function startDeadline(
  context: Pick<HandlerContext, 'signal' | 'timeoutMs'>,
  maxReadMs: number,
): Deadline {
  const limitMs = Math.max(0, Math.min(maxReadMs, context.timeoutMs() ?? maxReadMs));
  const endMs = performance.now() + limitMs;
  return {
    signal: withTimeLimit(context.signal, Math.ceil(limitMs)),
    remainingMs: () => Math.max(0, endMs - performance.now()),
  };
}
