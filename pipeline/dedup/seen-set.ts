// The events that a shard has stored within the last 48 hours, by their 64-bit keys, in a fixed budget of memory. The
// latest keys are known exactly (recent-keys.ts). Of older ones it knows fingerprints, as far as the budget goes, and
// of the oldest the minutes of their events (old-keys.ts): where one fits it says 'maybe', and duplicate-check.ts asks
// the table event_ids. A repetition with the stored event's id and occurTime is never taken for new, and one with
// another occurTime is not while the set has its key or fingerprint. After a start, until seen-loader.ts has loaded the
// keys, it says 'maybe' of every event that it does not know.

import { duplicateWindowMs, maxBatchRows } from '../../platform/limits.ts';
import { KeyTable, slotBytes } from './key-table.ts';
import { OldKeys } from './old-keys.ts';
import { type KeyTimes, RecentKeys } from './recent-keys.ts';
import { aheadNumbers, type RecentTable, type RowSpan, slotsFor } from './recent-table.ts';

/** Rows that are looked up in one table before the next; see key-table.ts. */
const rowsAtOnce = 256;
/** Keys are forgotten a period at a time. */
export const periodMs = 6 * 3_600_000;
/**
 * A table takes at most this part of the budget. Three tables are for exact keys, one is room to go on while the oldest
 * leaves, and fingerprints have the last part.
 */
const tableShare = 5;
const exactTables = 3;
/** A table of loaded keys has at most this part of a table's slots: the first of them are known early. */
const loadedTableShare = 4;
/**
 * Events that occurred later than this after they were received, by their sender's clock, are remembered exactly until
 * that moment is past: the minutes to come must stay free of old events.
 */
const aheadMs = 120_000;

/** The batches that are being stored must be known exactly: no look-up finds their rows yet. */
const minCapacity = 3 * maxBatchRows;
/** The least budget: it holds `minCapacity`. */
export const minSeenBytes = 16 * 1_048_576;

/** Of keys whose rows event_ids has too: their sequences must not hold `reach` back. */
const emptySpan: RowSpan = {
  firstSeq: Number.POSITIVE_INFINITY,
  lastSeq: 0,
  minReceiveTimeMs: Number.POSITIVE_INFINITY,
  maxReceiveTimeMs: 0,
};

/** A batch's events: none of them twice. */
interface SeenBatch extends RowSpan {
  /** Two words a row. */
  keys: Uint32Array;
  occurTimesMs: Float64Array;
}

/** Row numbers, ascending; rows in neither list are new. */
export interface Known {
  stored: number[];
  maybe: number[];
}

/**
 * A key comes into the recent keys and moves to the old ones with its whole table, the oldest table first. The key of
 * an event that has not occurred yet goes back into the recent keys instead.
 *
 * RecentKeys and OldKeys assert invariants of their own. This class asserts, after each batch and each table that has
 * left, that no recent table is of an earlier period than an old one.
 */
export class SeenSet {
  /** The latest keys that are always known exactly. */
  readonly capacity: number;
  readonly #maxTableBytes: number;
  readonly #recent: RecentKeys;
  readonly #old: OldKeys;
  /** Bounds of the rows that were never added; forgotten with their period. */
  #unread = { untilMs: Number.NEGATIVE_INFINITY, period: Number.NEGATIVE_INFINITY };
  #isLoading = false;

  /** `budgetBytes` bounds the memory of all keys; at least `minSeenBytes`. */
  constructor(budgetBytes: number) {
    const maxSlots = 2 ** Math.floor(Math.log2(budgetBytes / tableShare / slotBytes));
    this.#maxTableBytes = maxSlots * slotBytes;
    this.capacity = (exactTables - 1) * KeyTable.room(maxSlots);
    if (this.capacity < minCapacity) throw new RangeError('seen-set: the budget is too small');
    this.#recent = new RecentKeys(maxSlots);
    this.#old = new OldKeys(budgetBytes - (exactTables + 1) * this.#maxTableBytes);
  }

  get bytes(): number {
    return this.#recent.bytes + this.#old.bytes;
  }

  /** Whether stored rows may be missing here and in event_ids, so that no key can leave: keys leave oldest first. */
  get isLoading(): boolean {
    return this.#isLoading;
  }

  /** The first sequence of the rows that are here; Infinity for none. */
  get firstSeq(): number {
    return this.#recent.firstSeq;
  }

  /** Rows that event_ids should get now, so that `retire` can be called before the budget is exceeded. */
  get leaving(): RowSpan | undefined {
    const isDue = !this.#isLoading && this.#recent.bytes > this.#leavingBytes;
    return isDue && this.#recent.hasSeveral ? this.#recent.oldest?.span : undefined;
  }

  /** Whether the rows of `leaving` cannot wait any longer. */
  get isOver(): boolean {
    return this.#recent.bytes > exactTables * this.#maxTableBytes;
  }

  /** Every stored row up to this stream sequence has left, once the rows of `leaving` have. */
  get reach(): number {
    return this.#recent.reach;
  }

  /** Finds the rows that are known and adds those that are not stored yet, as received at `nowMs`. */
  check(batch: SeenBatch, nowMs: number): Known {
    const { keys, occurTimesMs } = batch;
    const known: Known = { stored: [], maybe: [] };
    this.#expire(nowMs);
    const count = occurTimesMs.length;
    const stored = new Uint8Array(count);
    const maybe = new Uint8Array(count);
    for (let from = 0; from < count; from += rowsAtOnce) {
      const rows = new Int32Array(Math.min(rowsAtOnce, count - from));
      for (let at = 0; at < rows.length; at++) rows[at] = from + at;
      this.#recent.mark(keys, rows, stored);
      const others = rows.filter((row) => stored[row] === 0);
      for (const row of others) {
        if ((occurTimesMs[row] ?? 0) <= this.#unread.untilMs) maybe[row] = 1;
      }
      this.#old.mark(batch, others, maybe);
      for (const row of rows) {
        if (stored[row] === 1) {
          known.stored.push(row);
          continue;
        }
        if (maybe[row] === 1) known.maybe.push(row);
        const times = timesOf(occurTimesMs[row] ?? 0, nowMs);
        this.#recent.put(keys[row * 2] ?? 0, keys[row * 2 + 1] ?? 0, times, batch);
      }
    }
    this.#assertInvariants();
    return known;
  }

  /** From now on there are stored rows that were not added. */
  beginLoading(): void {
    this.#isLoading = true;
    this.addUnread(Number.POSITIVE_INFINITY);
  }

  /** The most keys that one table takes from `makeLoaded`. */
  get maxLoadedRows(): number {
    return KeyTable.room(this.#maxTableBytes / slotBytes / loadedTableShare);
  }

  /** Whether a table for this many keys can be loaded, and none has to leave for it. */
  hasRoomFor(rows: number): boolean {
    const bytes = slotsFor(rows) * slotBytes;
    return bytes <= this.#maxTableBytes && this.#recent.bytes + bytes <= this.#leavingBytes;
  }

  /** An empty table for `rows` keys of one period. Its keys count once it is passed to `addLoaded`. */
  makeLoaded(rows: number, receiveTimeMs: number): RecentTable {
    return this.#recent.makeTable(periodOf(receiveTimeMs), slotsFor(rows));
  }

  /** Adds the keys of stored rows that are older than all rows here. */
  addLoaded(table: RecentTable): void {
    this.#recent.addOldest(table);
    this.#assertInvariants();
  }

  /** Adds the key of a stored event that has not occurred yet and that event_ids has or will have. */
  addAhead(high: number, low: number, occurTimeMs: number, nowMs: number): void {
    this.#recent.put(high, low, { occurTimeMs, isAhead: true, period: periodOf(nowMs) }, emptySpan);
  }

  /** Says that there are stored rows that were not added; all of them were received and occurred up to `untilMs`. */
  addUnread(untilMs: number): void {
    this.#unread = { untilMs, period: periodOf(untilMs) };
  }

  /** Says that event_ids has every stored row that was not added. */
  endLoading(): void {
    this.#isLoading = false;
  }

  /**
   * Shrinks the oldest exact keys to fingerprints, once event_ids has the rows of `leaving`. Does nothing where the
   * oldest keys are others than `left`, because those were forgotten meanwhile.
   */
  retire(nowMs: number, left = this.#recent.oldest?.span): void {
    const { oldest } = this.#recent;
    if (oldest === undefined || oldest.span !== left) return;
    this.#recent.shift();
    const { period, minutes, ahead, keys } = oldest;
    for (let at = 0; at < ahead.length; at += aheadNumbers) {
      const [high = 0, low = 0, occurTimeMs = 0] = ahead.slice(at, at + aheadNumbers);
      if (occurTimeMs < nowMs - aheadMs) minutes.add(occurTimeMs);
      else this.addAhead(high, low, occurTimeMs, nowMs);
    }
    this.#old.add(period, minutes, keys.fingerprints());
    this.#assertInvariants();
  }

  get #leavingBytes(): number {
    return (exactTables - 1) * this.#maxTableBytes;
  }

  /** Forgets periods that ended before the window. */
  #expire(nowMs: number): void {
    const firstPeriod = periodOf(nowMs - duplicateWindowMs);
    this.#recent.forgetBefore(firstPeriod);
    this.#old.forgetBefore(firstPeriod);
    if (this.#unread.period < firstPeriod) this.#unread.untilMs = Number.NEGATIVE_INFINITY;
  }

  #assertInvariants(): void {
    if (this.#old.latestPeriod > (this.#recent.oldest?.period ?? Number.POSITIVE_INFINITY))
      throw new Error('seen-set: exact keys are older than keys that left');
  }
}

function timesOf(occurTimeMs: number, nowMs: number): KeyTimes {
  return { occurTimeMs, isAhead: isAheadOf(occurTimeMs, nowMs), period: periodOf(nowMs) };
}

/** Whether an event had not occurred yet when it was received, by its sender's clock. */
export function isAheadOf(occurTimeMs: number, receiveTimeMs: number): boolean {
  return occurTimeMs > receiveTimeMs + aheadMs;
}

/** The number of the period that a time in milliseconds is in. */
export function periodOf(timeMs: number): number {
  return Math.floor(timeMs / periodMs);
}
