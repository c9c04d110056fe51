// The growable columns that hold text: plain, as a dictionary, and as maps from dictionary keys to values.

import type { Hash } from 'node:crypto';
import {
  type Data,
  type DataType,
  Dictionary,
  Field,
  Int32,
  Map_,
  makeData,
  Struct,
  Utf8,
  Vector,
} from 'apache-arrow';
import { type ColumnBuffer, Int32Buffer } from './column-buffers.ts';
import type { PropertyScalar } from './event-row.ts';

const separator = '\0';
const firstBytes = 16_384;
/** Up to here a loop over the characters is faster than the call that encodes UTF-8. */
const shortText = 24;
const maxUtf8PerCharacter = 3;

/** UTF-8 text. */
export class TextColumn implements ColumnBuffer {
  #bytes = Buffer.allocUnsafeSlow(firstBytes);
  /** Where each row ends; the first entry is 0. */
  readonly #ends = new Int32Buffer();
  #used = 0;

  constructor() {
    this.#ends.push(0);
  }

  get length(): number {
    return this.#ends.length - 1;
  }

  push(value: PropertyScalar): void {
    const text = String(value);
    const most = text.length * maxUtf8PerCharacter;
    if (this.#used + most > this.#bytes.length) this.#grow(this.#used + most);
    const ascii = text.length <= shortText && writeAscii(text, this.#bytes, this.#used);
    this.#used += ascii ? text.length : this.#bytes.write(text, this.#used);
    this.#ends.push(this.#used);
  }

  clear(): void {
    this.#used = 0;
    this.#ends.length = 1;
  }

  keep(rows: Uint32Array): void {
    const ends = this.#ends.array;
    let used = 0;
    for (let kept = 0; kept < rows.length; kept++) {
      const row = rows[kept] ?? 0;
      const from = ends[row] ?? 0;
      const to = ends[row + 1] ?? 0;
      // Rows ascend, so what is overwritten was read before.
      this.#bytes.copyWithin(used, from, to);
      used += to - from;
      ends[kept + 1] = used;
    }
    this.#used = used;
    this.#ends.length = rows.length + 1;
  }

  data(): Data<Utf8> {
    return makeData({
      type: new Utf8(),
      length: this.length,
      valueOffsets: this.#ends.view(),
      data: this.#bytes.subarray(0, this.#used),
    });
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#used);
    this.#bytes = larger;
  }
}

/** Text of few distinct values: each is written once, rows hold its index. */
export class DictionaryColumn implements ColumnBuffer {
  readonly #rows = new Int32Buffer();
  readonly #values = new TextColumn();
  readonly #indexOf = new Map<string, number>();
  readonly #type: Dictionary<Utf8, Int32>;
  #lastText: string | undefined;
  #lastIndex = 0;
  /** Rows that repeat the last text and are not in `#rows` yet: most columns repeat for whole requests. */
  #repeats = 0;

  /** `id` names the dictionary within its stream. */
  constructor(id: number) {
    this.#type = new Dictionary(new Utf8(), new Int32(), id, false);
  }

  get length(): number {
    return this.#rows.length + this.#repeats;
  }

  push(text: string): void {
    if (text !== this.#lastText) {
      this.#writeRepeats();
      this.#lastIndex = this.#indexOf.get(text) ?? this.#add(text);
      this.#lastText = text;
    }
    this.#repeats++;
  }

  clear(): void {
    this.#repeats = 0;
    this.#rows.clear();
    this.#values.clear();
    this.#indexOf.clear();
    this.#lastText = undefined;
  }

  keep(rows: Uint32Array): void {
    this.#writeRepeats();
    this.#rows.keep(rows);
  }

  data(): Data<Dictionary<Utf8, Int32>> {
    this.#writeRepeats();
    return makeData({
      type: this.#type,
      length: this.length,
      data: this.#rows.view(),
      dictionary: new Vector([this.#values.data()]),
    });
  }

  /** Feeds `hash` with the rows' texts in order. */
  updateHash(hash: Hash): void {
    this.#writeRepeats();
    for (const text of this.#indexOf.keys()) hash.update(text).update(separator);
    const rows = this.#rows.view();
    hash.update(new Uint8Array(rows.buffer, 0, rows.byteLength));
  }

  #writeRepeats(): void {
    this.#rows.pushRepeated(this.#lastIndex, this.#repeats);
    this.#repeats = 0;
  }

  #add(text: string): number {
    const index = this.#values.length;
    this.#values.push(text);
    this.#indexOf.set(text, index);
    return index;
  }
}

/** What a map's values are kept in. */
export interface ValueBuffer extends ColumnBuffer {
  push(value: PropertyScalar): void;
}

/** A map a row: its entries lie in `keys` and `values`, one after the other. */
export class MapColumn implements ColumnBuffer {
  readonly #keys: DictionaryColumn;
  readonly #values: ValueBuffer;
  readonly #ends = new Int32Buffer();

  constructor(keysId: number, values: ValueBuffer) {
    this.#keys = new DictionaryColumn(keysId);
    this.#values = values;
    this.#ends.push(0);
  }

  get length(): number {
    return this.#ends.length - 1;
  }

  /** Adds an entry to the row that `endRow` will close. */
  pushEntry(key: string, value: PropertyScalar): void {
    this.#keys.push(key);
    this.#values.push(value);
  }

  endRow(): void {
    this.#ends.push(this.#keys.length);
  }

  clear(): void {
    this.#keys.clear();
    this.#values.clear();
    this.#ends.length = 1;
  }

  keep(rows: Uint32Array): void {
    const ends = this.#ends.array;
    const entries = new Uint32Array(this.#keys.length);
    let used = 0;
    for (let kept = 0; kept < rows.length; kept++) {
      const row = rows[kept] ?? 0;
      const to = ends[row + 1] ?? 0;
      for (let entry = ends[row] ?? 0; entry < to; entry++) entries[used++] = entry;
      ends[kept + 1] = used;
    }
    this.#ends.length = rows.length + 1;
    this.#keys.keep(entries.subarray(0, used));
    this.#values.keep(entries.subarray(0, used));
  }

  data(): Data {
    const keys = this.#keys.data();
    const values = this.#values.data();
    const entry = new Struct<{ key: Dictionary<Utf8, Int32>; value: DataType }>([
      new Field('key', keys.type, false),
      new Field('value', values.type, false),
    ]);
    return makeData({
      type: new Map_(new Field('entries', entry, false)),
      length: this.length,
      valueOffsets: this.#ends.view(),
      child: makeData({ type: entry, length: keys.length, children: [keys, values] }),
    });
  }
}

/** Writes text of seven-bit characters; false, and nothing that counts, where it has others. */
function writeAscii(text: string, bytes: Uint8Array, at: number): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) return false;
    bytes[at + index] = code;
  }
  return true;
}
