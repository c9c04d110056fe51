// A number of events a second, for one viewer: it fills by the clock, up to one second's worth. Of platform/access's
// token buckets it has no keys and no waiting, and its rate changes.

export class EventRate {
  readonly #nowMs: () => number;
  #perSecond: number;
  #left: number;
  #atMs: number;

  /** Begins full. */
  constructor(perSecond: number, nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#perSecond = perSecond;
    this.#left = perSecond;
    this.#atMs = nowMs();
  }

  limit(perSecond: number): void {
    this.#perSecond = perSecond;
    this.#left = Math.min(perSecond, this.#left);
  }

  /** Whether one more event may be taken now. */
  get hasRoom(): boolean {
    const nowMs = this.#nowMs();
    const sinceMs = Math.max(0, nowMs - this.#atMs);
    this.#left = Math.min(this.#perSecond, this.#left + (sinceMs * this.#perSecond) / 1_000);
    this.#atMs = nowMs;
    return this.#left >= 1;
  }

  take(): void {
    this.#left--;
  }
}
