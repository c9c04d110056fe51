// Work that several callers wait for and that is done once. A caller that leaves does not end it for the others; when
// all have left, it is cancelled.

import { shareEngineTime } from '../../calls/engine-time.ts';

interface Run<T> {
  result: Promise<T>;
  waiting: number;
  cancel: AbortController;
}

export class SharedRuns<T> {
  readonly #runs = new Map<string, Run<T>>();

  /**
   * The result of the run of `key` that is under way, or else of a new one. Rejects with the run's error, or with the
   * reason of `signal` as soon as that is aborted. `start` must end when its signal is aborted.
   */
  join(key: string, signal: AbortSignal, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const run = this.#runs.get(key) ?? this.#start(key, start);
    run.waiting++;
    shareEngineTime(signal, run.cancel.signal);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        run.waiting--;
        if (run.waiting === 0) {
          this.#forget(key, run);
          run.cancel.abort(signal.reason);
        }
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      const stay = (): void => signal.removeEventListener('abort', leave);
      run.result.finally(stay).then(resolve, reject);
    });
  }

  #start(key: string, start: (signal: AbortSignal) => Promise<T>): Run<T> {
    const cancel = new AbortController();
    const run: Run<T> = { result: start(cancel.signal), waiting: 0, cancel };
    this.#runs.set(key, run);
    const end = (): void => this.#forget(key, run);
    run.result.then(end, (error) => {
      end();
      // A statement may go on where something beside it has failed.
      cancel.abort(error);
    });
    return run;
  }

  #forget(key: string, run: Run<T>): void {
    if (this.#runs.get(key) === run) this.#runs.delete(key);
  }
}
