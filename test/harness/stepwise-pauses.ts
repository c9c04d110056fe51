// Pauses of a loop that a test ends, one after the other, in place of a timer.

interface Waiting {
  ms: number;
  end(): void;
}

export class StepwisePauses {
  /** Milliseconds of each pause, in order. */
  readonly asked: number[] = [];
  #waiting: Waiting | undefined;
  #onWaiting: (() => void) | undefined;

  /** In place of platform/retry.ts's sleep. */
  pause(ms: number, signal: AbortSignal): Promise<void> {
    this.asked.push(ms);
    return new Promise((resolve, reject) => {
      const over = (): void => {
        this.#waiting = undefined;
        reject(signal.reason);
      };
      if (signal.aborted) return over();
      signal.addEventListener('abort', over, { once: true });
      const end = (): void => {
        signal.removeEventListener('abort', over);
        resolve();
      };
      this.#waiting = { ms, end };
      this.#onWaiting?.();
    });
  }

  /** Resolves once the loop pauses. */
  async paused(): Promise<void> {
    if (this.#waiting !== undefined) return;
    await new Promise<void>((resolve) => {
      this.#onWaiting = resolve;
    });
    this.#onWaiting = undefined;
  }

  /** Ends the pause, once there is one. */
  async end(): Promise<void> {
    await this.paused();
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.end();
  }

  /** Ends the pause and resolves once the loop pauses again. */
  async next(): Promise<void> {
    await this.end();
    await this.paused();
  }
}
