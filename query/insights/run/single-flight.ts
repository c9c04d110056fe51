// One run at a time of each key, whoever asks. A caller never gets a run that began before the call, because it would
// not know what was stored meanwhile: it shares the next one with all who come while one is running, or the failure of
// that one. A caller that leaves does not end a run for the others, nor for those who wait for its end; when all have
// left, it is cancelled.

import { shareEngineTime } from '../../calls/engine-time.ts';

interface Run<T> {
  hasBegun: boolean;
  waiting: number;
  /** Whether it was cancelled because nobody waits for it. */
  isLeft: boolean;
  cancel: AbortController;
  result: Promise<T>;
}

export class SingleFlight<T> {
  /** The run of each key that came last. */
  readonly #last = new Map<string, Run<T>>();

  /**
   * `start` begins now, or once for all who wait, which it is told; it must end when its signal is aborted. Rejects
   * with its error, or with the reason of `signal` as soon as that is aborted.
   */
  join(
    key: string,
    signal: AbortSignal,
    start: (signal: AbortSignal, hasWaited: boolean) => Promise<T>,
  ): Promise<T> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const last = this.#last.get(key);
    const mayJoin = last !== undefined && !last.hasBegun && last.waiting > 0;
    const run = mayJoin ? last : this.#add(key, last, start);
    run.waiting++;
    shareEngineTime(signal, run.cancel.signal);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        leaveRun(run, signal.reason);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      const stay = (): void => signal.removeEventListener('abort', leave);
      run.result.finally(stay).then(resolve, reject);
    });
  }

  #add(
    key: string,
    before: Run<T> | undefined,
    start: (signal: AbortSignal, hasWaited: boolean) => Promise<T>,
  ): Run<T> {
    const cancel = new AbortController();
    if (before !== undefined) {
      before.waiting++;
      const leave = (): void => leaveRun(before, cancel.signal.reason);
      cancel.signal.addEventListener('abort', leave, { once: true });
    }
    const begin = async (): Promise<T> => {
      await before?.result.catch((error: unknown) => {
        // What was too much a moment ago is too much now.
        if (!before.isLeft) throw error;
      });
      cancel.signal.throwIfAborted();
      run.hasBegun = true;
      return start(cancel.signal, before !== undefined);
    };
    const isFirst = before === undefined;
    const run: Run<T> = { hasBegun: isFirst, waiting: 0, isLeft: false, cancel, result: noRun };
    run.result = isFirst ? start(cancel.signal, false) : begin();
    this.#last.set(key, run);
    const end = (): void => {
      if (this.#last.get(key) === run) this.#last.delete(key);
    };
    run.result.then(end, (error) => {
      end();
      // A statement may go on where something beside it has failed.
      cancel.abort(error);
    });
    return run;
  }
}

const noRun = new Promise<never>(() => {});

function leaveRun(run: Pick<Run<unknown>, 'waiting' | 'isLeft' | 'cancel'>, reason: unknown): void {
  run.waiting--;
  if (run.waiting > 0) return;
  run.isLeft = true;
  run.cancel.abort(reason);
}
