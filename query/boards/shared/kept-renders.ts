// Keeps the last result of each share for a while, and renders it once at a time: whoever asks meanwhile waits for
// that result. So a link that many people open costs one rendering a minute.

import type { Clock } from '../../../platform/clock.ts';

export interface Rendered<T> {
  value: T;
  bytes: number;
  /** How long it may be shown again. */
  keepMs: number;
}

interface Kept<T> {
  value: T;
  bytes: number;
  untilMs: number;
}

export class KeptRenders<T> {
  readonly #clock: Clock;
  readonly #maxBytes: number;
  /** In the order in which they were rendered. */
  readonly #kept = new Map<string, Kept<T>>();
  readonly #underWay = new Map<string, Promise<T>>();
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** `maxBytes`: of all results together; beyond it the oldest are forgotten. */
  constructor(clock: Clock, maxBytes: number) {
    this.#clock = clock;
    this.#maxBytes = maxBytes;
  }

  /** The kept result of `key`, or that of `render`. Rejects as `render` does, for all who wait for it. */
  get(key: string, render: () => Promise<Rendered<T>>): Promise<T> {
    const kept = this.#kept.get(key);
    if (kept !== undefined && this.#clock.nowMs() < kept.untilMs)
      return Promise.resolve(kept.value);
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined) return underWay;
    const rendering = render()
      .then((rendered) => {
        this.#keep(key, rendered);
        return rendered.value;
      })
      .finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, rendering);
    return rendering;
  }

  #keep(key: string, { value, bytes, keepMs }: Rendered<T>): void {
    const nowMs = this.#clock.nowMs();
    for (const [other, { untilMs }] of this.#kept) if (untilMs <= nowMs) this.#forget(other);
    this.#forget(key);
    this.#kept.set(key, { value, bytes, untilMs: nowMs + keepMs });
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0;
    this.#kept.delete(key);
  }
}
