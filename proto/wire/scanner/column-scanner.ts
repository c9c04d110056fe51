// The scanner's second mode: turns bodies that ingest validated into columns in the module's memory, without an object
// per event. Its caller names the auto properties with columns. It knows no step of enrichment, only the means that
// steps use: properties to drop, properties to add to each event, texts to write into rows.

import type { WellKnownKinds } from '../well-known-kinds.ts';
import { type AddedProperty, addedBytes, mapVariants, writeAdded } from './added-property.ts';
import * as layout from './assembly/columns/column-layout.ts';
import { bodyBase } from './assembly/layout.ts';
import { CellOutcomes } from './cell-outcomes.ts';
import { type ColumnRoom, type ColumnViews, type TextViews, viewColumns } from './column-views.ts';
import { instantiateScanner, type ScannerLimits, type ScannerModule } from './module.ts';
import { readViolation, type ScannerViolation } from './verdict.ts';

interface ColumnScannerOptions {
  readonly limits: ScannerLimits;
  readonly wellKnown: WellKnownKinds;
  /** Auto properties by slot: exactly 22 with a column, then 6 that may be dropped or added. */
  readonly properties: readonly string[];
  /** The slots of the texts that a row's outcome depends on. */
  readonly textsRead: readonly number[];
  /** Room for rows. A body is appended only while `limits.maxEventsPerRequest` rows are free. */
  readonly maxRows: number;
  /** Room for the text of one column or map, in bytes: at least the largest body. */
  readonly maxBytes: number;
}

type Appended =
  | { kind: 'appended' }
  /** Nothing was added, for want of room beside the present rows. Without any rows, the body never fits. */
  | { kind: 'full' }
  | ScannerViolation;

/** With these bounds all regions together stay far below 4 GiB. */
const mostRows = 1_000_000;
const mostBytes = 128 << 20;

/** The step in which the module copies texts, in bytes. */
const copyStep = 16;

const appended: Appended = { kind: 'appended' };
const full: Appended = { kind: 'full' };

/** Columns under construction, with their own module instance and memory: one per thread. */
export class ColumnScanner {
  /** The texts that enrichment writes into rows. `clear` forgets them. */
  readonly outcomes: CellOutcomes;
  readonly #module: ScannerModule;
  readonly #properties: readonly string[];
  readonly #functions: ReturnType<typeof functionsOf>;
  readonly #origin: number;
  readonly #room: ColumnRoom;
  readonly #encoder = new TextEncoder();
  #memory: ArrayBuffer;
  #bytes: Buffer;
  #words: Int32Array;
  #views: ColumnViews;

  /** Throws where memory cannot grow, or where `properties` has not exactly the module's number of slots. */
  constructor(options: ColumnScannerOptions) {
    const { limits, wellKnown, properties, textsRead, maxRows, maxBytes } = options;
    this.#properties = properties;
    this.#module = instantiateScanner(limits, wellKnown);
    this.#functions = functionsOf(this.#module);
    this.outcomes = new CellOutcomes(this.#module, textsRead);
    if (properties.length !== layout.propertySlots) {
      throw new Error('column scanner: other slots than the module has');
    }
    if (maxRows > mostRows || maxBytes > mostBytes) {
      throw new Error('column scanner: more than addresses of 32 bits reach');
    }
    const names = new Uint8Array(this.#module.memory.buffer, bodyBase);
    for (const [slot, name] of properties.entries()) {
      const { written } = this.#encoder.encodeInto(name, names);
      if (this.#functions.addPropertySlot(slot, written) === 0) {
        throw new Error(`long name: ${name}`);
      }
    }
    this.#origin = this.#functions.startColumns(maxRows, maxBytes);
    if (this.#origin === 0) throw new Error('column scanner: out of memory');
    this.#room = { rows: maxRows, bytes: maxBytes, entries: this.#functions.roomForEntries() };
    this.#memory = this.#module.memory.buffer;
    this.#bytes = Buffer.from(this.#memory);
    this.#words = new Int32Array(this.#memory);
    this.#views = viewColumns(this.#memory, this.#functions.regionOf, this.#room);
  }

  get rows(): number {
    return this.#functions.rowCount();
  }

  /** The rows so far: valid until the next call of `append` or `textsOf`. */
  get views(): ColumnViews {
    return this.#views;
  }

  /** The module's memory, which never shrinks. */
  get memoryBytes(): number {
    return this.#memory.byteLength;
  }

  /** One more than the largest cell. */
  get cells(): number {
    return this.#functions.internedTexts();
  }

  /** Forgets all rows; cells keep their meaning. */
  clearRows(): void {
    this.#functions.forgetRows();
  }

  /** Forgets all rows and texts, and keeps the memory. */
  clear(): void {
    this.#functions.forgetAll();
  }

  /**
   * Sets the policy for the bodies to come: properties whose slot has a bit in `dropped` are left out, and up to 8
   * properties of `added` are put in. False where there is no room for their names.
   */
  setPolicy(dropped: number, added: readonly AddedProperty[]): boolean {
    if (added.length > layout.maxExtras) throw new Error('column scanner: too many properties');
    for (const [index, property] of added.entries()) {
      if (!this.#putAdded(index, property)) return false;
    }
    this.#functions.setPolicy(dropped, added.length);
    return true;
  }

  /** Adds all events of a body, or none, each moved by `timeShiftMs`. The body is known to be valid UTF-8. */
  append(body: Uint8Array, receiveTimeMs: number, timeShiftMs = 0): Appended {
    if (this.#functions.reserve(body.length) === 0) return full;
    this.#renew();
    this.#bytes.set(body, this.#origin);
    this.#functions.shiftTimes(timeShiftMs);
    const outcome = this.#functions.append(body.length, receiveTimeMs);
    this.#renew();
    if (outcome === 0) return appended;
    const names = this.#module.propertyNames;
    const violation =
      outcome === 1 ? readViolation(this.#words, body, this.#origin, names) : undefined;
    return violation ?? full;
  }

  /** Takes back the rows of the body that was appended last. */
  dropBody(): void {
    this.#functions.dropBody();
  }

  /** The cell of a text in the column of `slot`; undefined where there is no room for the text. */
  cellOf(slot: number, text: string): number | undefined {
    return this.#intern(slot, text);
  }

  /** The text of a cell of any column. */
  textOf(cell: number): string {
    if (cell === 0) return '';
    const start = this.#functions.textOf(cell);
    return this.#bytes.toString('utf8', start, start + this.#functions.textLengthOf(cell));
  }

  /**
   * The texts of each of these columns, one text after the other: valid until the next call of `append`. Undefined
   * where there is no room to write them.
   */
  textsOf(slots: readonly number[]): TextViews[] | undefined {
    const { rows } = this;
    const endBytes = (rows + 1) * 4;
    const columns = slots.map((slot) => {
      const cells = this.#functions.regionOf(layout.regionTexts + slot);
      return { cells, textBytes: this.#functions.textBytes(cells, rows) };
    });
    const spaceOf = (textBytes: number): number => alignedUp(endBytes + textBytes + copyStep);
    const space = columns.reduce((sum, { textBytes }) => sum + spaceOf(textBytes), 0);
    if (this.#functions.reserve(space) === 0) return undefined;
    this.#renew();
    let at = this.#origin;
    return columns.map(({ cells, textBytes }) => {
      const [ends, bytes] = [at, at + endBytes];
      this.#functions.writeTexts(cells, rows, ends, bytes);
      at += spaceOf(textBytes);
      return {
        ends: new Int32Array(this.#memory, ends, rows + 1),
        bytes: new Uint8Array(this.#memory, bytes, textBytes),
      };
    });
  }

  #putAdded(index: number, property: AddedProperty): boolean {
    const map = mapVariants.indexOf(property.variant);
    const name = this.#properties[property.slot] ?? '';
    const key = this.#intern(layout.keyDictionaries + map, name);
    if (key === undefined) return false;
    const at = this.#functions.regionOf(layout.regionExtras) + index * addedBytes;
    writeAdded(new DataView(this.#memory, at, addedBytes), property, map, key);
    return true;
  }

  #intern(dictionary: number, text: string): number | undefined {
    if (text === '') return 0;
    const scratch = this.#functions.regionOf(layout.regionScratch);
    const room = this.#bytes.subarray(scratch, scratch + layout.scratchBytes);
    const { read, written } = this.#encoder.encodeInto(text, room);
    const cell = read < text.length ? 0 : this.#functions.internScratch(dictionary, written);
    return cell === 0 ? undefined : cell;
  }

  /** Memory that grows gets another buffer, and views of the old one are empty. */
  #renew(): void {
    if (this.#bytes.length !== 0) return;
    this.#memory = this.#module.memory.buffer;
    this.#bytes = Buffer.from(this.#memory);
    this.#words = new Int32Array(this.#memory);
    this.#views = viewColumns(this.#memory, this.#functions.regionOf, this.#room);
  }
}

function alignedUp(bytes: number): number {
  return Math.ceil(bytes / copyStep) * copyStep;
}

function functionsOf(module: ScannerModule) {
  return {
    addPropertySlot: module.exported('addPropertySlot'),
    append: module.exported('append'),
    dropBody: module.exported('dropBody'),
    forgetAll: module.exported('forgetAll'),
    forgetRows: module.exported('forgetRows'),
    internedTexts: module.exported('internedTexts'),
    internScratch: module.exported('internScratch'),
    regionOf: module.exported('regionOf'),
    reserve: module.exported('reserve'),
    roomForEntries: module.exported('roomForEntries'),
    rowCount: module.exported('rowCount'),
    setPolicy: module.exported('setPolicy'),
    shiftTimes: module.exported('shiftTimes'),
    startColumns: module.exported('startColumns'),
    textBytes: module.exported('textBytes'),
    textLengthOf: module.exported('textLengthOf'),
    textOf: module.exported('textOf'),
    writeTexts: module.exported('writeTexts'),
  };
}
