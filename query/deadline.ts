// How long one read may take: our bound or the caller's own, whichever ends first.

import type { HandlerContext } from '@connectrpc/connect';

/** What one read may take unless its service says otherwise. */
export const defaultMaxReadMs = 10_000;

export interface Deadline {
  /** Aborted when the time is over, or when the caller is gone. */
  signal: AbortSignal;
  /** Never below 0. */
  remainingMs(): number;
}

/** Starts now. */
export function startDeadline(
  context: Pick<HandlerContext, 'signal' | 'timeoutMs'>,
  maxReadMs: number,
): Deadline {
  const limitMs = Math.max(0, Math.min(maxReadMs, context.timeoutMs() ?? maxReadMs));
  const endMs = performance.now() + limitMs;
  return {
    signal: AbortSignal.any([context.signal, AbortSignal.timeout(Math.ceil(limitMs))]),
    remainingMs: () => Math.max(0, endMs - performance.now()),
  };
}
