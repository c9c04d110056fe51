// The only retry loop: waits between tries, longer each time and never in step with other processes. Whether a failure
// is worth another try is decided by the caller, who knows the system that failed.

import { setTimeout as delay } from 'node:timers/promises';

interface RetryOptions {
  /** Ends the loop with the signal's reason. Except for `onFailure`, nothing else bounds the tries. */
  signal: AbortSignal;
  /** The wait after the first failure; it doubles with each further failure. */
  baseMs: number;
  /** The longest wait. */
  capMs: number;
  /** Runs after each failure, before the wait. Where it throws (usually the same error), the loop gives up at once. */
  onFailure?: (failure: { error: unknown; attempt: number; waitMs: number }) => void;
}

/**
 * Calls `work` until it resolves. Waits are drawn from the upper half of the step, so that processes which failed
 * together do not come back together. An abort while `work` runs takes effect when `work` settles: pass it the signal
 * as well.
 */
export async function retry<T>(
  work: (attempt: number) => Promise<T>,
  options: RetryOptions,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    options.signal.throwIfAborted();
    try {
      return await work(attempt);
    } catch (error) {
      options.signal.throwIfAborted();
      const waitMs = waitAfter(attempt, options, Math.random());
      options.onFailure?.({ error, attempt, waitMs });
      await sleep(waitMs, options.signal);
    }
  }
}

/** Milliseconds to wait after failure number `attempt` (from 1); `draw` is a random number in [0, 1). */
export function waitAfter(
  attempt: number,
  bounds: { baseMs: number; capMs: number },
  draw: number,
): number {
  // Beyond 2^30 doublings every cap is reached; the bound keeps the power finite.
  const stepMs = Math.min(bounds.capMs, bounds.baseMs * 2 ** Math.min(attempt - 1, 30));
  return Math.round(stepMs * (0.5 + draw / 2));
}

/** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}
