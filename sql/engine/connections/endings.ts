// Ends statements whose result nobody wants any more, with KILL QUERY on a connection of its own. Tells when one does
// not end: a statement that never looks whether it was killed holds its connection, and only a new process helps.

import type { Connection } from './connection.ts';

// The engine may not know the statement yet at the first try. The pause doubles from the first to the last.
const firstPauseMs = 50;
const maxPauseMs = 5_000;
// A minute after the first. Counted in tries, because a machine that stood still made none meanwhile.
const triesUntilStuck = 18;

type Control = Pick<Connection, 'kill' | 'probe'>;

export class Endings {
  readonly #control: Control;
  readonly #stuck = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  /** Nothing else may use `control` afterwards: its statements wait for each other here. */
  constructor(control: Control) {
    this.#control = control;
  }

  /**
   * Tries until `settled` is aborted. The connection `name` takes no other statement before this resolves: a KILL on
   * its way would end that one.
   */
  async end(name: string, settled: AbortSignal): Promise<void> {
    const kill = async (): Promise<void> => {
      if (!settled.aborted) await this.#control.kill(name);
    };
    for (let tries = 0; !settled.aborted; tries++) {
      if (tries === triesUntilStuck) this.#stuck.add(name);
      // Where it fails, the next try is as good.
      await this.#after(kill).catch(() => {});
      await pause(Math.min(firstPauseMs * 2 ** tries, maxPauseMs), settled);
    }
    this.#stuck.delete(name);
  }

  /** Resolves with whether all is well once the engine answers a statement; it does not resolve where it never does. */
  async answers(): Promise<boolean> {
    await this.#after(() => this.#control.probe());
    return this.#stuck.size === 0;
  }

  #after<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work);
    this.#last = next.catch(() => {});
    return next;
  }
}

function pause(ms: number, end: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const goOn = (): void => {
      clearTimeout(timer);
      end.removeEventListener('abort', goOn);
      resolve();
    };
    const timer = setTimeout(goOn, ms);
    end.addEventListener('abort', goOn);
    if (end.aborted) goOn();
  });
}
