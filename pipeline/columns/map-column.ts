// The growable column of maps from texts to values of one type. The keys of all rows share one dictionary.

import { type Data, type DataType, Field, Map_, makeData, Struct } from 'apache-arrow';
import type { MapViews } from '../../proto/wire/scanner/column-views.ts';
import type { PropertyScalar } from '../enrich/event-row.ts';
import { type ColumnBuffer, Int32Buffer } from './column-buffers.ts';
import { type CellPlaces, DictionaryColumn, type TextDictionary } from './dictionary-column.ts';

/** A column that can hold a map's values. */
export interface ValueBuffer extends ColumnBuffer {
  push(value: PropertyScalar): void;
  at(index: number): PropertyScalar;
}

/** A map a row: its entries lie in `keys` and `values`, one after the other. */
export class MapColumn<Values extends ValueBuffer> implements ColumnBuffer {
  readonly #keys: DictionaryColumn;
  readonly #values: Values;
  readonly #ends = new Int32Buffer();

  constructor(keysId: number, values: Values) {
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

  /** Adds the rows from `from` to before `to`; `pushValues` must add the values of the entries that it is given. */
  pushRows<Others>(
    { ends, keys, values }: MapViews<Others>,
    from: number,
    to: number,
    places: CellPlaces,
    pushValues: (own: Values, others: Others, from: number, to: number) => void,
  ): void {
    const first = ends[from] ?? 0;
    const end = ends[to] ?? 0;
    this.#keys.pushCells(keys, first, end, places);
    pushValues(this.#values, values, first, end);
    this.#ends.pushEnds(ends, from, to);
  }

  /** Hands the entries of a row to `take`, in the order sent, without those whose key `wants` refuses. */
  readRow(
    row: number,
    wants: (key: string) => boolean,
    take: (key: string, value: PropertyScalar) => void,
  ): void {
    const ends = this.#ends.array;
    const to = ends[row + 1] ?? 0;
    for (let entry = ends[row] ?? 0; entry < to; entry++) {
      const key = this.#keys.at(entry);
      if (wants(key)) take(key, this.#values.at(entry));
    }
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
    const entry = new Struct<{ key: TextDictionary; value: DataType }>([
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
