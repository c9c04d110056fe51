// The rows of a batch by month, because each month is one record batch and one insert. It finds the month of a moment
// and reuses column buffers from batch to batch.

import { Int32Buffer } from './column-buffers.ts';
import { MonthColumns } from './record-batch.ts';

/** Column buffers that are kept for the next batch; a batch of more months allocates the others anew. */
const maxSpareMonths = 2;

interface Rows {
  readonly columns: MonthColumns;
  /** For each row its number in the whole batch: verdicts name rows by it. */
  readonly numbers: Int32Buffer;
}

/** The rows of one month, from its first millisecond to before the first one of the next. */
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
    // Nearly always it is the month of the event before.
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

  /** To be called when the scanner's cells get other meanings. */
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
