// The growable columns whose rows are a fixed number of 32-bit words: ids, whole numbers and moments.

import {
  type Data,
  FixedSizeBinary,
  Int64,
  makeData,
  type TimestampMillisecond,
  Uint64,
} from 'apache-arrow';
import type { PropertyScalar } from '../enrich/event-row.ts';
import { type ColumnBuffer, keepElements } from './column-buffers.ts';

const firstCapacity = 1_024;
const twoPow32 = 4_294_967_296;

class WordsColumn {
  words: Uint32Array;
  length = 0;
  readonly #wordsPerRow: number;

  constructor(wordsPerRow: number) {
    this.#wordsPerRow = wordsPerRow;
    this.words = new Uint32Array(firstCapacity * wordsPerRow);
  }

  clear(): void {
    this.length = 0;
  }

  keep(rows: Uint32Array): void {
    keepElements(this.words, this.#wordsPerRow, rows);
    this.length = rows.length;
  }

  /** Adds the rows from `from` to before `to`; `words` has as many words a row as this column. */
  pushWords(words: Uint32Array, from: number, to: number): void {
    const width = this.#wordsPerRow;
    const at = this.grow(to - from);
    this.words.set(words.subarray(from * width, to * width), at);
  }

  /** Adds rows with any content and returns the index of their first word. */
  protected grow(rows: number): number {
    const at = this.length * this.#wordsPerRow;
    this.length += rows;
    const needed = this.length * this.#wordsPerRow;
    if (needed > this.words.length) {
      const larger = new Uint32Array(Math.max(needed, this.words.length * 2));
      larger.set(this.words);
      this.words = larger;
    }
    return at;
  }
}

/** Sixteen bytes a row, in the order of a UUID's text. */
export class UuidColumn extends WordsColumn implements ColumnBuffer {
  constructor() {
    super(4);
  }

  /** Adds the id whose words begin at `idAt`. */
  push(id: Uint32Array, idAt = 0): void {
    const at = this.grow(1);
    this.words[at] = id[idAt] ?? 0;
    this.words[at + 1] = id[idAt + 1] ?? 0;
    this.words[at + 2] = id[idAt + 2] ?? 0;
    this.words[at + 3] = id[idAt + 3] ?? 0;
  }

  /** The id's sixteen bytes; a view. */
  at(row: number): Uint8Array {
    return new Uint8Array(this.words.buffer, row * 16, 16);
  }

  /** Replaces a row's id by the four words of `from` that begin at `at`. */
  replace(row: number, from: Uint32Array, at: number): void {
    for (let word = 0; word < 4; word++) this.words[row * 4 + word] = from[at + word] ?? 0;
  }

  data(): Data {
    return makeData({ type: new FixedSizeBinary(16), data: this.bytes() });
  }

  bytes(): Uint8Array {
    return new Uint8Array(this.words.buffer, 0, this.length * 16);
  }
}

/** Sixty-four bits a row: Int64, UInt64 or milliseconds since the epoch, by the type given. */
export class Int64Column extends WordsColumn implements ColumnBuffer {
  readonly #type: Int64 | Uint64 | TimestampMillisecond;

  constructor(type: Int64 | Uint64 | TimestampMillisecond) {
    super(2);
    this.#type = type;
  }

  /** `value` is a safe integer, or a bigint of 64 bits. */
  push(value: PropertyScalar): void {
    const at = this.grow(1);
    if (typeof value === 'bigint') {
      this.words[at] = Number(value & 0xffff_ffffn);
      this.words[at + 1] = Number((value >> 32n) & 0xffff_ffffn);
      return;
    }
    this.#fill(at, Number(value), 1);
  }

  /** A number where that is exact, else a bigint. */
  at(row: number): number | bigint {
    const low = this.words[row * 2] ?? 0;
    const high = (this.words[row * 2 + 1] ?? 0) | 0;
    const number = high * twoPow32 + low;
    return Number.isSafeInteger(number) ? number : (BigInt(high) << 32n) | BigInt(low);
  }

  /** `value` is a safe integer. */
  pushRepeated(value: number, count: number): void {
    this.#fill(this.grow(count), value, count);
  }

  #fill(from: number, value: number, count: number): void {
    const low = value >>> 0;
    const high = Math.floor(value / twoPow32) >>> 0;
    for (let at = from; at < from + count * 2; at += 2) {
      this.words[at] = low;
      this.words[at + 1] = high;
    }
  }

  data(): Data {
    const data = new BigInt64Array(this.words.buffer, 0, this.length);
    if (this.#type instanceof Uint64) {
      return makeData({ type: this.#type, data: new BigUint64Array(data.buffer, 0, this.length) });
    }
    return this.#type instanceof Int64
      ? makeData({ type: this.#type, data })
      : makeData({ type: this.#type, data });
  }
}
