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

  /** Tries until `settled`. The connection `name` has no other statement before, so the wrong one is never ended. */
  async end(name: string, settled: () => boolean): Promise<void> {
    for (let tries = 0; !settled(); tries++) {
      if (tries === triesUntilStuck) this.#stuck.add(name);
      // Where it fails, the next try is as good.
      await this.#after(() => this.#control.kill(name)).catch(() => {});
      const pauseMs = Math.min(firstPauseMs * 2 ** tries, maxPauseMs);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
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
