// A signal with a time limit of its own, for work that must end whoever waits for it.

/**
 * Aborts as `other` does, or with a TimeoutError `ms` from now. Node 20 lets go of an AbortSignal.timeout that only
 * AbortSignal.any knows: after the next garbage collection it never aborts.
 */
export function withTimeLimit(other: AbortSignal, ms: number): AbortSignal {
  const limit = new AbortController();
  const end = (): void =>
    limit.abort(new DOMException('the time limit has passed', 'TimeoutError'));
  setTimeout(end, ms).unref();
  return AbortSignal.any([other, limit.signal]);
}
