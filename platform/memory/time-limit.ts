// A signal with a time limit of its own, for work that must end whoever waits for it.

/**
 * Aborts with a TimeoutError `ms` from now, whoever waits for it beside other signals: Node 20 lets go of an
 * AbortSignal.timeout that only AbortSignal.any knows, which after the next garbage collection never aborts.
 */
export function timeLimit(ms: number): AbortSignal {
  const limit = new AbortController();
  const end = (): void =>
    limit.abort(new DOMException('the time limit has passed', 'TimeoutError'));
  setTimeout(end, ms).unref();
  return limit.signal;
}

/** Aborts as `other` does, or at a limit of its own. */
export function withTimeLimit(other: AbortSignal, ms: number): AbortSignal {
  return AbortSignal.any([other, timeLimit(ms)]);
}
