// The rows of a batch by month: one record batch, one insert each. Which month a moment lies in, and column buffers
// that are used again.

import { Int32Buffer } from './column-buffers.ts';
import { MonthColumns } from './record-batch.ts';

/** Column buffers kept for the next batch; a batch of more months allocates the others anew. */
const maxSpareMonths = 2;

/** Rows under construction. */
interface Rows {
  readonly columns: MonthColumns;
  /** For each row its number in the whole batch, in which verdicts count. */
  readonly numbers: Int32Buffer;
}

/** Those of one month, from its first millisecond to before the next one's. */
export interface Month extends Rows {
  readonly fromMs: number;
  readonly toMs: number;
}

export class Months {
  /** By the partition key, 202611. */
  readonly #months = new Map<number, Month>();
  #last: Month | undefined;
  readonly #spare: Rows[] = [];

  /** The month of a moment. */
  at(timeMs: number): Month {
    // Nearly always the month of the event before.
    const last = this.#last;
    if (last !== undefined && timeMs >= last.fromMs && timeMs < last.toMs) return last;
    const date = new Date(timeMs);
    const year = date.getUTCFullYear();
    const index = date.getUTCMonth();
    const key = year * 100 + index + 1;
    const month = this.#months.get(key) ?? {
      ...(this.#spare.pop() ?? { columns: new MonthColumns(), numbers: new Int32Buffer() }),
      fromMs: Date.UTC(year, index),
      toMs: Date.UTC(year, index + 1),
    };
    this.#months.set(key, month);
    this.#last = month;
    return month;
  }

  /** Months with their keys, ascending. */
  ascending(): [number, Month][] {
    return [...this.#months].sort(([a], [b]) => a - b);
  }

  /** See MonthColumns. */
  forgetCells(): void {
    for (const { columns } of this.#months.values()) columns.forgetCells();
  }

  /** Forgets all rows. */
  release(): void {
    for (const month of this.#months.values()) {
      month.columns.clear();
      month.numbers.clear();
      if (this.#spare.length < maxSpareMonths) this.#spare.push(month);
    }
    this.#months.clear();
    this.#last = undefined;
  }
}
