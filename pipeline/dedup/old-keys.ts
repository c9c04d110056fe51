// The older keys of a seen-set, known in part: by a fingerprint each as far as the budget goes, the oldest ones by the
// minutes in which their events occurred. It never says that a key is here for certain, only that it may be.

import { type Fingerprints, fingerprintBytes, markFingerprints } from './key-table.ts';
import { MinuteSet } from './minute-set.ts';

/** The part of a SeenBatch that is looked up here. */
interface OldBatch {
  keys: Uint32Array;
  occurTimesMs: Float64Array;
}

/** The remains of one table of exact keys, or the minutes of several tables of a period. */
interface OldTable {
  readonly period: number;
  readonly minutes: MinuteSet;
  prints: Fingerprints | undefined;
}

/**
 * Invariants, checked whenever a table comes or goes:
 * - Tables ascend by period.
 * - Fingerprints are given up from the oldest on: no table with fingerprints is before one without.
 * - A period has at most one table without fingerprints.
 * - All fingerprints together take at most `maxPrintBytes`.
 * - `#minutes` has all minutes of the tables without fingerprints. It is made anew from them, because minutes cannot be
 *   taken out.
 */
export class OldKeys {
  readonly #maxPrintBytes: number;
  #tables: OldTable[] = [];
  #minutes = new MinuteSet();

  constructor(maxPrintBytes: number) {
    this.#maxPrintBytes = maxPrintBytes;
  }

  get bytes(): number {
    return this.#tables.reduce(
      (sum, { prints }) => sum + (prints?.first.length ?? 0) * fingerprintBytes,
      0,
    );
  }

  get latestPeriod(): number {
    return this.#tables.at(-1)?.period ?? Number.NEGATIVE_INFINITY;
  }

  /** Takes the keys of a table that is later than all tables here. */
  add(period: number, minutes: MinuteSet, prints: Fingerprints): void {
    this.#tables.push({ period, minutes, prints });
    while (this.bytes > this.#maxPrintBytes) this.#dropPrints();
    this.#collectMinutes();
    this.#assertInvariants();
  }

  /**
   * Sets `maybe` for the rows that may be repetitions of events whose keys are here. Fingerprints are looked at
   * whatever the row's time, because a sender may give a repetition a new one: with the default memory 0.5 us a row.
   */
  mark({ keys, occurTimesMs }: OldBatch, rows: Int32Array, maybe: Uint8Array): void {
    for (const { prints } of this.#tables) {
      if (prints !== undefined) markFingerprints(prints, keys, rows, maybe);
    }
    for (const row of rows) {
      if (this.#minutes.has(occurTimesMs[row] ?? 0)) maybe[row] = 1;
    }
  }

  /** Forgets the tables of earlier periods. */
  forgetBefore(period: number): void {
    if ((this.#tables[0]?.period ?? period) >= period) return;
    this.#tables = this.#tables.filter((table) => table.period >= period);
    this.#collectMinutes();
    this.#assertInvariants();
  }

  /** Gives up the oldest fingerprints; their minutes are kept in one table for a period. */
  #dropPrints(): void {
    const oldest = this.#tables.find(({ prints }) => prints !== undefined);
    if (oldest === undefined) return;
    oldest.prints = undefined;
    const other = this.#tables.find(
      (one) => one !== oldest && one.prints === undefined && one.period === oldest.period,
    );
    if (other === undefined) return;
    other.minutes.addAll(oldest.minutes);
    this.#tables = this.#tables.filter((one) => one !== oldest);
  }

  #collectMinutes(): void {
    this.#minutes = new MinuteSet();
    for (const { minutes, prints } of this.#tables) {
      if (prints === undefined) this.#minutes.addAll(minutes);
    }
  }

  #assertInvariants(): void {
    for (const [place, table] of this.#tables.entries()) {
      const next = this.#tables[place + 1];
      if (next === undefined) break;
      if (table.period > next.period) throw new Error('seen-set: old keys are out of order');
      if (next.prints !== undefined) continue;
      if (table.prints !== undefined || table.period === next.period)
        throw new Error('seen-set: fingerprints were not given up from the oldest on');
    }
    if (this.bytes > this.#maxPrintBytes)
      throw new Error('seen-set: fingerprints take more than their part of the budget');
  }
}
