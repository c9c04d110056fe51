// Marks the rows that cannot be the first event or the last page view of a visit: the views of `visits` and
// `visit_entries` pass over them, so that they sort and copy a few rows of each visit in place of all.

import { type Data, makeData, Uint8 } from 'apache-arrow';
import { dayMs } from '../../platform/clock.ts';
import type { ColumnBuffer } from './column-buffers.ts';
import type { DictionaryColumn } from './dictionary-column.ts';
import type { Int64Column, UuidColumn } from './word-columns.ts';

/** Its session has an earlier row of the same UTC day in the batch. */
const notFirst = 1;
/** Its session has a later page view of the same UTC day in the batch. 2 was set of any later event. */
const notLastView = 4;
const viewKind = 'page_view';

const twoPow32 = 4_294_967_296;
/** 2^32 over the golden ratio, the next odd number. */
const goldenRatio = 0x9e37_79b1;
const free = -1;

/** A column that follows from others: it is made when it is written, from the rows that are left by then. */
export class VisitMarks implements ColumnBuffer {
  readonly #projectId: DictionaryColumn;
  readonly #kind: DictionaryColumn;
  readonly #sessionId: UuidColumn;
  readonly #occurTime: Int64Column;

  constructor(
    projectId: DictionaryColumn,
    kind: DictionaryColumn,
    sessionId: UuidColumn,
    occurTime: Int64Column,
  ) {
    this.#projectId = projectId;
    this.#kind = kind;
    this.#sessionId = sessionId;
    this.#occurTime = occurTime;
  }

  get length(): number {
    return this.#sessionId.length;
  }

  clear(): void {}

  keep(): void {}

  data(): Data {
    const { words, length } = this.#sessionId;
    const marks = markRows(length, words, {
      projects: this.#projectId.indices(),
      kinds: this.#kind.indices(),
      view: this.#kind.indexOf(viewKind) ?? free,
      times: this.#occurTime.words,
    });
    return makeData({ type: new Uint8(), data: marks });
  }
}

interface BatchRows {
  /** The place of each row's project among those of the batch. */
  projects: Int32Array;
  kinds: Int32Array;
  /** The place of page views' kind; -1 where the batch has none. */
  view: number;
  /** Two words a row, the lower one first: milliseconds since the epoch. */
  times: Uint32Array;
}

/**
 * Rows without a mark may be the first or the last view; rows of one millisecond do not mark each other. A slot knows
 * one visit, and forgets it for another that falls on the same slot: no choice of session ids costs more than one
 * comparison a row.
 */
function markRows(
  rows: number,
  ids: Uint32Array,
  { projects, kinds, view, times }: BatchRows,
): Uint8Array {
  const timeOf = (row: number): number =>
    (times[row * 2] ?? 0) + ((times[row * 2 + 1] ?? 0) | 0) * twoPow32;
  const isOneVisit = (row: number, other: number): boolean =>
    ids[row * 4] === ids[other * 4] &&
    ids[row * 4 + 1] === ids[other * 4 + 1] &&
    ids[row * 4 + 2] === ids[other * 4 + 2] &&
    ids[row * 4 + 3] === ids[other * 4 + 3] &&
    projects[row] === projects[other] &&
    Math.floor(timeOf(row) / dayMs) === Math.floor(timeOf(other) / dayMs);

  const slotBits = 33 - Math.clz32(rows);
  const firstOf = new Int32Array(2 ** slotBits).fill(free);
  /** Of page views. */
  const lastOf = new Int32Array(2 ** slotBits).fill(free);
  const marks = new Uint8Array(rows);
  for (let row = 0; row < rows; row++) {
    const slot = slotOf(ids, row * 4, slotBits);
    const first = firstOf[slot] ?? free;
    if (first === free || !isOneVisit(row, first)) {
      firstOf[slot] = row;
      lastOf[slot] = kinds[row] === view ? row : free;
      continue;
    }
    const timeMs = timeOf(row);
    const firstMs = timeOf(first);
    if (timeMs < firstMs) {
      marks[first] = (marks[first] ?? 0) | notFirst;
      firstOf[slot] = row;
    } else if (timeMs > firstMs) marks[row] = (marks[row] ?? 0) | notFirst;
    if (kinds[row] !== view) continue;
    const last = lastOf[slot] ?? free;
    const lastMs = last === free ? timeMs : timeOf(last);
    if (last === free || timeMs > lastMs) lastOf[slot] = row;
    if (timeMs > lastMs) marks[last] = (marks[last] ?? 0) | notLastView;
    else if (timeMs < lastMs) marks[row] = (marks[row] ?? 0) | notLastView;
  }
  return marks;
}

/** The slot of the id whose four words begin at `at`, of 2^bits: Knuth's multiplicative hash of their exclusive or. */
function slotOf(ids: Uint32Array, at: number, bits: number): number {
  const mixed = (ids[at] ?? 0) ^ (ids[at + 1] ?? 0) ^ (ids[at + 2] ?? 0) ^ (ids[at + 3] ?? 0);
  return Math.imul(mixed, goldenRatio) >>> (32 - bits);
}
