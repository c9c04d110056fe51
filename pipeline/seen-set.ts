// Which events a shard has stored within the last 48 hours, by their 64-bit keys, in a fixed budget of memory. Where
// the budget does not suffice, it says 'maybe' and the caller looks into the table; it never says 'new' of a stored
// event.

import { duplicateWindowMs, maxBatchRows } from '../platform/limits.ts';

/** Keys are forgotten a period at a time. */
export const periodMs = 6 * 3_600_000;
const wordsPerSlot = 2;
const slotBytes = 8;
const firstSlots = 1 << 16;
const maxLoad = 0.7;
/** Of the budget, what filters may take: the rest holds exact keys. */
const filterShare = 4;
/** Tables the exact share is cut into: the oldest is turned into a filter when the newest needs room. */
const tables = 12;
/** Periods that can be alive at once: eight of six hours are the window, a part of one at either end. */
const periods = duplicateWindowMs / periodMs + 1;
const hashesPerKey = 4;

/** The batches that are being stored must be known exactly: no look-up finds their rows yet. */
const minCapacity = 4 * maxBatchRows;
/** Room for that. */
export const minSeenBytes = 8 * 1_048_576;

export type Seen = 'new' | 'stored' | 'maybe';

/** Exact keys of one period, open addressing; a slot of two zeros is free. */
interface KeyTable {
  readonly period: number;
  words: Uint32Array;
  count: number;
}

/** What is left of a period's exact keys: a Bloom filter, or nothing but the knowledge that there were some. */
interface KeyFilter {
  readonly period: number;
  readonly bits: Uint32Array | undefined;
}

export class SeenSet {
  readonly #maxTableSlots: number;
  readonly #maxTables: number;
  readonly #filterWords: number;
  /** Oldest first; the last one takes new keys. */
  #tables: KeyTable[] = [];
  #filters: KeyFilter[] = [];

  /** `budgetBytes` bounds the memory of all keys; at least `minSeenBytes`. */
  constructor(budgetBytes: number) {
    const filterBytes = budgetBytes / filterShare;
    this.#maxTableSlots = powerOfTwoUpTo((budgetBytes - filterBytes) / tables / slotBytes);
    this.#maxTables = Math.floor((budgetBytes - filterBytes) / (this.#maxTableSlots * slotBytes));
    this.#filterWords = powerOfTwoUpTo(filterBytes / periods / 4);
    if (this.capacity < minCapacity) throw new RangeError('seen-set: the budget is too small');
  }

  /** Exact keys that fit before filters have to serve. */
  get capacity(): number {
    return Math.floor(this.#maxTables * this.#maxTableSlots * maxLoad);
  }

  get bytes(): number {
    let words = 0;
    for (const table of this.#tables) words += table.words.length;
    for (const filter of this.#filters) words += filter.bits?.length ?? 0;
    return words * 4;
  }

  /**
   * Marks in `verdicts`, one entry a row, what is known of each key and adds those that are not stored yet, as received
   * at `nowMs`. `keys` has two words a row, none of them twice.
   */
  check(keys: Uint32Array, nowMs: number, verdicts: Seen[]): void {
    const rows = keys.length / wordsPerSlot;
    this.#expire(nowMs);
    verdicts.length = rows;
    verdicts.fill('new');
    for (const filter of this.#filters) markMaybe(filter, keys, verdicts);
    // A table at a time, not a key at a time: the look-ups of one pass wait for memory together.
    for (const table of this.#tables) markStored(table, keys, verdicts);
    for (let row = 0; row < rows; row++) {
      if (verdicts[row] === 'stored') continue;
      this.add(keys[row * wordsPerSlot] ?? 0, keys[row * wordsPerSlot + 1] ?? 0, nowMs);
    }
  }

  /** Adds a key that is known not to be here, as received at `receiveTimeMs`. Periods come in ascending order. */
  add(high: number, low: number, receiveTimeMs: number): void {
    const period = Math.floor(receiveTimeMs / periodMs);
    let table = this.#tables.at(-1);
    if (table === undefined || table.period < period || this.#isFull(table)) {
      table = this.#openTable(Math.max(period, table?.period ?? period));
    }
    if (table.count + 1 > (table.words.length / wordsPerSlot) * maxLoad) grow(table);
    insert(table.words, high, low);
    table.count++;
  }

  /** Every key of this period may be stored: said of rows that were not read for want of room. */
  addUnread(receiveTimeMs: number): void {
    this.#filters.push({ period: Math.floor(receiveTimeMs / periodMs), bits: undefined });
  }

  #isFull(table: KeyTable): boolean {
    const slots = table.words.length / wordsPerSlot;
    return slots === this.#maxTableSlots && table.count + 1 > slots * maxLoad;
  }

  #openTable(period: number): KeyTable {
    if (this.#tables.length >= this.#maxTables) this.#retireOldest();
    const slots = Math.min(firstSlots, this.#maxTableSlots);
    const table = { period, words: new Uint32Array(slots * wordsPerSlot), count: 0 };
    this.#tables.push(table);
    return table;
  }

  #retireOldest(): void {
    const oldest = this.#tables.shift();
    if (oldest === undefined) return;
    const filter = this.#filterOf(oldest.period);
    // Without bits it says 'maybe' to everything already.
    if (filter.bits === undefined) return;
    for (let at = 0; at < oldest.words.length; at += wordsPerSlot) {
      const high = oldest.words[at] ?? 0;
      const low = oldest.words[at + 1] ?? 0;
      if ((high | low) !== 0) addToFilter(filter.bits, high, low);
    }
  }

  #filterOf(period: number): KeyFilter {
    const known = this.#filters.find((filter) => filter.period === period);
    if (known !== undefined) return known;
    const filter = { period, bits: new Uint32Array(this.#filterWords) };
    this.#filters.push(filter);
    return filter;
  }

  /** Forgets periods that ended before the window. */
  #expire(nowMs: number): void {
    const firstPeriod = Math.floor((nowMs - duplicateWindowMs) / periodMs);
    if ((this.#tables[0]?.period ?? firstPeriod) < firstPeriod) {
      this.#tables = this.#tables.filter((table) => table.period >= firstPeriod);
    }
    if (this.#filters.some((filter) => filter.period < firstPeriod)) {
      this.#filters = this.#filters.filter((filter) => filter.period >= firstPeriod);
    }
  }
}

function markStored(table: KeyTable, keys: Uint32Array, verdicts: Seen[]): void {
  const words = table.words;
  const mask = words.length / wordsPerSlot - 1;
  for (let row = 0; row < verdicts.length; row++) {
    const high = keys[row * wordsPerSlot];
    const low = keys[row * wordsPerSlot + 1] ?? 0;
    let slot = low & mask;
    for (;;) {
      const slotHigh = words[slot * wordsPerSlot];
      const slotLow = words[slot * wordsPerSlot + 1];
      if (slotLow === low && slotHigh === high) {
        verdicts[row] = 'stored';
        break;
      }
      if (slotLow === 0 && slotHigh === 0) break;
      slot = (slot + 1) & mask;
    }
  }
}

function markMaybe(filter: KeyFilter, keys: Uint32Array, verdicts: Seen[]): void {
  for (let row = 0; row < verdicts.length; row++) {
    const high = keys[row * wordsPerSlot] ?? 0;
    const low = keys[row * wordsPerSlot + 1] ?? 0;
    if (filter.bits === undefined || isInFilter(filter.bits, high, low)) verdicts[row] = 'maybe';
  }
}

function insert(words: Uint32Array, high: number, low: number): void {
  const mask = words.length / wordsPerSlot - 1;
  let slot = low & mask;
  while (((words[slot * wordsPerSlot] ?? 0) | (words[slot * wordsPerSlot + 1] ?? 0)) !== 0) {
    slot = (slot + 1) & mask;
  }
  words[slot * wordsPerSlot] = high;
  words[slot * wordsPerSlot + 1] = low;
}

function grow(table: KeyTable): void {
  const larger = new Uint32Array(table.words.length * 2);
  for (let at = 0; at < table.words.length; at += wordsPerSlot) {
    const high = table.words[at] ?? 0;
    const low = table.words[at + 1] ?? 0;
    if ((high | low) !== 0) insert(larger, high, low);
  }
  table.words = larger;
}

/** Bit positions by double hashing: the key is a hash already, its halves are independent. */
function addToFilter(bits: Uint32Array, high: number, low: number): void {
  const mask = bits.length * 32 - 1;
  for (let hash = 0; hash < hashesPerKey; hash++) {
    const bit = (high + Math.imul(hash, low | 1)) & mask;
    bits[bit >>> 5] = (bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
  }
}

function isInFilter(bits: Uint32Array, high: number, low: number): boolean {
  const mask = bits.length * 32 - 1;
  for (let hash = 0; hash < hashesPerKey; hash++) {
    const bit = (high + Math.imul(hash, low | 1)) & mask;
    if (((bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false;
  }
  return true;
}

function powerOfTwoUpTo(value: number): number {
  return 2 ** Math.floor(Math.log2(value));
}
