// Keeps the last result of each share for a while, and renders a share once at a time: whoever asks meanwhile waits for
// that result. So a link that many people open costs one rendering a minute.

import type { Clock } from '../../platform/clock.ts';

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

  /** `maxBytes`: of all results together; beyond it the oldest are forgotten. */
  constructor(clock: Clock, maxBytes: number) {
    this.#clock = clock;
    this.#maxBytes = maxBytes;
  }

  /** The share's kept result, or that of `render`. Rejects as `render` does, for all who wait for it. */
  get(shareId: string, render: () => Promise<Rendered<T>>): Promise<T> {
    const kept = this.#kept.get(shareId);
    if (kept !== undefined && this.#clock.nowMs() < kept.untilMs)
      return Promise.resolve(kept.value);
    const underWay = this.#underWay.get(shareId);
    if (underWay !== undefined) return underWay;
    const rendering = render()
      .then((rendered) => {
        this.#keep(shareId, rendered);
        return rendered.value;
      })
      .finally(() => this.#underWay.delete(shareId));
    this.#underWay.set(shareId, rendering);
    return rendering;
  }

  #keep(shareId: string, { value, bytes, keepMs }: Rendered<T>): void {
    this.#forget(shareId);
    this.#kept.set(shareId, { value, bytes, untilMs: this.#clock.nowMs() + keepMs });
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#forget(oldest);
    }
  }

  #forget(shareId: string): void {
    this.#bytes -= this.#kept.get(shareId)?.bytes ?? 0;
    this.#kept.delete(shareId);
  }
}
