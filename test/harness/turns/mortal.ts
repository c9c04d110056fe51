// A process that dies at a step: every step that another process or server sees is counted, and the one at which it
// dies is not begun, or is done and nobody knows.

/**
 * The steps from one death to the next: `usual`, or 1 in `npm run test:soak`, where a test dies at all of them. An odd
 * number, so that every other step is done.
 */
export function everySteps(usual: number): number {
  return Number(process.env['MILLRACE_EVERY_STEP'] ?? usual);
}

/** All steps take many minutes. */
export const deathsTimeoutMs =
  process.env['MILLRACE_EVERY_STEP'] === undefined ? 600_000 : 7_200_000;

export class Mortal {
  calls = 0;
  readonly #dieAt: number;
  readonly #isDone: boolean;
  readonly died: Promise<void>;
  #die: () => void = () => {};

  /** Dies at a step: before it, or once it is done and nobody knows. */
  constructor(dieAt: number, isDone: boolean) {
    this.#dieAt = dieAt;
    this.#isDone = isDone;
    this.died = new Promise((resolve) => {
      this.#die = resolve;
    });
  }

  step<A extends unknown[], R>(work: (...args: A) => Promise<R>): (...args: A) => Promise<R> {
    return async (...args) => {
      this.calls += 1;
      if (this.calls < this.#dieAt) return work(...args);
      if (this.calls === this.#dieAt && this.#isDone) await work(...args);
      this.#die();
      // A process that is killed does nothing more.
      return new Promise(() => {});
    };
  }
}
