// Growable columns of one record batch: plain typed arrays, filled by hand and handed to Arrow as views, because
// Arrow's own builders cost three times as much. They know types and rows, not which columns an event has. `clear`
// forgets the rows and keeps the memory, so that the next batch pays for neither allocation nor page faults.

import {
  Bool,
  type Data,
  FixedSizeBinary,
  Float64,
  Int64,
  makeData,
  type TimestampMillisecond,
  Uint16,
  Uint64,
} from 'apache-arrow';
import type { PropertyScalar } from './event-row.ts';

/** One column under construction. */
export interface ColumnBuffer {
  /** Rows in it. */
  readonly length: number;
  clear(): void;
  /** Keeps the rows with these ascending indices and forgets the others. */
  keep(rows: Uint32Array): void;
  /** The column as Arrow data over views of this buffer: to be written out before the buffer changes. */
  data(): Data;
}

const firstCapacity = 1_024;
const twoPow32 = 4_294_967_296;

export class Int32Buffer {
  array = new Int32Array(firstCapacity);
  length = 0;

  push(value: number): void {
    if (this.length === this.array.length) this.#grow(this.length + 1);
    this.array[this.length++] = value;
  }

  pushRepeated(value: number, count: number): void {
    const length = this.length + count;
    if (length > this.array.length) this.#grow(length);
    this.array.fill(value, this.length, length);
    this.length = length;
  }

  clear(): void {
    this.length = 0;
  }

  keep(rows: Uint32Array): void {
    keepElements(this.array, 1, rows);
    this.length = rows.length;
  }

  view(): Int32Array {
    return this.array.subarray(0, this.length);
  }

  #grow(needed: number): void {
    const larger = new Int32Array(Math.max(needed, this.array.length * 2));
    larger.set(this.array);
    this.array = larger;
  }
}

/** A number of 16 bits without sign. */
export class Uint16Column implements ColumnBuffer {
  readonly #values = new Int32Buffer();

  get length(): number {
    return this.#values.length;
  }

  push(value: number): void {
    this.#values.push(value);
  }

  clear(): void {
    this.#values.clear();
  }

  keep(rows: Uint32Array): void {
    this.#values.keep(rows);
  }

  data(): Data {
    return makeData({ type: new Uint16(), data: Uint16Array.from(this.#values.view()) });
  }
}

/** Fixed numbers of 32-bit words: 16-byte ids, 64-bit integers, moments. */
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

  /** Adds a row and returns the index of its first word. */
  protected grow(): number {
    const at = this.length++ * this.#wordsPerRow;
    if (at === this.words.length) {
      const larger = new Uint32Array(this.words.length * 2);
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

  push(id: Uint32Array): void {
    const at = this.grow();
    this.words[at] = id[0] ?? 0;
    this.words[at + 1] = id[1] ?? 0;
    this.words[at + 2] = id[2] ?? 0;
    this.words[at + 3] = id[3] ?? 0;
  }

  /** Puts another id into a row: the 16 bytes of `from` that begin at word `at`. */
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
    const at = this.grow();
    if (typeof value === 'bigint') {
      this.words[at] = Number(value & 0xffff_ffffn);
      this.words[at + 1] = Number((value >> 32n) & 0xffff_ffffn);
      return;
    }
    const number = Number(value);
    this.words[at] = number >>> 0;
    this.words[at + 1] = Math.floor(number / twoPow32) >>> 0;
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

export class Float64Column implements ColumnBuffer {
  #array = new Float64Array(firstCapacity);
  length = 0;

  push(value: PropertyScalar): void {
    if (this.length === this.#array.length) {
      const larger = new Float64Array(this.#array.length * 2);
      larger.set(this.#array);
      this.#array = larger;
    }
    this.#array[this.length++] = Number(value);
  }

  clear(): void {
    this.length = 0;
  }

  keep(rows: Uint32Array): void {
    keepElements(this.#array, 1, rows);
    this.length = rows.length;
  }

  view(): Float64Array {
    return this.#array.subarray(0, this.length);
  }

  data(): Data {
    return makeData({ type: new Float64(), data: this.view() });
  }
}

export class BoolColumn implements ColumnBuffer {
  readonly #values = new Int32Buffer();

  get length(): number {
    return this.#values.length;
  }

  push(value: PropertyScalar): void {
    this.#values.push(value === true ? 1 : 0);
  }

  clear(): void {
    this.#values.clear();
  }

  keep(rows: Uint32Array): void {
    this.#values.keep(rows);
  }

  data(): Data {
    const bits = new Uint8Array((this.length + 7) >>> 3);
    const values = this.#values.array;
    for (let row = 0; row < this.length; row++) {
      if (values[row] === 1) bits[row >>> 3] = (bits[row >>> 3] ?? 0) | (1 << (row & 7));
    }
    return makeData({ type: new Bool(), length: this.length, data: bits });
  }
}

/** Moves the elements of the kept rows, `width` array entries each, to the front. */
function keepElements(
  array: Int32Array | Uint32Array | Float64Array,
  width: number,
  rows: Uint32Array,
): void {
  for (let kept = 0; kept < rows.length; kept++) {
    const from = (rows[kept] ?? 0) * width;
    for (let part = 0; part < width; part++) array[kept * width + part] = array[from + part] ?? 0;
  }
}
