// Growable columns of one record batch: typed arrays, filled by hand and handed to Arrow as views, because Arrow's own
// builders cost three times as much. They know types and rows, not the columns of an event. `clear` forgets the rows
// and keeps the memory, so that the next batch pays for neither allocation nor page faults.

import { Bool, type Data, Float64, makeData, Uint16 } from 'apache-arrow';
import type { PropertyScalar } from '../enrich/event-row.ts';

/** One column, growing. */
export interface ColumnBuffer {
  /** Number of rows. */
  readonly length: number;
  clear(): void;
  /** Keeps the rows with these ascending indices and forgets the others. */
  keep(rows: Uint32Array): void;
  /** The column as Arrow data over views of this buffer; it must be written out before the buffer changes. */
  data(): Data;
}

const firstCapacity = 1_024;

export class Int32Buffer {
  array = new Int32Array(firstCapacity);
  length = 0;

  push(value: number): void {
    if (this.length === this.array.length) this.#grow(this.length + 1);
    this.array[this.length++] = value;
  }

  pushRepeated(value: number, count: number): void {
    const from = this.extend(count);
    this.array.fill(value, from, from + count);
  }

  /** Adds the ends from `from` to `to` of another column's texts or entries, shifted to follow the last end here. */
  pushEnds(ends: Int32Array, from: number, to: number): void {
    const shift = (this.array[this.length - 1] ?? 0) - (ends[from] ?? 0);
    let at = this.extend(to - from);
    for (let row = from + 1; row <= to; row++) this.array[at++] = (ends[row] ?? 0) + shift;
  }

  /** Adds `count` elements of any value and returns the index of the first. */
  extend(count: number): number {
    const from = this.length;
    this.length += count;
    if (this.length > this.array.length) this.#grow(this.length);
    return from;
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

/** Unsigned numbers of 16 bits. */
export class Uint16Column implements ColumnBuffer {
  readonly #values = new Int32Buffer();

  get length(): number {
    return this.#values.length;
  }

  pushRepeated(value: number, count: number): void {
    this.#values.pushRepeated(value, count);
  }

  clear(): void {
    this.#values.clear();
  }

  keep(rows: Uint32Array): void {
    this.#values.keep(rows);
  }

  data(): Data {
    return makeData({ type: new Uint16(), data: new Uint16Array(this.#values.view()) });
  }
}

export class Float64Column implements ColumnBuffer {
  #array = new Float64Array(firstCapacity);
  length = 0;

  push(value: PropertyScalar): void {
    const at = this.#extend(1);
    this.#array[at] = Number(value);
  }

  /** Adds `values` from `from` to before `to`. */
  pushValues(values: Float64Array, from: number, to: number): void {
    const at = this.#extend(to - from);
    this.#array.set(values.subarray(from, to), at);
  }

  at(row: number): number {
    return this.#array[row] ?? 0;
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

  #extend(rows: number): number {
    const at = this.length;
    this.length += rows;
    if (this.length > this.#array.length) {
      const larger = new Float64Array(Math.max(this.length, this.#array.length * 2));
      larger.set(this.#array);
      this.#array = larger;
    }
    return at;
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

  /** Adds `bytes` from `from` to before `to`; 1 is true. */
  pushBytes(bytes: Uint8Array, from: number, to: number): void {
    const at = this.#values.extend(to - from);
    this.#values.array.set(bytes.subarray(from, to), at);
  }

  at(row: number): boolean {
    return this.#values.array[row] === 1;
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
export function keepElements(
  array: Int32Array | Uint32Array | Float64Array,
  width: number,
  rows: Uint32Array,
): void {
  for (let kept = 0; kept < rows.length; kept++) {
    const from = (rows[kept] ?? 0) * width;
    for (let part = 0; part < width; part++) array[kept * width + part] = array[from + part] ?? 0;
  }
}
