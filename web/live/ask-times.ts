// When a live view asks the service anew: soon after something was stored, so that no figure contradicts the rows
// beside it, and seldom where nothing was or an answer is dear.

/** Visitors leave the last five minutes without a word. */
const everyMs = 10_000;
const soonMs = 2_000;
/** A viewer takes the service a tenth of its time at most. */
const restPerAnswer = 9;

export class AskTimes {
  readonly #nowMs: () => number;
  #beganMs = Number.NEGATIVE_INFINITY;
  #restMs = 0;
  #isStale = true;
  #isAsking = false;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** `isStored`: something was stored since the last call. */
  isDue(isStored: boolean): boolean {
    this.#isStale ||= isStored;
    const sinceMs = this.#nowMs() - this.#beganMs;
    return !this.#isAsking && sinceMs >= (this.#isStale ? this.#restMs : everyMs);
  }

  begin(): void {
    this.#beganMs = this.#nowMs();
    this.#isAsking = true;
    this.#isStale = false;
  }

  end(isAnswered: boolean): void {
    const tookMs = this.#nowMs() - this.#beganMs;
    this.#restMs = Math.min(everyMs, Math.max(soonMs, tookMs * (1 + restPerAnswer)));
    this.#isAsking = false;
    if (!isAnswered) this.#isStale = true;
  }
}
