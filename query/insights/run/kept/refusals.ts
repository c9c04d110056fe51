// What could not be kept, and until when nobody tries it again: a minute at first, and twice as long after each failure
// that follows. A burst of questions or a store that starts again passes; days that are too many stay too many.

import type { Clock } from '../../../../platform/clock.ts';
import { setBounded } from '../../../../platform/memory/bounded-map.ts';

const firstWaitMs = 60_000;
const maxWaitMs = 3_600_000;
const maxNames = 10_000;

export class Refusals {
  readonly #clock: Clock;
  readonly #waits = new Map<string, { untilMs: number; waitMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  failed(name: string): void {
    const { waitMs: lastMs = firstWaitMs / 2 } = this.#waits.get(name) ?? {};
    const waitMs = Math.min(maxWaitMs, 2 * lastMs);
    this.#waits.delete(name);
    setBounded(this.#waits, name, { untilMs: this.#clock.nowMs() + waitMs, waitMs }, maxNames);
  }

  succeeded(name: string): void {
    this.#waits.delete(name);
  }

  mustWait(name: string): boolean {
    const wait = this.#waits.get(name);
    return wait !== undefined && this.#clock.nowMs() < wait.untilMs;
  }
}
