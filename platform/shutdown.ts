// Ends a process in order: the first SIGINT or SIGTERM runs the steps, the last added first; a second signal or the
// deadline ends the process at once. The steps themselves belong to the parts that add them.

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

  /** Adds a step that runs before all steps added earlier. */
  add(name: string, run: () => Promise<void>): void {
    this.#steps.push({ name, run });
  }

  /**
   * Listens for both signals, and exits with code 0 after the steps. A child process takes `drain`: it may get a signal
   * twice, from the terminal and from its parent, and must go on draining.
   */
  listen(onSecondSignal: 'exit' | 'drain' = 'exit'): void {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (this.#running !== undefined) {
          if (onSecondSignal === 'drain') return;
          process.exit(130);
        }
        this.end({ signal });
      });
    }
  }

  /** Exits with code 0 after the steps, unless they run already. `why` is logged. */
  end(why: object): void {
    if (this.#running !== undefined) return;
    this.#log.info(why, 'draining');
    void this.run().then(() => process.exit(0));
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Exits with code 1 after the steps: for a failure that the process must not outlive. */
  fail(error: Error): void {
    if (this.#running !== undefined) return;
    this.#log.fatal({ err: error }, 'ending after a failure');
    void this.run().then(() => process.exit(1));
  }

  /** Runs the steps once, however often it is called. A failed step is logged and does not stop the others. */
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
