// Whether so much waits in a shard's stream that whoever comes next would wait for minutes, though the writer stores
// all the time. What came while nothing was stored does not count: an engine that was away is nobody's fault.

/** Whoever comes to a shard that one project had to itself waits no longer than this. */
const maxWaitMs = 5 * 60_000;
/** The writer's rate is that of this time, and known after the least of it. */
const rateMs = 60_000;
const leastRateMs = 10_000;
const sampleEveryMs = 1_000;

interface Sample {
  atMs: number;
  /** Messages stored so far. */
  stored: number;
}

export class Backlog {
  /** Of the time since the writer began to store, the oldest first; at most a minute of them. */
  #samples: Sample[] = [];
  /** Messages that waited when it began. */
  #waitingAtFirst = 0;

  /** To be called while nothing is stored. */
  interrupt(): void {
    this.#samples = [];
  }

  /** `waiting`, `stored`: messages, now and so far; `nowMs` is of a clock that never goes back. */
  isTooLong(waiting: number, stored: number, nowMs: number): boolean {
    if (this.#samples.length === 0) this.#waitingAtFirst = waiting;
    const last = this.#samples.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY;
    if (nowMs - last >= sampleEveryMs) this.#samples.push({ atMs: nowMs, stored });
    while (nowMs - (this.#samples[0]?.atMs ?? nowMs) > rateMs) this.#samples.shift();
    const [first] = this.#samples;
    if (first === undefined || nowMs - first.atMs < leastRateMs) return false;
    const storedAMs = (stored - first.stored) / (nowMs - first.atMs);
    return waiting > this.#waitingAtFirst && waiting > maxWaitMs * storedAMs;
  }
}
