// Measures how long one batch waits at each of its steps, for the log.

export class Laps<Step extends string> {
  readonly ms: { [Name in Step]?: number } = {};
  #sinceMs = performance.now();

  /** Ends a step, and begins the next one. */
  end(step: Step): void {
    const nowMs = performance.now();
    this.ms[step] = Math.round(nowMs - this.#sinceMs);
    this.#sinceMs = nowMs;
  }
}
