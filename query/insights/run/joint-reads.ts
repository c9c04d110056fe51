// One read at a time of each key, whoever asks. A caller never gets a read that began before the call, because it would
// not know what was stored meanwhile: it shares the next one with all who come while one is running.

import { SharedRuns } from './shared-runs.ts';

interface Read {
  name: string;
  hasBegun: boolean;
  ended: Promise<unknown>;
}

export class JointReads<T> {
  readonly #runs = new SharedRuns<T>();
  /** The read of each key that came last. */
  readonly #last = new Map<string, Read>();
  #count = 0;

  /** `read` begins now, or once for all who wait; it must end when its signal is aborted, as SharedRuns tells. */
  join(key: string, signal: AbortSignal, read: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const last = this.#last.get(key);
    const mayJoin = last !== undefined && !last.hasBegun;
    const own = mayJoin ? last : { name: `${this.#count++}`, hasBegun: false, ended: noRead };
    return this.#runs.join(own.name, signal, (shared) => {
      this.#last.set(key, own);
      const begin = (): Promise<T> => {
        own.hasBegun = true;
        return read(shared);
      };
      const result = last === undefined ? begin() : afterIt(last.ended, shared, begin);
      const end = (): void => {
        if (this.#last.get(key) === own) this.#last.delete(key);
      };
      own.ended = result.then(end, end);
      return result;
    });
  }
}

const noRead = Promise.resolve();

async function afterIt<T>(
  before: Promise<unknown>,
  signal: AbortSignal,
  begin: () => Promise<T>,
): Promise<T> {
  await before;
  signal.throwIfAborted();
  return begin();
}
