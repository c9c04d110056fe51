// The growable column of texts that seldom repeat: it holds each row's text in full, in UTF-8.

import { type Data, makeData, Utf8 } from 'apache-arrow';
import type { TextViews } from '../../proto/wire/scanner/column-views.ts';
import type { PropertyScalar } from '../enrich/event-row.ts';
import { type ColumnBuffer, Int32Buffer } from './column-buffers.ts';

const firstBytes = 16_384;
/** Up to this length a loop over the characters is faster than the call that encodes UTF-8. */
const shortText = 24;
const maxUtf8PerCharacter = 3;

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

  /** Adds bytes, each of them a character of `bytes`. */
  pushBytes(bytes: string): void {
    const end = this.#used + bytes.length;
    if (end > this.#bytes.length) this.#grow(end);
    this.#used += this.#bytes.write(bytes, this.#used, 'latin1');
    this.#ends.push(this.#used);
  }

  /** Adds the texts from `from` to before `to`. */
  pushTexts({ ends, bytes }: TextViews, from: number, to: number): void {
    const text = bytes.subarray(ends[from], ends[to]);
    const used = this.#used + text.length;
    if (used > this.#bytes.length) this.#grow(used);
    this.#bytes.set(text, this.#used);
    this.#used = used;
    this.#ends.pushEnds(ends, from, to);
  }

  at(row: number): string {
    const ends = this.#ends.array;
    return this.#bytes.toString('utf8', ends[row] ?? 0, ends[row + 1] ?? 0);
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
      // Rows ascend: the bytes that this overwrites were copied before, or belong to rows that leave.
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

/** Writes text of seven-bit characters. False where it has others: the bytes written then mean nothing. */
function writeAscii(text: string, bytes: Uint8Array, at: number): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) return false;
    bytes[at + index] = code;
  }
  return true;
}
