// The latest keys of a seen-set, each known exactly: a list of hash tables (recent-table.ts). It forgets nothing by
// itself: seen-set.ts says when a table leaves.

import { KeyTable } from './key-table.ts';
import { aheadNumbers, RecentTable, type RowSpan } from './recent-table.ts';

const firstSlots = 1 << 16;
/** The part of a table's slots for keys of events that have not occurred yet; beyond it their minutes are marked. */
const aheadShare = 16;

export interface KeyTimes {
  occurTimeMs: number;
  /** The event had not occurred yet when it was received, by its sender's clock. */
  isAhead: boolean;
  /** The period in which the event was received. */
  period: number;
}

/**
 * Invariants, checked whenever a table comes or goes:
 * - Tables ascend by period, and only the last one takes keys.
 * - Each table before the last is closed: it was loaded, it is full at `maxSlots`, or its period is over.
 * - No table has more than `maxSlots` slots, more keys than its slots have room for, or more entries in `ahead` than
 *   its share.
 */
export class RecentKeys {
  readonly #maxSlots: number;
  #tables: RecentTable[] = [];
  /** Tables that came with all of their keys. */
  readonly #loaded = new WeakSet<RecentTable>();

  /** `maxSlots` is a power of two. */
  constructor(maxSlots: number) {
    this.#maxSlots = maxSlots;
  }

  get bytes(): number {
    return this.#tables.reduce((sum, { keys }) => sum + keys.bytes, 0);
  }

  get oldest(): RecentTable | undefined {
    return this.#tables[0];
  }

  /** The only table takes the keys of the batch in hand, so it cannot leave. */
  get hasSeveral(): boolean {
    return this.#tables.length > 1;
  }

  /** The first sequence of all tables; Infinity where no row is here. */
  get firstSeq(): number {
    return Math.min(...this.#tables.map(({ span }) => span.firstSeq));
  }

  /** The last sequence before the rows of all tables but the oldest. */
  get reach(): number {
    const spans = this.#tables.map(({ span }) => span);
    const firstSeq = Math.min(...spans.slice(1).map((span) => span.firstSeq));
    // Keys that were put back have no rows: where nothing else is left, all rows leave with the oldest table.
    if (firstSeq === Number.POSITIVE_INFINITY)
      return Math.max(...spans.map((span) => span.lastSeq));
    return firstSeq - 1;
  }

  /** Sets `stored[row]` for the rows whose key is here; see KeyTable.mark. */
  mark(keys: Uint32Array, rows: Int32Array, stored: Uint8Array): void {
    for (const table of this.#tables) table.keys.mark(keys, rows, stored);
  }

  /** Adds a key that is not here, of a row within `span`. */
  put(high: number, low: number, { occurTimeMs, isAhead, period }: KeyTimes, span: RowSpan): void {
    let table = this.#tables.at(-1);
    if (table === undefined || table.period < period || this.#isClosed(table)) {
      table = this.#open(Math.max(period, table?.period ?? period));
    }
    table.put(high, low, occurTimeMs, isAhead);
    table.include(span);
  }

  /** An empty table to be filled and passed to `addOldest`. */
  makeTable(period: number, slots: number): RecentTable {
    return new RecentTable(period, slots, this.#maxAhead);
  }

  /** Takes a filled table whose rows are older than those of all tables here. */
  addOldest(table: RecentTable): void {
    // The clock of the machine that received these rows may be ahead of ours.
    table.period = Math.min(table.period, this.oldest?.period ?? table.period);
    this.#loaded.add(table);
    this.#tables.unshift(table);
    this.#assertInvariants();
  }

  /** Takes the oldest table out. */
  shift(): void {
    this.#tables.shift();
    this.#assertInvariants();
  }

  /** Forgets the tables of earlier periods. */
  forgetBefore(period: number): void {
    if ((this.#tables[0]?.period ?? period) >= period) return;
    this.#tables = this.#tables.filter((table) => table.period >= period);
    this.#assertInvariants();
  }

  get #maxAhead(): number {
    return (aheadNumbers * this.#maxSlots) / aheadShare;
  }

  #isFull({ keys }: RecentTable): boolean {
    return keys.isFull && keys.slots === this.#maxSlots;
  }

  #isClosed(table: RecentTable): boolean {
    return this.#loaded.has(table) || this.#isFull(table);
  }

  #open(period: number): RecentTable {
    const last = this.#tables.at(-1);
    // Keys that have filled a whole table will fill the next one: growing that step by step would only take time.
    const slots = last !== undefined && this.#isFull(last) ? this.#maxSlots : firstSlots;
    const table = this.makeTable(period, slots);
    this.#tables.push(table);
    this.#assertInvariants();
    return table;
  }

  #assertInvariants(): void {
    for (const [place, table] of this.#tables.entries()) {
      const next = this.#tables[place + 1];
      const isOver = next === undefined || table.period < next.period;
      if (!(isOver || this.#isClosed(table)) || (next !== undefined && table.period > next.period))
        throw new Error('seen-set: a table of exact keys was left before it was full or over');
      const { slots, count } = table.keys;
      if (slots > this.#maxSlots || count > KeyTable.room(slots))
        throw new Error('seen-set: a table of exact keys has more than it has room for');
      if (table.ahead.length > this.#maxAhead || table.ahead.length % aheadNumbers !== 0)
        throw new Error('seen-set: a table has more events to come than its share');
    }
  }
}
