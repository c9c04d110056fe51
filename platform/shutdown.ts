// Ends a process in order: the first SIGINT or SIGTERM runs the steps, last started first ended; a second signal or
// the deadline ends it at once.

import type { Log } from './log.ts';

type Step = { name: string; run: () => Promise<void> };

export class Shutdown {
  readonly #log: Log;
  readonly #deadlineMs: number;
  readonly #steps: Step[] = [];
  #running: Promise<void> | undefined;

  constructor(log: Log, deadlineMs: number) {
    this.#log = log;
    this.#deadlineMs = deadlineMs;
  }

  /** Adds what must end before everything added earlier. */
  add(name: string, run: () => Promise<void>): void {
    this.#steps.push({ name, run });
  }

  /**
   * Exits with code 0 after the steps; listens for both signals until then. A process that another one ends hears a
   * signal twice where both are sent it, and goes on draining.
   */
  listen(onSecondSignal: 'exit' | 'drain' = 'exit'): void {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (this.#running !== undefined) {
          if (onSecondSignal === 'drain') return;
          process.exit(130);
        }
        this.#log.info({ signal }, 'draining');
        void this.run().then(() => process.exit(0));
      });
    }
  }

  /** Runs the steps once, however often it is called; a step that fails is logged and does not stop the others. */
  run(): Promise<void> {
    this.#running ??= this.#runSteps();
    return this.#running;
  }

  async #runSteps(): Promise<void> {
    const deadline = setTimeout(() => {
      this.#log.error({ deadlineMs: this.#deadlineMs }, 'not drained in time, exiting');
      process.exit(1);
    }, this.#deadlineMs);
    for (const step of this.#steps.reverse()) {
      try {
        await step.run();
      } catch (error) {
        this.#log.error({ err: error, step: step.name }, 'a part did not end cleanly');
      }
    }
    clearTimeout(deadline);
  }
}
