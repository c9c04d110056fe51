// Which events of a batch are stored already: the seen-set's answer, and the table's where the set only says 'maybe'.

import type { Clock } from '../platform/clock.ts';
import type { Seen, SeenSet } from './seen-set.ts';
import type { BatchIds, Verdict } from './thread-messages.ts';

export interface JudgeOptions {
  seen: SeenSet;
  clock: Clock;
  /** Of some rows those whose event the table has; tries until it knows. */
  findStored(ids: BatchIds, rows: readonly number[]): Promise<number[]>;
}

/** Judges batches in stream order, one after the other. */
export class Judge {
  readonly #options: JudgeOptions;
  readonly #verdicts: Seen[] = [];

  constructor(options: JudgeOptions) {
    this.#options = options;
  }

  /** The rows to drop as stored before. Afterwards all of the batch's events count as stored. */
  async judge(ids: BatchIds): Promise<Verdict> {
    const { seen, clock, findStored } = this.#options;
    seen.check(ids.keys, clock.nowMs(), this.#verdicts);
    const dropped = new Uint8Array((ids.rows + 7) >>> 3);
    const maybe: number[] = [];
    let count = 0;
    for (let row = 0; row < ids.rows; row++) {
      const verdict = this.#verdicts[row];
      if (verdict === 'new') continue;
      if (verdict === 'maybe') maybe.push(row);
      else count += mark(dropped, row);
    }
    if (maybe.length > 0) {
      for (const row of await findStored(ids, maybe)) count += mark(dropped, row);
    }
    return { dropped: count === 0 ? undefined : dropped };
  }

  /** Has all of a batch's events count as stored. */
  remember(ids: BatchIds): void {
    this.#options.seen.check(ids.keys, this.#options.clock.nowMs(), this.#verdicts);
  }
}

function mark(bitmap: Uint8Array, row: number): number {
  bitmap[row >>> 3] = (bitmap[row >>> 3] ?? 0) | (1 << (row & 7));
  return 1;
}
