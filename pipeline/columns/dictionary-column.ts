// The growable column of texts with few distinct values: it holds each text once, and rows hold the text's index.

import type { Hash } from 'node:crypto';
import { type Data, Dictionary, Int8, Int16, Int32, makeData, Utf8, Vector } from 'apache-arrow';
import { type ColumnBuffer, Int32Buffer } from './column-buffers.ts';
import { TextColumn } from './text-column.ts';

/** The type of a row: the index of its text. */
type Index = Int8 | Int16 | Int32;
export type TextDictionary = Dictionary<Utf8, Index>;

const separator = '\0';
const firstCells = 4_096;

/**
 * For each cell of a scanner the index of its text in the one dictionary that the cell belongs to, plus one; 0 where
 * the index is not known yet. So a text is decoded once, however many rows have it.
 */
export class CellPlaces {
  array = new Int32Array(firstCells);
  textOf: (cell: number) => string = String;

  /** The cells to come are below `cells`; `textOf` gives a cell's text. */
  expect(cells: number, textOf: (cell: number) => string): void {
    this.textOf = textOf;
    if (cells <= this.array.length) return;
    const larger = new Int32Array(Math.max(cells, this.array.length * 2));
    larger.set(this.array);
    this.array = larger;
  }

  /** To be called when cells get other meanings. */
  clear(): void {
    this.array.fill(0);
  }
}

export class DictionaryColumn implements ColumnBuffer {
  readonly #rows = new Int32Buffer();
  readonly #values = new TextColumn();
  readonly #indexOf = new Map<string, number>();
  readonly #id: number;
  readonly #holds: 'texts' | 'bytes';
  /** By index; empty until a row is read. */
  #texts: readonly string[] = [];
  #lastText: string | undefined;
  #lastIndex = 0;
  /** Rows that repeat the last text and are not in `#rows` yet: most columns repeat for whole requests. */
  #repeats = 0;

  /**
   * `id` names the dictionary within its stream. One that holds bytes takes them as texts whose characters are a byte
   * each.
   */
  constructor(id: number, holds: 'texts' | 'bytes' = 'texts') {
    this.#id = id;
    this.#holds = holds;
  }

  get length(): number {
    return this.#rows.length + this.#repeats;
  }

  push(text: string): void {
    this.pushRepeated(text, 1);
  }

  pushRepeated(text: string, count: number): void {
    if (text !== this.#lastText) {
      this.#writeRepeats();
      this.#lastIndex = this.#placeOf(text);
      this.#lastText = text;
    }
    this.#repeats += count;
  }

  /** Adds the texts of the cells from `from` to before `to`. */
  pushCells(cells: Int32Array, from: number, to: number, places: CellPlaces): void {
    this.#writeRepeats();
    const known = places.array;
    const start = this.#rows.extend(to - from);
    const rows = this.#rows.array;
    let last = -1;
    let place = 0;
    for (let row = from; row < to; row++) {
      const cell = cells[row] ?? 0;
      if (cell !== last) {
        place = known[cell] ?? 0;
        // Cell 0 is the empty text in every dictionary.
        if (cell === 0) place = this.#placeOf('') + 1;
        else if (place === 0) known[cell] = place = this.#placeOf(places.textOf(cell)) + 1;
        last = cell;
      }
      rows[start + row - from] = place - 1;
    }
  }

  /** The index of a text among the column's texts; undefined where no row has it. */
  indexOf(text: string): number | undefined {
    return this.#indexOf.get(text);
  }

  /** The index of each row's text; a view. */
  indices(): Int32Array {
    this.#writeRepeats();
    return this.#rows.view();
  }

  at(row: number): string {
    this.#writeRepeats();
    // Decoding a text once costs less than reading its bytes in a second row.
    if (this.#texts.length !== this.#indexOf.size) this.#texts = [...this.#indexOf.keys()];
    return this.#texts[this.#rows.array[row] ?? 0] ?? '';
  }

  clear(): void {
    this.#repeats = 0;
    this.#rows.clear();
    this.#values.clear();
    this.#indexOf.clear();
    this.#texts = [];
    this.#lastText = undefined;
  }

  keep(rows: Uint32Array): void {
    this.#writeRepeats();
    this.#rows.keep(rows);
  }

  data(): Data<TextDictionary> {
    this.#writeRepeats();
    const { indices, data } = narrowest(this.#rows.view(), this.#values.length);
    return makeData({
      type: new Dictionary<Utf8, Index>(new Utf8(), indices, this.#id, false),
      length: this.length,
      data,
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

  /** The text's index among the values; adds a text that is not among them. */
  #placeOf(text: string): number {
    const known = this.#indexOf.get(text);
    if (known !== undefined) return known;
    const index = this.#values.length;
    if (this.#holds === 'bytes') this.#values.pushBytes(text);
    else this.#values.push(text);
    this.#indexOf.set(text, index);
    return index;
  }
}

/**
 * The narrowest type that holds every index: rows of few texts are a quarter as many bytes in each of the five copies
 * on their way to the engine's memory.
 */
function narrowest(
  rows: Int32Array,
  texts: number,
): { indices: Index; data: Int8Array | Int16Array | Int32Array } {
  if (texts <= 2 ** 7) return { indices: new Int8(), data: new Int8Array(rows) };
  if (texts <= 2 ** 15) return { indices: new Int16(), data: new Int16Array(rows) };
  return { indices: new Int32(), data: rows };
}
