// A statement that runs before it is known whether the days that it takes for kept still are.

import { shareEngineTime } from '../../calls/engine-time.ts';
import type { Found } from './kept-parts.ts';

export class EarlyRun<R> {
  readonly result: Promise<R>;
  readonly #found: Found;
  readonly #ending = new AbortController();
  readonly #leave: () => void;

  /** `signal` ends it, too. */
  constructor(
    found: Found,
    signal: AbortSignal,
    run: (found: Found, signal: AbortSignal) => Promise<R>,
  ) {
    this.#found = found;
    const leave = (): void => this.#ending.abort(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    shareEngineTime(signal, this.#ending.signal);
    this.#leave = () => signal.removeEventListener('abort', leave);
    this.result = run(found, this.#ending.signal);
    // Its failure counts only where its result does.
    this.result.catch(() => {});
  }

  /** Whether it found these days, and has not been ended. */
  isOf(found: Found): boolean {
    return (
      !this.#ending.signal.aborted &&
      found.length === this.#found.length &&
      found.every(({ day, version }, index) => {
        const own = this.#found[index];
        return own?.day === day && own.version === version;
      })
    );
  }

  /** Ends the statement, if it runs still. */
  end(): void {
    this.#leave();
    this.#ending.abort();
  }
}
