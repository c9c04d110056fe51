// Views of a column scanner's rows in its module's memory. The layout is Apache Arrow's, with two exceptions: truth
// takes a byte, and texts that repeat are cells, the numbers by which the scanner knows a text. Views reach to the end
// of their region; bytes behind the last row mean nothing.

import * as layout from './assembly/columns/column-layout.ts';

/** Texts one after the other: text n lies from `ends[n]` to `ends[n + 1]`. */
export interface TextViews {
  readonly ends: Int32Array;
  readonly bytes: Uint8Array;
}

/** Entries of row n lie from `ends[n]` to `ends[n + 1]`; keys are cells. */
export interface MapViews<Values> {
  readonly ends: Int32Array;
  readonly keys: Int32Array;
  readonly values: Values;
}

export interface ColumnViews {
  /** Four words a row: sixteen bytes in the order of a UUID's text. */
  readonly eventIds: Uint32Array;
  /** Four words a row, in the same order; zeros for a cookieless event. */
  readonly sessionIds: Uint32Array;
  /** Two words a row, the low one first: milliseconds since the epoch. */
  readonly occurTimes: Uint32Array;
  readonly cookieless: Uint8Array;
  /** One cell a row. */
  readonly kinds: Int32Array;
  /** A bit for each slot whose property the row has, of any type. */
  readonly present: Uint32Array;
  /** Empty for a cookieless event. */
  readonly distinctIds: TextViews;
  /** Cells by slot: 0 is the empty text, which means absent. */
  readonly texts: readonly Int32Array[];
  readonly strings: MapViews<TextViews>;
  /** Two words a value, the low one first; times in milliseconds since the epoch. */
  readonly ints: MapViews<Uint32Array>;
  readonly doubles: MapViews<Float64Array>;
  /** One byte a value. */
  readonly bools: MapViews<Uint8Array>;
  readonly times: MapViews<Uint32Array>;
}

/** The room that a scanner has. */
export interface ColumnRoom {
  readonly rows: number;
  /** Bytes of text of one column or map. */
  readonly bytes: number;
  /** Entries of one map. */
  readonly entries: number;
}

/** Makes the views. `regionOf` returns the address at which a region of `memory` begins. */
export function viewColumns(
  memory: ArrayBuffer,
  regionOf: (region: number) => number,
  room: ColumnRoom,
): ColumnViews {
  const bytes = (region: number, length: number): Uint8Array =>
    new Uint8Array(memory, regionOf(region), length);
  const ints = (region: number, length: number): Int32Array =>
    new Int32Array(memory, regionOf(region), length);
  const words = (region: number, length: number): Uint32Array =>
    new Uint32Array(memory, regionOf(region), length);
  const map = <Values>(index: number, values: Values): MapViews<Values> => ({
    ends: ints(layout.regionMapEnds + index, room.rows + 1),
    keys: ints(layout.regionMapKeys + index, room.entries),
    values,
  });
  return {
    eventIds: words(layout.regionEventIds, room.rows * 4),
    sessionIds: words(layout.regionSessionIds, room.rows * 4),
    occurTimes: words(layout.regionTimes, room.rows * 2),
    cookieless: bytes(layout.regionCookieless, room.rows),
    kinds: ints(layout.regionKinds, room.rows),
    present: words(layout.regionPresent, room.rows),
    distinctIds: {
      ends: ints(layout.regionDistinctEnds, room.rows + 1),
      bytes: bytes(layout.regionDistinctBytes, room.bytes),
    },
    texts: Array.from({ length: layout.textColumns }, (_, slot) =>
      ints(layout.regionTexts + slot, room.rows),
    ),
    strings: map(0, {
      ends: ints(layout.regionMapValues, room.entries + 1),
      bytes: bytes(layout.regionStringBytes, room.bytes),
    }),
    ints: map(1, words(layout.regionMapValues + 1, room.entries * 2)),
    doubles: map(2, new Float64Array(memory, regionOf(layout.regionMapValues + 2), room.entries)),
    bools: map(3, bytes(layout.regionMapValues + 3, room.entries)),
    times: map(4, words(layout.regionMapValues + 4, room.entries * 2)),
  };
}
