// The scanner's second mode: bodies that were validated once become columns in the module's memory, as Apache Arrow
// lays them out, without an object per event. It knows which auto properties have columns of their own because it is
// told, and nothing of enrichment but its means: what is dropped, what is added to each event, which cells are
// written over.

import { randomBytes } from 'node:crypto';
import { type AddedProperty, addedBytes, mapVariants, writeAdded } from './added-property.ts';
import type { ColumnViews, TextColumn } from './column-views.ts';
import * as layout from './scanner/column-layout.ts';
import { bodyBase } from './scanner/layout.ts';
import { instantiateScanner, type ScannerLimits, type ScannerModule } from './scanner-module.ts';
import { readRefusal, type ScannerRefusal } from './scanner-verdict.ts';
import type { WasmFunction } from './web-assembly.ts';
import type { WellKnownKinds } from './well-known-kinds.ts';

export interface ColumnScannerOptions {
  readonly limits: ScannerLimits;
  readonly wellKnown: WellKnownKinds;
  /** Auto properties with a column of their own, by slot: exactly 22. */
  readonly columns: readonly { readonly property: string; readonly lowCardinality: boolean }[];
  /** Auto properties without one that may be dropped or added, the slots that follow: exactly 6. */
  readonly otherProperties: readonly string[];
  /** Rows of one batch, of which the last body may need `limits.maxEventsPerRequest`. */
  readonly maxRows: number;
  /** Bytes of text of one sort in one batch; at least the largest body. */
  readonly maxBytes: number;
}

export type Appended =
  | { kind: 'appended'; firstRow: number; rows: number }
  /** Nothing was added: there is no room beside what is there. With an empty batch, there never is. */
  | { kind: 'full' }
  | ScannerRefusal;

/** Number of the dictionary of kinds; those of texts are their slots. */
export const kindDictionary = layout.kindDictionary;

/** Number of the dictionary of a map's keys, by the place of its variant in `mapVariants`. */
export function keyDictionary(map: number): number {
  return layout.keyDictionaries + map;
}

/** Up to here all regions together stay far below 4 GiB. */
const mostRows = 1_000_000;
const mostBytes = 128 << 20;

/** Columns under construction, with a module and a memory of their own: one per thread. */
export class ColumnScanner {
  readonly #module: ScannerModule;
  readonly #options: ColumnScannerOptions;
  readonly #origin: number;
  readonly #functions = new Map<string, WasmFunction>();
  readonly #encoder = new TextEncoder();
  readonly #decoder = new TextDecoder();
  /** For each dictionary the entries by their numbers, as far as `#entriesSeen`. */
  #entries: number[][] = [];
  #entriesSeen = 1;
  #memory: ArrayBuffer;
  #bytes: Uint8Array;
  #words: Int32Array;

  /** Throws where there is no memory, or the slots are not as many as the module has. */
  constructor(options: ColumnScannerOptions) {
    const { columns, otherProperties } = options;
    this.#options = options;
    this.#module = instantiateScanner(options.limits, options.wellKnown);
    this.#memory = this.#module.memory.buffer;
    this.#bytes = new Uint8Array(this.#memory);
    this.#words = new Int32Array(this.#memory);
    const names = [...columns.map(({ property }) => property), ...otherProperties];
    if (columns.length !== layout.textColumns || names.length !== layout.propertySlots) {
      throw new Error('column scanner: other slots than the module has');
    }
    if (options.maxRows > mostRows || options.maxBytes > mostBytes) {
      throw new Error('column scanner: more than addresses of 32 bits reach');
    }
    for (const [slot, name] of names.entries()) {
      const { written } = this.#encoder.encodeInto(name, this.#bytes.subarray(bodyBase));
      if (this.#call('addPropertySlot', slot, written) === 0) throw new Error(`long name: ${name}`);
    }
    const plain = columns.reduce((bits, { lowCardinality }, slot) => {
      return lowCardinality ? bits : bits | (1 << slot);
    }, 0);
    const { maxRows, maxBytes } = options;
    this.#origin = this.#call('startColumns', maxRows, maxBytes, plain, randomDouble());
    if (this.#origin === 0) throw new Error('column scanner: out of memory');
    this.#renew();
    this.clear();
  }

  get rows(): number {
    return this.#call('rowCount');
  }

  /** Forgets all rows and texts; memory is kept. */
  clear(): void {
    this.#call('beginBatch');
    this.#entries = Array.from({ length: layout.dictionaries }, () => [0]);
    this.#entriesSeen = 1;
  }

  /**
   * For the bodies to come: properties with a bit in `dropped`, by slot, are left out, and those of `added` put in,
   * at most 8 of them.
   */
  setPolicy(dropped: number, added: readonly AddedProperty[]): void {
    if (added.length > layout.maxExtras) throw new Error('column scanner: too many properties');
    for (const [index, property] of added.entries()) this.#putAdded(index, property);
    this.#call('setPolicy', dropped, added.length);
  }

  /** Adds the events of a body of valid UTF-8: all of them or none. */
  append(body: Uint8Array, receiveTimeMs: number): Appended {
    if (this.#call('reserve', body.length) === 0) return { kind: 'full' };
    this.#renew();
    this.#bytes.set(body, this.#origin);
    const firstRow = this.rows;
    const outcome = this.#call('append', body.length, receiveTimeMs);
    this.#renew();
    if (outcome === 0) return { kind: 'appended', firstRow, rows: this.rows - firstRow };
    const names = this.#module.propertyNames;
    const refusal = outcome === 1 ? readRefusal(this.#words, body, this.#origin, names) : undefined;
    return refusal ?? { kind: 'full' };
  }

  /** What a cell of a text column holds for `text`; undefined where there is no room for it. */
  cellOf(slot: number, text: string): number | undefined {
    if (text === '') return 0;
    const entry = this.#internText(slot, text);
    if (entry === 0) return undefined;
    return this.#isPlain(slot) ? entry : this.#call('numberOfEntry', entry);
  }

  /** The text that a cell of a text column means. */
  textOf(slot: number, cell: number): string {
    if (cell === 0) return '';
    return this.#textOfEntry(this.#isPlain(slot) ? cell : this.#entryOf(slot, cell));
  }

  /** The rows so far. The columns of texts may be written to, with what `cellOf` answers. */
  views(): ColumnViews {
    const rows = this.rows;
    const count = (map: number): number => this.#call('mapEntryCount', map);
    const values = (map: number): number => this.#region(layout.regionMapValues + map);
    const maps = Array.from({ length: layout.maps }, (_, map) => map);
    return {
      rows,
      eventIds: this.#view8(layout.regionEventIds, rows * 16),
      sessionIds: this.#view8(layout.regionSessionIds, rows * 16),
      occurTimes: new BigInt64Array(this.#memory, this.#region(layout.regionTimes), rows),
      cookieless: this.#view8(layout.regionCookieless, rows),
      kinds: this.#view32(layout.regionKinds, rows),
      present: new Uint32Array(this.#memory, this.#region(layout.regionPresent), rows),
      distinctIds: {
        ends: this.#view32(layout.regionDistinctEnds, rows + 1),
        bytes: this.#view8(layout.regionDistinctBytes, this.#call('distinctByteCount')),
      },
      texts: Array.from({ length: layout.textColumns }, (_, slot) =>
        this.#view32(layout.regionTexts + slot, rows),
      ),
      maps: {
        ends: maps.map((map) => this.#view32(layout.regionMapEnds + map, rows + 1)),
        keys: maps.map((map) => this.#view32(layout.regionMapKeys + map, count(map))),
        strings: {
          ends: this.#view32(layout.regionMapValues, count(0) + 1),
          bytes: this.#view8(layout.regionStringBytes, this.#call('stringByteCount')),
        },
        ints: new BigInt64Array(this.#memory, values(1), count(1)),
        doubles: new Float64Array(this.#memory, values(2), count(2)),
        bools: this.#view8(layout.regionMapValues + 3, count(3)),
        times: new BigInt64Array(this.#memory, values(4), count(4)),
      },
    };
  }

  /** The texts of a dictionary by their numbers: a copy. */
  dictionary(dictionary: number): TextColumn {
    const size = this.#call('dictionarySize', dictionary);
    const length = this.#call('dictionaryBytes', dictionary);
    return this.#written(size, length, (ends, bytes) => {
      this.#call('writeDictionary', dictionary, ends, bytes);
    });
  }

  /** The texts of a column without a dictionary, from its cells: a copy. */
  plainTexts(cells: Int32Array): TextColumn {
    const at = this.#free(cells.length * 4);
    new Int32Array(this.#memory, at, cells.length).set(cells);
    const length = this.#call('plainBytes', at, cells.length);
    return this.#written(
      cells.length,
      length,
      (ends, bytes) => {
        this.#call('writePlain', at, cells.length, ends, bytes);
      },
      cells.length * 4,
    );
  }

  /** Lets `write` fill ends and bytes behind the columns, `offset` bytes on, and takes them out. */
  #written(
    count: number,
    length: number,
    write: (ends: number, bytes: number) => void,
    offset = 0,
  ): TextColumn {
    const ends = this.#free(offset + (count + 1) * 4 + length) + offset;
    const bytes = ends + (count + 1) * 4;
    write(ends, bytes);
    return {
      ends: new Int32Array(this.#memory, ends, count + 1).slice(),
      bytes: this.#bytes.slice(bytes, bytes + length),
    };
  }

  /** Where `length` bytes may be written, until the next call that appends. */
  #free(length: number): number {
    if (this.#call('reserve', length) === 0) throw new Error('column scanner: out of memory');
    this.#renew();
    return this.#origin;
  }

  #putAdded(index: number, property: AddedProperty): void {
    const { columns, otherProperties } = this.#options;
    const { slot } = property;
    const name = columns[slot]?.property ?? otherProperties[slot - columns.length] ?? '';
    const map = mapVariants.indexOf(property.variant);
    const key = this.#internText(keyDictionary(map), name);
    const number = this.#call('numberOfEntry', key);
    const at = this.#region(layout.regionExtras) + index * addedBytes;
    writeAdded(new DataView(this.#memory, at, addedBytes), property, map, number);
  }

  #internText(dictionary: number, text: string): number {
    const scratch = this.#region(layout.regionScratch);
    const room = this.#bytes.subarray(scratch, scratch + layout.scratchBytes);
    const { read, written } = this.#encoder.encodeInto(text, room);
    return read < text.length ? 0 : this.#call('internScratch', dictionary, written);
  }

  #textOfEntry(entry: number): string {
    const start = this.#call('textOf', entry);
    const end = start + this.#call('textLengthOf', entry);
    return this.#decoder.decode(this.#bytes.subarray(start, end));
  }

  /** The entry of a number in a dictionary; entries are numbered in the order in which they were made. */
  #entryOf(dictionary: number, number: number): number {
    const made = this.#call('internedTexts');
    for (; this.#entriesSeen < made; this.#entriesSeen++) {
      const owner = this.#call('dictionaryOf', this.#entriesSeen);
      this.#entries[owner]?.push(this.#entriesSeen);
    }
    return this.#entries[dictionary]?.[number] ?? 0;
  }

  #isPlain(slot: number): boolean {
    return this.#options.columns[slot]?.lowCardinality === false;
  }

  #region(region: number): number {
    return this.#call('regionOf', region);
  }

  #view8(region: number, length: number): Uint8Array {
    return new Uint8Array(this.#memory, this.#region(region), length);
  }

  #view32(region: number, length: number): Int32Array {
    return new Int32Array(this.#memory, this.#region(region), length);
  }

  #call(name: string, ...values: number[]): number {
    let call = this.#functions.get(name);
    if (call === undefined) {
      call = this.#module.exported(name);
      this.#functions.set(name, call);
    }
    return call(...values);
  }

  /** Views end with the buffer that memory had before it grew. */
  #renew(): void {
    if (this.#bytes.length !== 0) return;
    this.#memory = this.#module.memory.buffer;
    this.#bytes = new Uint8Array(this.#memory);
    this.#words = new Int32Array(this.#memory);
  }
}

/** What hashes start from: nobody outside may know it. */
function randomDouble(): number {
  return randomBytes(8).readDoubleLE();
}
