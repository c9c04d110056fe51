// The rows of a batch as columns: views of the scanner's memory, or copies of some of their rows. The layout is
// Apache Arrow's, except that truth takes a byte.

/** Texts one after the other: text n lies from `ends[n]` to `ends[n + 1]`. */
export interface TextColumn {
  readonly ends: Int32Array;
  readonly bytes: Uint8Array;
}

/** Entries of row n lie from `ends[n]` to `ends[n + 1]`; `keys` are numbers in the map's dictionary of keys. */
export interface MapColumns {
  readonly ends: Int32Array[];
  readonly keys: Int32Array[];
  readonly strings: TextColumn;
  readonly ints: BigInt64Array;
  readonly doubles: Float64Array;
  /** One byte each. */
  readonly bools: Uint8Array;
  readonly times: BigInt64Array;
}

/** Views of the module's memory: good until the next call that appends, clears or asks for texts. */
export interface ColumnViews {
  readonly rows: number;
  /** Sixteen bytes a row, in the order of a UUID's text. */
  readonly eventIds: Uint8Array;
  /** Likewise; zeros for a cookieless event. */
  readonly sessionIds: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly occurTimes: BigInt64Array;
  /** One byte a row. */
  readonly cookieless: Uint8Array;
  /** Numbers in `kindDictionary`. */
  readonly kinds: Int32Array;
  /** A bit for each slot whose property the row has, of whatever type. */
  readonly present: Uint32Array;
  /** Empty for a cookieless event. */
  readonly distinctIds: TextColumn;
  /** By slot: numbers in the slot's dictionary, or cells for `plainText`; 0 is the empty text, which means absent. */
  readonly texts: readonly Int32Array[];
  readonly maps: MapColumns;
}

/** The given rows, in that order, as columns of their own. */
export function selectRows(from: ColumnViews, rows: Uint32Array): ColumnViews {
  return {
    rows: rows.length,
    eventIds: selectBytes(from.eventIds, 16, rows),
    sessionIds: selectBytes(from.sessionIds, 16, rows),
    occurTimes: BigInt64Array.from(rows, (row) => from.occurTimes[row] ?? 0n),
    cookieless: selectBytes(from.cookieless, 1, rows),
    kinds: select32(from.kinds, rows),
    present: Uint32Array.from(rows, (row) => from.present[row] ?? 0),
    distinctIds: selectTexts(from.distinctIds, rows),
    texts: from.texts.map((cells) => select32(cells, rows)),
    maps: selectMaps(from.maps, rows),
  };
}

function selectBytes(from: Uint8Array, width: number, rows: Uint32Array): Uint8Array {
  const to = new Uint8Array(rows.length * width);
  for (const [at, row] of rows.entries()) {
    for (let byte = 0; byte < width; byte++) to[at * width + byte] = from[row * width + byte] ?? 0;
  }
  return to;
}

function select32(from: Int32Array, rows: Uint32Array): Int32Array {
  return Int32Array.from(rows, (row) => from[row] ?? 0);
}

function selectTexts(from: TextColumn, rows: Uint32Array): TextColumn {
  const ends = new Int32Array(rows.length + 1);
  const parts: Uint8Array[] = [];
  for (const [at, row] of rows.entries()) {
    const part = from.bytes.subarray(from.ends[row], from.ends[row + 1]);
    parts.push(part);
    ends[at + 1] = (ends[at] ?? 0) + part.length;
  }
  return { ends, bytes: Buffer.concat(parts) };
}

function selectMaps(from: MapColumns, rows: Uint32Array): MapColumns {
  const picked = from.ends.map((ends) => entriesOf(ends, rows));
  const entries = (map: number): Uint32Array => picked[map]?.entries ?? new Uint32Array();
  return {
    ends: picked.map(({ ends }) => ends),
    keys: from.keys.map((keys, map) => select32(keys, entries(map))),
    strings: selectTexts(from.strings, entries(0)),
    ints: BigInt64Array.from(entries(1), (entry) => from.ints[entry] ?? 0n),
    doubles: Float64Array.from(entries(2), (entry) => from.doubles[entry] ?? 0),
    bools: selectBytes(from.bools, 1, entries(3)),
    times: BigInt64Array.from(entries(4), (entry) => from.times[entry] ?? 0n),
  };
}

/** The entries that the rows have in a map, and where those of each row end. */
function entriesOf(
  from: Int32Array,
  rows: Uint32Array,
): { ends: Int32Array; entries: Uint32Array } {
  const ends = new Int32Array(rows.length + 1);
  const entries: number[] = [];
  for (const [at, row] of rows.entries()) {
    for (let entry = from[row] ?? 0; entry < (from[row + 1] ?? 0); entry++) entries.push(entry);
    ends[at + 1] = entries.length;
  }
  return { ends, entries: Uint32Array.from(entries) };
}
