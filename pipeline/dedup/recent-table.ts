// One hash table of a seen-set's exact keys, with the minutes and the bounds of their rows. recent-keys.ts says which
// table takes a key, and when a table leaves.

import { KeyTable } from './key-table.ts';
import { MinuteSet } from './minute-set.ts';

const leastSlots = 1 << 10;
/** Numbers of one entry of `ahead`. */
export const aheadNumbers = 3;

/** Bounds of some rows of the table events, all inclusive. */
export interface RowSpan {
  firstSeq: number;
  lastSeq: number;
  minReceiveTimeMs: number;
  maxReceiveTimeMs: number;
}

/** Whether no row of the table events is within the bounds: event_ids has them all. */
export function isEmptySpan({ firstSeq }: RowSpan): boolean {
  return firstSeq === Number.POSITIVE_INFINITY;
}

/** The slots of a table that holds `rows` keys from the start. */
export function slotsFor(rows: number): number {
  let slots = leastSlots;
  while (KeyTable.room(slots) < rows) slots *= 2;
  return slots;
}

export class RecentTable {
  /** Of the times of receipt; a table that was loaded may count as earlier than its rows are. */
  period: number;
  readonly keys: KeyTable;
  readonly minutes = new MinuteSet();
  /** Key and occurTime, three numbers each, of events that have not occurred yet; their minutes are not marked. */
  readonly ahead: number[] = [];
  readonly span: RowSpan = {
    firstSeq: Number.POSITIVE_INFINITY,
    lastSeq: 0,
    minReceiveTimeMs: Number.POSITIVE_INFINITY,
    maxReceiveTimeMs: 0,
  };
  readonly #maxAhead: number;

  /** `slots` is a power of two; `maxAhead` bounds the numbers in `ahead`. */
  constructor(period: number, slots: number, maxAhead: number) {
    this.period = period;
    this.keys = new KeyTable(slots);
    this.#maxAhead = maxAhead;
  }

  /** Adds a key that is not here. Beyond the bound of `ahead`, the minutes of events to come are marked too. */
  put(high: number, low: number, occurTimeMs: number, isAhead: boolean): void {
    if (this.keys.isFull) this.keys.grow();
    this.keys.add(high, low);
    if (isAhead && this.ahead.length < this.#maxAhead) this.ahead.push(high, low, occurTimeMs);
    else this.minutes.add(occurTimeMs);
  }

  /** Widens the bounds by those of a batch. */
  include(other: RowSpan): void {
    const { span } = this;
    span.firstSeq = Math.min(span.firstSeq, other.firstSeq);
    span.lastSeq = Math.max(span.lastSeq, other.lastSeq);
    span.minReceiveTimeMs = Math.min(span.minReceiveTimeMs, other.minReceiveTimeMs);
    span.maxReceiveTimeMs = Math.max(span.maxReceiveTimeMs, other.maxReceiveTimeMs);
  }

  /** Widens the bounds by one row. */
  includeRow(seq: number, receiveTimeMs: number): void {
    const { span } = this;
    if (seq < span.firstSeq) span.firstSeq = seq;
    if (seq > span.lastSeq) span.lastSeq = seq;
    if (receiveTimeMs < span.minReceiveTimeMs) span.minReceiveTimeMs = receiveTimeMs;
    if (receiveTimeMs > span.maxReceiveTimeMs) span.maxReceiveTimeMs = receiveTimeMs;
  }
}
