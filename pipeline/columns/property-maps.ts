// The five columns of properties without a column of their own: one map for each type of value, in the order of
// `propertyMaps`. It knows the types, not which properties an event has.

import { Int64, TimestampMillisecond } from 'apache-arrow';
import { type PropertyVariant, propertyMaps } from '../../platform/clickhouse/event-columns.ts';
import type { ColumnViews } from '../../proto/wire/scanner/column-views.ts';
import type { PropertyScalar } from '../enrich/event-row.ts';
import { BoolColumn, Float64Column } from './column-buffers.ts';
import type { CellPlaces } from './dictionary-column.ts';
import { MapColumn, type ValueBuffer } from './map-column.ts';
import { TextColumn } from './text-column.ts';
import { Int64Column } from './word-columns.ts';

export class PropertyMaps {
  /** In the order of `propertyMaps`, whose indices are the variants of a row's properties. */
  readonly inOrder: readonly MapColumn<ValueBuffer>[];
  readonly #strings: MapColumn<TextColumn>;
  readonly #ints: MapColumn<Int64Column>;
  readonly #doubles: MapColumn<Float64Column>;
  readonly #bools: MapColumn<BoolColumn>;
  readonly #times: MapColumn<Int64Column>;

  /** `nextDictionary` names each map's dictionary of keys. */
  constructor(nextDictionary: () => number) {
    this.#strings = new MapColumn(nextDictionary(), new TextColumn());
    this.#ints = new MapColumn(nextDictionary(), new Int64Column(new Int64()));
    this.#doubles = new MapColumn(nextDictionary(), new Float64Column());
    this.#bools = new MapColumn(nextDictionary(), new BoolColumn());
    this.#times = new MapColumn(nextDictionary(), new Int64Column(new TimestampMillisecond('UTC')));
    this.inOrder = propertyMaps.map(({ variant }) => this.#mapOf(variant));
  }

  /** Adds the maps of the scanned rows from `from` to before `to`. */
  appendScanned(views: ColumnViews, from: number, to: number, places: CellPlaces): void {
    const { strings, ints, doubles, bools, times } = views;
    this.#strings.pushRows(strings, from, to, places, (own, texts, first, end) =>
      own.pushTexts(texts, first, end),
    );
    this.#ints.pushRows(ints, from, to, places, (own, words, first, end) =>
      own.pushWords(words, first, end),
    );
    this.#doubles.pushRows(doubles, from, to, places, (own, values, first, end) =>
      own.pushValues(values, first, end),
    );
    this.#bools.pushRows(bools, from, to, places, (own, bytes, first, end) =>
      own.pushBytes(bytes, first, end),
    );
    this.#times.pushRows(times, from, to, places, (own, words, first, end) =>
      own.pushWords(words, first, end),
    );
  }

  /** A row's properties whose names `wants` accepts. */
  read(row: number, wants: (name: string) => boolean): Map<string, PropertyScalar | Date> {
    const found = new Map<string, PropertyScalar | Date>();
    for (const map of this.inOrder) {
      map.readRow(row, wants, (name, value) => {
        found.set(name, map === this.#times ? new Date(Number(value)) : value);
      });
    }
    return found;
  }

  #mapOf(variant: PropertyVariant): MapColumn<ValueBuffer> {
    switch (variant) {
      case 'stringValue':
        return this.#strings;
      case 'intValue':
        return this.#ints;
      case 'doubleValue':
        return this.#doubles;
      case 'boolValue':
        return this.#bools;
      case 'timestampValue':
        return this.#times;
      default:
        return variant satisfies never;
    }
  }
}
