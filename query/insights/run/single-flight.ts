// One run at a time of each key, whoever asks. A caller never gets a run that began before the call, because it would
// not know what was stored meanwhile: it shares the next one with all who come while one is running. A caller that
// leaves does not end a run for the others, nor for those who wait for its end; when all have left, it is cancelled.

import { shareEngineTime, unshareEngineTime } from '../../calls/engine-time.ts';

interface Run<T> {
  hasBegun: boolean;
  waiting: number;
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
    return unlessLeft(run.result, signal, () => leaveRun(run, signal.reason));
  }

  #add(
    key: string,
    before: Run<T> | undefined,
    start: (signal: AbortSignal, hasWaited: boolean) => Promise<T>,
  ): Run<T> {
    const cancel = new AbortController();
    if (before !== undefined) {
      before.waiting++;
      // Who waits for a run that takes long is told so, and not that the service is busy.
      shareEngineTime(cancel.signal, before.cancel.signal);
      const leave = (): void => leaveRun(before, cancel.signal.reason);
      cancel.signal.addEventListener('abort', leave, { once: true });
    }
    const begin = async (): Promise<T> => {
      await before?.result.catch(() => undefined);
      if (before !== undefined) unshareEngineTime(cancel.signal, before.cancel.signal);
      cancel.signal.throwIfAborted();
      run.hasBegun = true;
      return start(cancel.signal, before !== undefined);
    };
    const run: Run<T> = { hasBegun: before === undefined, waiting: 0, cancel, result: noRun };
    run.result = before === undefined ? start(cancel.signal, false) : begin();
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

/** Rejects with the signal's reason as soon as that is aborted, and tells `leave`. */
export function unlessLeft<T>(
  work: Promise<T>,
  signal: AbortSignal,
  leave?: () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const left = (): void => {
      leave?.();
      reject(signal.reason);
    };
    if (signal.aborted) left();
    signal.addEventListener('abort', left, { once: true });
    work.finally(() => signal.removeEventListener('abort', left)).then(resolve, reject);
  });
}

const noRun = new Promise<never>(() => {});

function leaveRun(run: Pick<Run<unknown>, 'waiting' | 'cancel'>, reason: unknown): void {
  run.waiting--;
  if (run.waiting === 0) run.cancel.abort(reason);
}
