// Asks again by itself where the service was too busy to answer: a bounded number of times, after as long as it says.

import { Code, ConnectError } from '@connectrpc/connect';

const maxRetries = 3;
/** Nobody looks at a page for longer to see it asked again. */
const maxWaitSeconds = 60;

/** Seconds until the page repeats the call that failed. No subclass: `instanceof` takes any ConnectError for one. */
const planned = new WeakMap<ConnectError, number>();

/** undefined where it is the reader who asks again. */
export function askedAgainSeconds(failure: ConnectError): number | undefined {
  return planned.get(failure);
}

/** When to ask again, where the service was too busy to answer. */
export function retryAfterSeconds(cause: unknown): number | undefined {
  const { code, metadata } = ConnectError.from(cause);
  const seconds = Number(metadata.get('retry-after'));
  return code === Code.ResourceExhausted && seconds > 0 ? seconds : undefined;
}

/** Of one question. */
export class Retries {
  #left = maxRetries;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** The question was answered, or its reader asks: it can be repeated as often as a new one. */
  renew(): void {
    this.#left = maxRetries;
  }

  /** Calls `ask` after so many seconds, which it returns; undefined where it will not. */
  plan(seconds: number, ask: () => void): number | undefined {
    if (this.#left === 0 || seconds > maxWaitSeconds) return undefined;
    this.#left -= 1;
    this.cancel();
    this.#timer = setTimeout(ask, seconds * 1_000);
    return seconds;
  }

  /** Plans where a busy service refused the call. Returns the failure to show. */
  planAfter(cause: unknown, ask: () => void): unknown {
    const seconds = retryAfterSeconds(cause);
    const again = seconds === undefined ? undefined : this.plan(seconds, ask);
    if (again === undefined) return cause;
    const failure = ConnectError.from(cause);
    planned.set(failure, again);
    return failure;
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }
}
