// Decides which events of a batch are stored already: the seen-set answers, and the tables answer for the events that
// the set answers with 'maybe'. It drops nothing itself: the builder leaves the rows out.

import type { Clock } from '../../platform/clock.ts';
import type { BatchIds, Verdict } from '../build/thread-messages.ts';
import { isEmptySpan, type RowSpan } from './recent-table.ts';
import type { SeenSet } from './seen-set.ts';

interface DuplicateCheckOptions {
  seen: SeenSet;
  clock: Clock;
  /** Settles once the set is loaded. */
  loaded: Promise<unknown>;
  /** Those of `rows` whose event the tables have; tries until it knows. */
  findStored(ids: BatchIds, rows: readonly number[]): Promise<number[]>;
  /**
   * Puts the stored rows of `span` where `findStored` finds them; it then finds every row up to sequence `reach`. Tries
   * until it is done.
   */
  storeIds(span: RowSpan, reach: number): Promise<void>;
  /**
   * Every message up to this sequence was checked. Others wait for their project's turn: their rows come later than
   * rows of greater sequences, and must not count as reached.
   */
  completeTo(): number;
}

/** Checks batches one after the other, in the order in which they are stored. */
export class DuplicateCheck {
  readonly #options: DuplicateCheckOptions;
  /** The oldest keys leaving the set; absent where none are. */
  #retiring: Promise<void> | undefined;

  constructor(options: DuplicateCheckOptions) {
    this.#options = options;
  }

  /** Marks the rows that were stored before as dropped. Afterwards all events of the batch count as stored. */
  async check(ids: BatchIds): Promise<Verdict> {
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

  /** Makes all events of a batch count as stored. */
  remember(ids: BatchIds): void {
    this.#options.seen.check(ids, this.#options.clock.nowMs());
  }

  /** The oldest keys leave while batches are checked; a batch waits only where keys come faster than they leave. */
  async #makeRoom(): Promise<void> {
    const { seen, loaded } = this.#options;
    if (seen.isLoading && seen.isOver) await loaded;
    do {
      const { leaving, reach } = seen;
      if (leaving === undefined) return;
      this.#retiring ??= this.#retire(leaving, reach);
      // A failure reaches the next batch that waits; until then nobody else handles it.
      this.#retiring.catch(() => {});
      if (seen.isOver) await this.#retiring;
    } while (seen.isOver);
  }

  async #retire(leaving: RowSpan, reach: number): Promise<void> {
    const { seen, clock, storeIds, completeTo } = this.#options;
    const reached = Math.min(reach, completeTo());
    // A table of keys that were put back has no rows of its own, and its bounds are no sequences to ask for.
    await (isEmptySpan(leaving) ? undefined : storeIds(leaving, reached));
    seen.retire(clock.nowMs(), leaving);
    this.#retiring = undefined;
  }
}
