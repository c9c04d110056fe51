// How often merges rewrite the rows of `events` while parts of equal size come at a steady pace into one partition:
// more rows than a bench can fill. Merges of other tables, which take turns in the same slots, are not simulated.

import { chooseMerge, maxMergeBytes, mergeSlots, type Part, type Range } from './merge-selector.ts';

export interface Arrival {
  rowsPerSecond: number;
  rowsPerInsert: number;
  /** Of a fresh part, and of a merged one. */
  freshBytesPerRow: number;
  mergedBytesPerRow: number;
  /** By the clock, of one merge. */
  mergeSecondsPerRow: number;
}

export interface Aged {
  rows: number;
  /** Times that each row was written by a merge, on average; running merges count as far as they are. */
  rewrites: number;
  /** Of active parts, over the time until then. */
  partsMean: number;
  partsMost: number;
}

interface SimulatedPart extends Part {
  isMerging: boolean;
}

interface RunningMerge {
  parts: readonly SimulatedPart[];
  rows: number;
  startSeconds: number;
  endSeconds: number;
}

/** Inserts wait for merges there: ClickHouse delays them from here on (`parts_to_delay_insert`). */
const maxParts = 1_000;

/** The table at each number of `rows`, which ascend, and once nothing is left to be merged. */
export function simulateMerges(
  arrival: Arrival,
  rows: readonly number[],
): { aged: Aged[]; merged: Aged } {
  const table = new SimulatedTable(arrival);
  const insertSeconds = arrival.rowsPerInsert / arrival.rowsPerSecond;
  const aged: Aged[] = [];
  for (const [index, mark] of rows.entries()) {
    while (table.rows < mark) table.insertAfter(insertSeconds);
    aged[index] = table.aged();
  }
  table.finishMerges(() => true);
  return { aged, merged: table.aged() };
}

class SimulatedTable {
  readonly #arrival: Arrival;
  /** In the order of their blocks. */
  #parts: SimulatedPart[] = [];
  #merges: RunningMerge[] = [];
  #rows = 0;
  #rewrittenRows = 0;
  #seconds = 0;
  #partSeconds = 0;
  #partsMost = 0;

  constructor(arrival: Arrival) {
    this.#arrival = arrival;
  }

  get rows(): number {
    return this.#rows;
  }

  insertAfter(seconds: number): void {
    const atSeconds = this.#seconds + seconds;
    this.finishMerges((merge) => merge.endSeconds <= atSeconds);
    this.#goTo(atSeconds);
    this.finishMerges(() => this.#parts.length >= maxParts);
    const { rowsPerInsert, freshBytesPerRow } = this.#arrival;
    const bytes = rowsPerInsert * freshBytesPerRow;
    const part = { rows: rowsPerInsert, bytes, writtenSeconds: this.#seconds, isMerging: false };
    this.#parts.push(part);
    this.#rows += rowsPerInsert;
    this.#partsMost = Math.max(this.#partsMost, this.#parts.length);
    this.#startMerges();
  }

  /** Finishes merges in the order of their ends, and those that are chosen then, as long as the next one `may` end. */
  finishMerges(may: (next: RunningMerge) => boolean): void {
    for (;;) {
      const [next] = this.#merges.toSorted((a, b) => a.endSeconds - b.endSeconds);
      if (next === undefined || !may(next)) return;
      this.#goTo(next.endSeconds);
      this.#finish(next);
      this.#startMerges();
    }
  }

  aged(): Aged {
    const running = this.#merges.reduce((sum, { rows, startSeconds, endSeconds }) => {
      return sum + (rows * (this.#seconds - startSeconds)) / (endSeconds - startSeconds);
    }, 0);
    return {
      rows: this.#rows,
      rewrites: (this.#rewrittenRows + running) / this.#rows,
      partsMean: this.#partSeconds / this.#seconds,
      partsMost: this.#partsMost,
    };
  }

  #goTo(seconds: number): void {
    this.#partSeconds += (seconds - this.#seconds) * this.#parts.length;
    this.#seconds = seconds;
  }

  #finish(merge: RunningMerge): void {
    const { rows, parts } = merge;
    const bytes = rows * this.#arrival.mergedBytesPerRow;
    const merged = { rows, bytes, writtenSeconds: this.#seconds, isMerging: false };
    const [first] = parts;
    if (first !== undefined) this.#parts.splice(this.#parts.indexOf(first), parts.length, merged);
    this.#merges = this.#merges.filter((other) => other !== merge);
    this.#rewrittenRows += rows;
  }

  #startMerges(): void {
    while (this.#merges.length < mergeSlots) {
      const parts = this.#choose();
      if (parts === undefined) return;
      for (const part of parts) part.isMerging = true;
      const rows = parts.reduce((sum, part) => sum + part.rows, 0);
      const endSeconds = this.#seconds + rows * this.#arrival.mergeSecondsPerRow;
      this.#merges.push({ parts, rows, startSeconds: this.#seconds, endSeconds });
    }
  }

  #choose(): SimulatedPart[] | undefined {
    const state = {
      nowSeconds: this.#seconds,
      partsInPartition: this.#parts.length,
      maxBytes: maxMergeBytes(this.#merges.length),
    };
    let best: { parts: SimulatedPart[]; score: number } | undefined;
    for (const { from, to } of this.#freeRanges()) {
      const parts = this.#parts.slice(from, to);
      const range = chooseMerge(parts, state);
      if (range === undefined || (best !== undefined && best.score < range.score)) continue;
      best = { parts: parts.slice(range.from, range.to), score: range.score };
    }
    return best?.parts;
  }

  /** A part that is being merged separates its neighbours. */
  #freeRanges(): Range[] {
    const ranges: Range[] = [];
    let from = 0;
    for (let to = 0; to <= this.#parts.length; to++) {
      if (this.#parts[to]?.isMerging === false) continue;
      if (to > from) ranges.push({ from, to });
      from = to + 1;
    }
    return ranges;
  }
}
