// A process that dies at a step: every step that another process or server sees is counted, and the one at which it
// dies is not begun, or is done and nobody knows.

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
