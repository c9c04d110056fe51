// Which events a shard has stored within the last 48 hours, by their 64-bit keys, in a fixed budget of memory. The
// latest are known exactly. Of older ones it knows the minutes in which they occurred and, as far as the budget goes, a
// fingerprint of each: where both fit it says 'maybe', and the caller asks the table event_ids. A repetition of a
// stored event has its id and its occurTime, so it is never taken for new.

import { duplicateWindowMs, maxBatchRows } from '../../platform/limits.ts';
import { fingerprintBytes, KeyTable, markFingerprints, slotBytes } from './key-table.ts';
import { MinuteSet } from './minute-set.ts';

/** Rows that are looked up in one table before the next; see key-table.ts. */
const rowsAtOnce = 256;
/** Keys are forgotten a period at a time. */
export const periodMs = 6 * 3_600_000;
const firstSlots = 1 << 16;
/** A table is at most this part of the budget. So many are exact, one is room to go on; fingerprints have the last. */
const tableShare = 5;
const exactTables = 3;
/**
 * Events that occurred later than this after they were received, by their sender's clock, are remembered exactly until
 * that moment is past: the minutes to come must stay minutes of which nothing is old.
 */
const aheadMs = 120_000;
/** Of a table's slots, those for them; of the others the minute is marked at once. */
const aheadShare = 16;

/** The batches that are being stored must be known exactly: no look-up finds their rows yet. */
const minCapacity = 3 * maxBatchRows;
/** Room for that. */
export const minSeenBytes = 8 * 1_048_576;

/** Bounds of some rows of the table events, all inclusive. */
export interface RowSpan {
  firstSeq: number;
  lastSeq: number;
  minReceiveTimeMs: number;
  maxReceiveTimeMs: number;
}

/** A batch's events: none of them twice. */
export interface SeenBatch extends RowSpan {
  /** Two words a row. */
  keys: Uint32Array;
  occurTimesMs: Float64Array;
}

/** Row numbers, ascending; all other rows are new. */
export interface Known {
  stored: number[];
  maybe: number[];
}

interface KeyTimes {
  occurTimeMs: number;
  isAhead: boolean;
  /** In which it was received. */
  period: number;
}

/** Exact keys. */
interface RecentKeys {
  readonly period: number;
  readonly keys: KeyTable;
  readonly minutes: MinuteSet;
  /** Key and occurTime of events that have not occurred yet, three numbers each; their minutes are not marked. */
  readonly ahead: number[];
  readonly span: RowSpan;
}

/** What is left of exact keys. */
interface OldKeys {
  readonly period: number;
  readonly minutes: MinuteSet;
  prints: Uint16Array | undefined;
}

export class SeenSet {
  readonly #maxSlots: number;
  readonly #maxPrintBytes: number;
  /** Oldest first; the last one takes new keys. */
  #recent: RecentKeys[] = [];
  /** Oldest first. */
  #old: OldKeys[] = [];
  /** All minutes of `#old`. */
  #oldMinutes = new MinuteSet();
  #unread = { untilMs: Number.NEGATIVE_INFINITY, period: Number.NEGATIVE_INFINITY };

  /** `budgetBytes` bounds the memory of all keys; at least `minSeenBytes`. */
  constructor(budgetBytes: number) {
    this.#maxSlots = 2 ** Math.floor(Math.log2(budgetBytes / tableShare / slotBytes));
    const exactBytes = (exactTables + 1) * this.#maxSlots * slotBytes;
    this.#maxPrintBytes = budgetBytes - exactBytes;
    if (this.capacity < minCapacity) throw new RangeError('seen-set: the budget is too small');
  }

  /** The latest keys that are always known exactly. */
  get capacity(): number {
    return (exactTables - 1) * KeyTable.room(this.#maxSlots);
  }

  get bytes(): number {
    return this.#exactBytes() + this.#printBytes();
  }

  /** Rows that event_ids should get now, so that `retire` can be called before the budget is exceeded. */
  get leaving(): RowSpan | undefined {
    const share = (exactTables - 1) * this.#maxSlots * slotBytes;
    return this.#exactBytes() > share && this.#recent.length > 1
      ? this.#recent[0]?.span
      : undefined;
  }

  /** Whether that cannot wait any longer. */
  get isOver(): boolean {
    return this.#exactBytes() > exactTables * this.#maxSlots * slotBytes;
  }

  /** Every stored row up to this stream sequence has left, once what is leaving has. */
  get reach(): number {
    return Math.min(...this.#recent.slice(1).map(({ span }) => span.firstSeq)) - 1;
  }

  /** Tells what is known of each row and adds those that are not stored yet, as received at `nowMs`. */
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
      for (const table of this.#recent) table.keys.mark(keys, rows, stored);
      this.#markOld(
        batch,
        rows.filter((row) => stored[row] === 0),
        maybe,
      );
      for (const row of rows) {
        if (stored[row] === 1) {
          known.stored.push(row);
          continue;
        }
        if (maybe[row] === 1) known.maybe.push(row);
        const times = timesOf(occurTimesMs[row] ?? 0, nowMs);
        this.#put(keys[row * 2] ?? 0, keys[row * 2 + 1] ?? 0, times, batch);
      }
    }
    return known;
  }

  /** Adds a stored row's key that is known not to be here. Receive times come in ascending order, by the minute. */
  add(high: number, low: number, occurTimeMs: number, receiveTimeMs: number, seq: number): void {
    const [minReceiveTimeMs, maxReceiveTimeMs] = [receiveTimeMs, receiveTimeMs];
    const span = { firstSeq: seq, lastSeq: seq, minReceiveTimeMs, maxReceiveTimeMs };
    this.#put(high, low, timesOf(occurTimeMs, receiveTimeMs), span);
  }

  /** There are stored rows that were not added; all of them were received and occurred up to then. */
  addUnread(untilMs: number): void {
    this.#unread = { untilMs, period: periodOf(untilMs) };
  }

  /**
   * Shrinks the oldest exact keys to fingerprints: event_ids has got the rows of `leaving`. Does nothing where these
   * are other keys by now, as those were forgotten meanwhile.
   */
  retire(nowMs: number, left = this.#recent[0]?.span): void {
    const [oldest] = this.#recent;
    if (oldest === undefined || oldest.span !== left) return;
    this.#recent.shift();
    const { period, minutes, ahead, keys, span } = oldest;
    this.#old.push({ period, minutes, prints: keys.fingerprints() });
    for (let at = 0; at < ahead.length; at += 3) {
      const [high = 0, low = 0, occurTimeMs = 0] = ahead.slice(at, at + 3);
      // Already with the rows that leave: their sequences say nothing of those that stay.
      const again = { ...span, firstSeq: Number.POSITIVE_INFINITY };
      if (occurTimeMs < nowMs - aheadMs) minutes.add(occurTimeMs);
      else this.#put(high, low, { occurTimeMs, isAhead: true, period: periodOf(nowMs) }, again);
    }
    while (this.#printBytes() > this.#maxPrintBytes) this.#dropPrints();
    this.#collectMinutes();
  }

  /** Sets `maybe` for those of `rows` that may be repetitions of what is not known exactly any more. */
  #markOld({ keys, occurTimesMs }: SeenBatch, rows: Int32Array, maybe: Uint8Array): void {
    const timeOf = (row: number): number => occurTimesMs[row] ?? 0;
    for (const row of rows) if (timeOf(row) <= this.#unread.untilMs) maybe[row] = 1;
    const late = rows.filter((row) => this.#oldMinutes.has(timeOf(row)));
    if (late.length === 0) return;
    for (const { minutes, prints } of this.#old) {
      const some = late.filter((row) => minutes.has(timeOf(row)));
      if (prints !== undefined) markFingerprints(prints, keys, some, maybe);
      else for (const row of some) maybe[row] = 1;
    }
  }

  #put(high: number, low: number, { occurTimeMs, isAhead, period }: KeyTimes, span: RowSpan): void {
    let table = this.#recent.at(-1);
    if (table === undefined || table.period < period || this.#isDone(table)) {
      table = this.#open(Math.max(period, table?.period ?? period));
    }
    if (table.keys.isFull) table.keys.grow();
    table.keys.add(high, low);
    include(table.span, span);
    if (isAhead && table.ahead.length < (3 * this.#maxSlots) / aheadShare) {
      table.ahead.push(high, low, occurTimeMs);
    } else {
      table.minutes.add(occurTimeMs);
    }
  }

  #isDone({ keys }: RecentKeys): boolean {
    return keys.isFull && keys.slots === this.#maxSlots;
  }

  #open(period: number): RecentKeys {
    const last = this.#recent.at(-1);
    // What has filled a whole table will fill the next: growing it step by step would only take time.
    const slots = last !== undefined && this.#isDone(last) ? this.#maxSlots : firstSlots;
    const table = {
      period,
      keys: new KeyTable(slots),
      minutes: new MinuteSet(),
      ahead: [],
      span: {
        firstSeq: Number.POSITIVE_INFINITY,
        lastSeq: 0,
        minReceiveTimeMs: Number.POSITIVE_INFINITY,
        maxReceiveTimeMs: 0,
      },
    };
    this.#recent.push(table);
    return table;
  }

  /** Gives up the oldest fingerprints; their minutes are kept, in one place for a period. */
  #dropPrints(): void {
    const oldest = this.#old.find(({ prints }) => prints !== undefined);
    if (oldest === undefined) return;
    oldest.prints = undefined;
    const other = this.#old.find(
      (one) => one !== oldest && one.prints === undefined && one.period === oldest.period,
    );
    if (other === undefined) return;
    other.minutes.addAll(oldest.minutes);
    this.#old = this.#old.filter((one) => one !== oldest);
  }

  #collectMinutes(): void {
    this.#oldMinutes = new MinuteSet();
    for (const { minutes } of this.#old) this.#oldMinutes.addAll(minutes);
  }

  #exactBytes(): number {
    return this.#recent.reduce((sum, { keys }) => sum + keys.bytes, 0);
  }

  #printBytes(): number {
    return this.#old.reduce((sum, { prints }) => sum + (prints?.length ?? 0) * fingerprintBytes, 0);
  }

  /** Forgets periods that ended before the window. */
  #expire(nowMs: number): void {
    const firstPeriod = periodOf(nowMs - duplicateWindowMs);
    if ((this.#recent[0]?.period ?? firstPeriod) < firstPeriod) {
      this.#recent = this.#recent.filter(({ period }) => period >= firstPeriod);
    }
    if ((this.#old[0]?.period ?? firstPeriod) < firstPeriod) {
      this.#old = this.#old.filter(({ period }) => period >= firstPeriod);
      this.#collectMinutes();
    }
    if (this.#unread.period < firstPeriod) this.#unread.untilMs = Number.NEGATIVE_INFINITY;
  }
}

function timesOf(occurTimeMs: number, nowMs: number): KeyTimes {
  return { occurTimeMs, isAhead: occurTimeMs > nowMs + aheadMs, period: periodOf(nowMs) };
}

function periodOf(timeMs: number): number {
  return Math.floor(timeMs / periodMs);
}

function include(span: RowSpan, other: RowSpan): void {
  span.firstSeq = Math.min(span.firstSeq, other.firstSeq);
  span.lastSeq = Math.max(span.lastSeq, other.lastSeq);
  span.minReceiveTimeMs = Math.min(span.minReceiveTimeMs, other.minReceiveTimeMs);
  span.maxReceiveTimeMs = Math.max(span.maxReceiveTimeMs, other.maxReceiveTimeMs);
}
