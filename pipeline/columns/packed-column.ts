// The growable column of several texts in one. Few combinations of them come, mostly the same for many rows in turn, so
// that a row costs a look at its cells.

import type { Data } from 'apache-arrow';
import { packGap } from '../../platform/clickhouse/event-columns.ts';
import type { ColumnBuffer } from './column-buffers.ts';
import { DictionaryColumn, type TextDictionary } from './dictionary-column.ts';

const gap = String.fromCharCode(packGap);
const rememberedBits = 10;
const hashFactor = 0x9e3779b1;

/** The cells of a combination, and its bytes. */
interface Remembered {
  readonly cells: Int32Array;
  readonly packed: string;
}

export class PackedColumn implements ColumnBuffer {
  readonly #packs: DictionaryColumn;
  /** By the hash of their cells; a new one takes the place of an older one. */
  readonly #remembered: (Remembered | undefined)[] = Array(2 ** rememberedBits);
  readonly #cells: Int32Array;

  /** `id` names the dictionary within its stream; a row has `width` texts. */
  constructor(id: number, width: number) {
    this.#packs = new DictionaryColumn(id, 'bytes');
    this.#cells = new Int32Array(width);
  }

  get length(): number {
    return this.#packs.length;
  }

  push(texts: readonly string[]): void {
    this.#packs.push(packedOf(texts));
  }

  /**
   * Adds the rows from `from` to before `to`: of each text its cells, undefined where it is empty in all rows. `textOf`
   * gives a cell's text; cell 0 is the empty text.
   */
  pushCells(
    columns: readonly (Int32Array | undefined)[],
    from: number,
    to: number,
    textOf: (cell: number) => string,
  ): void {
    const filled = columns.filter((cells) => cells !== undefined);
    let start = from;
    for (let row = from + 1; row <= to; row++) {
      if (row < to && isRepeated(filled, row)) continue;
      for (const [index, cells] of columns.entries()) this.#cells[index] = cells?.[start] ?? 0;
      this.#packs.pushRepeated(this.#packedOf(textOf), row - start);
      start = row;
    }
  }

  /** One of a row's texts. */
  at(row: number, index: number): string {
    const own = this.#packs.at(row).split(gap)[index] ?? '';
    return Buffer.from(own, 'latin1').toString();
  }

  /** To be called when cells get other meanings. */
  forgetCells(): void {
    this.#remembered.fill(undefined);
  }

  clear(): void {
    this.#packs.clear();
    this.forgetCells();
  }

  keep(rows: Uint32Array): void {
    this.#packs.keep(rows);
  }

  data(): Data<TextDictionary> {
    return this.#packs.data();
  }

  /** The bytes of the texts of `#cells`. */
  #packedOf(textOf: (cell: number) => string): string {
    const cells = this.#cells;
    let hash = 0;
    for (const cell of cells) hash = Math.imul(hash ^ cell, hashFactor);
    const at = hash >>> (32 - rememberedBits);
    const known = this.#remembered[at];
    if (known?.cells.every((cell, index) => cell === cells[index])) return known.packed;
    const packed = packedOf(Array.from(cells, (cell) => (cell === 0 ? '' : textOf(cell))));
    this.#remembered[at] = { cells: cells.slice(), packed };
    return packed;
  }
}

/** The row has the same cells as the row before it. */
function isRepeated(columns: readonly Int32Array[], row: number): boolean {
  for (const cells of columns) if (cells[row] !== cells[row - 1]) return false;
  return true;
}

function packedOf(texts: readonly string[]): string {
  if (texts.every((text) => text === '')) return '';
  return texts.map((text) => Buffer.from(text).toString('latin1')).join(gap);
}
