// Which events of a batch are stored already: the seen-set's answer, and the table's where the set only says 'maybe'.

import type { Clock } from '../../platform/clock.ts';
import type { BatchIds, Verdict } from '../build/thread-messages.ts';
import type { RowSpan, SeenSet } from '../dedup/seen-set.ts';

export interface JudgeOptions {
  seen: SeenSet;
  clock: Clock;
  /** Of some rows those whose event the table has; tries until it knows. */
  findStored(ids: BatchIds, rows: readonly number[]): Promise<number[]>;
  /** Has `findStored` find the stored rows within a span, and with them all up to `reach`; tries until it is done. */
  storeIds(span: RowSpan, reach: number): Promise<void>;
}

/** Judges batches in stream order, one after the other. */
export class Judge {
  readonly #options: JudgeOptions;
  #making: Promise<void> | undefined;

  constructor(options: JudgeOptions) {
    this.#options = options;
  }

  /** The rows to drop as stored before. Afterwards all of the batch's events count as stored. */
  async judge(ids: BatchIds): Promise<Verdict> {
    const { seen, clock, findStored } = this.#options;
    await this.#makeRoom();
    const { stored, maybe } = seen.check(ids, clock.nowMs());
    const found = maybe.length > 0 ? await findStored(ids, maybe) : [];
    if (stored.length + found.length === 0) return { dropped: undefined };
    const dropped = new Uint8Array((ids.rows + 7) >>> 3);
    for (const row of [...stored, ...found])
      dropped[row >>> 3] = (dropped[row >>> 3] ?? 0) | (1 << (row & 7));
    return { dropped };
  }

  /** Has all of a batch's events count as stored. */
  remember(ids: BatchIds): void {
    this.#options.seen.check(ids, this.#options.clock.nowMs());
  }

  /** The oldest keys leave while batches are judged; these wait only where they come faster than that. */
  async #makeRoom(): Promise<void> {
    const { seen } = this.#options;
    do {
      const { leaving, reach } = seen;
      if (leaving === undefined) return;
      this.#making ??= this.#retire(leaving, reach);
      // Whoever waits next is told.
      this.#making.catch(() => {});
      if (seen.isOver) await this.#making;
    } while (seen.isOver);
  }

  async #retire(leaving: RowSpan, reach: number): Promise<void> {
    const { seen, clock, storeIds } = this.#options;
    await storeIds(leaving, reach);
    seen.retire(clock.nowMs(), leaving);
    this.#making = undefined;
  }
}
