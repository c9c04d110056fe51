// THE list of the columns of the table `events`, as one Arrow record batch: their order, how a row fills each, and the
// stream of bytes that the engine takes. It knows no SQL.
//
// A new column needs:
//   1. sql/migrations/: a migration that adds it to the table, at the same place as in the list. record-batch.test.ts
//      compares the list with the live table.
//   2. For an auto property, a line in platform/clickhouse/event-columns.ts, by which query reads too, and its place in
//      proto/wire/scanner/assembly/columns/column-layout.ts (`textColumns`; then `npm run build:wasm`). Nothing changes
//      here: the list takes those columns, and those that hold several of them, from there.
//   3. For any other column, a field, a line in the list, and its push in `append` and in `appendScanned`, or in
//      `appendOrigins` where it is the same for a whole request. A value from the body also needs a field of EventRow
//      (enrich/event-row.ts) and of ColumnViews (proto/wire/scanner/column-views.ts), with the scanner to fill it.
//   4. bench/harness/reference-arrow.ts: the same column, built the simple way, so that the comparison stays fair.
//   5. build/rows/scanned-rows.test.ts: an event that has it, for both paths of a body.

import type { Hash } from 'node:crypto';
import {
  type Data,
  Field,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimestampMillisecond,
  Uint64,
} from 'apache-arrow';
import { propertyMaps } from '../../platform/clickhouse/event-columns.ts';
import type { ColumnViews, TextViews } from '../../proto/wire/scanner/column-views.ts';
import type { EventRow, PropertyScalar } from '../enrich/event-row.ts';
import { BoolColumn, type ColumnBuffer, Uint16Column } from './column-buffers.ts';
import { CellPlaces, DictionaryColumn } from './dictionary-column.ts';
import { PackedColumn } from './packed-column.ts';
import { PropertyMaps } from './property-maps.ts';
import { TextColumn } from './text-column.ts';
import { type TextSlots, textOfProperty, textSlots } from './text-slots.ts';
import { VisitMarks } from './visit-marks.ts';
import { Int64Column, UuidColumn } from './word-columns.ts';

/** The message that a row came from. */
interface RowOrigin {
  shard: number;
  streamSeq: number;
}

/** What a single row tells of its event. */
export interface EventAtRow {
  /** Sixteen bytes; a view. */
  eventId: Uint8Array;
  distinctId: string;
  occurTimeMs: number;
  receiveTimeMs: number;
}

/** The rows that a column scanner holds: the fast path's form of many EventRows. */
export interface ScannedColumns {
  readonly views: ColumnViews;
  /** A bit for each text column that is not empty. */
  readonly slots: number;
  /** By slot, for the columns that are no dictionaries: every row's text in full. */
  readonly fullTexts: ReadonlyMap<number, TextViews>;
  /** The visitor's id of each cookieless row, by row. */
  readonly cookielessIds: Map<number, string>;
  /** One more than the largest cell. */
  readonly cells: number;
  /** The text of a cell. */
  textOf(cell: number): string;
}

const utc = new TimestampMillisecond('UTC');

/** The rows of a batch on their way into one record batch. */
export class EventColumns {
  readonly #projectId: DictionaryColumn;
  readonly #eventId = new UuidColumn();
  readonly #kind: DictionaryColumn;
  readonly #distinctId = new TextColumn();
  readonly #cookieless = new BoolColumn();
  readonly #sessionId = new UuidColumn();
  readonly #sessionDerived = new BoolColumn();
  readonly #occurTime = new Int64Column(utc);
  readonly #receiveTime = new Int64Column(utc);
  readonly #shard = new Uint16Column();
  readonly #streamSeq = new Int64Column(new Uint64());
  readonly #texts: readonly TextSlots[];
  readonly #maps: PropertyMaps;
  readonly #places = new CellPlaces();
  /** Every column under its name in the table, in the order of the record batch. */
  readonly #columns: readonly { readonly name: string; readonly buffer: ColumnBuffer }[];

  constructor() {
    // Dictionary ids are counted per batch, so that equal rows make equal bytes.
    let dictionaries = 0;
    const nextDictionary = () => dictionaries++;
    const dictionary = () => new DictionaryColumn(nextDictionary());
    this.#projectId = dictionary();
    this.#kind = dictionary();
    this.#texts = textSlots(nextDictionary);
    this.#maps = new PropertyMaps(nextDictionary);
    const visitMarks = new VisitMarks(
      this.#projectId,
      this.#kind,
      this.#sessionId,
      this.#occurTime,
    );
    this.#columns = [
      { name: 'project_id', buffer: this.#projectId },
      { name: 'event_id', buffer: this.#eventId },
      { name: 'kind', buffer: this.#kind },
      { name: 'distinct_id', buffer: this.#distinctId },
      { name: 'cookieless', buffer: this.#cookieless },
      { name: 'session_id', buffer: this.#sessionId },
      { name: 'session_derived', buffer: this.#sessionDerived },
      { name: 'visit_marks', buffer: visitMarks },
      { name: 'occur_time', buffer: this.#occurTime },
      { name: 'receive_time', buffer: this.#receiveTime },
      { name: 'shard', buffer: this.#shard },
      { name: 'stream_seq', buffer: this.#streamSeq },
      ...this.#texts,
      ...named(propertyMaps, this.#maps.inOrder),
    ];
  }

  /** Names of the columns, in order. */
  get names(): string[] {
    return this.#columns.map(({ name }) => name);
  }

  get rows(): number {
    return this.#eventId.length;
  }

  /** Two words a row, the lower one first: milliseconds since the epoch. A view. */
  get occurTimes(): Uint32Array {
    return this.#occurTime.words.subarray(0, this.rows * 2);
  }

  /** Feeds `hash` with the ids that tell each row from every other: event, session and project, in row order. */
  updateHash(hash: Hash): void {
    hash.update(this.#eventId.bytes());
    hash.update(this.#sessionId.bytes());
    this.#projectId.updateHash(hash);
  }

  append(row: EventRow, projectId: string, receiveTimeMs: number, origin: RowOrigin): void {
    this.appendOrigins(1, projectId, receiveTimeMs, origin);
    this.#eventId.push(row.eventId);
    this.#kind.push(row.kind);
    this.#distinctId.push(row.distinctId);
    this.#cookieless.push(row.cookieless);
    this.#sessionId.push(row.sessionId);
    this.#sessionDerived.push(row.sessionDerived);
    this.#occurTime.push(row.occurTimeMs);
    for (const { slot, endSlot, buffer } of this.#texts) {
      if (buffer instanceof PackedColumn) buffer.push(row.texts.slice(slot, endSlot));
      else buffer.push(row.texts[slot] ?? '');
    }
    const maps = this.#maps.inOrder;
    for (let index = 0; index < row.count; index++) {
      const map = maps[row.variants[index] ?? 0];
      map?.pushEntry(row.keys[index] ?? '', row.values[index] ?? '');
    }
    for (const map of maps) map.endRow();
  }

  /** Adds the origin of `count` rows of one request: one half of scanned rows; `appendScanned` adds the other. */
  appendOrigins(count: number, projectId: string, receiveTimeMs: number, origin: RowOrigin): void {
    this.#projectId.pushRepeated(projectId, count);
    this.#receiveTime.pushRepeated(receiveTimeMs, count);
    this.#shard.pushRepeated(origin.shard, count);
    this.#streamSeq.pushRepeated(origin.streamSeq, count);
  }

  /**
   * Adds the scanned rows from `from` to before `to`, without their origins, which are added apart in the same order.
   */
  appendScanned(scanned: ScannedColumns, from: number, to: number): void {
    const { views } = scanned;
    const places = this.#places;
    places.expect(scanned.cells, scanned.textOf);
    this.#eventId.pushWords(views.eventIds, from, to);
    this.#kind.pushCells(views.kinds, from, to, places);
    this.#appendDistinctIds(scanned, from, to);
    this.#cookieless.pushBytes(views.cookieless, from, to);
    this.#sessionId.pushWords(views.sessionIds, from, to);
    // A scanned event without a session is a cookieless one.
    this.#sessionDerived.pushBytes(views.cookieless, from, to);
    this.#occurTime.pushWords(views.occurTimes, from, to);
    const cells = views.texts.map((own, slot) =>
      (scanned.slots & (1 << slot)) === 0 ? undefined : own,
    );
    for (const { slot, endSlot, buffer } of this.#texts) {
      const own = cells[slot];
      const texts = scanned.fullTexts.get(slot);
      if (buffer instanceof PackedColumn) {
        buffer.pushCells(cells.slice(slot, endSlot), from, to, scanned.textOf);
      } else if (buffer instanceof DictionaryColumn) {
        if (own === undefined) buffer.pushRepeated('', to - from);
        else buffer.pushCells(own, from, to, places);
      } else if (texts !== undefined) buffer.pushTexts(texts, from, to);
      else throw new Error('columns: a scanned column is missing');
    }
    this.#maps.appendScanned(views, from, to, places);
  }

  /** To be called when the scanner's cells get other meanings. */
  forgetCells(): void {
    this.#places.clear();
    for (const { buffer } of this.#texts) if (buffer instanceof PackedColumn) buffer.forgetCells();
  }

  /** Sets a row's session to the four words of `ids` from `at` on. */
  putSession(row: number, ids: Uint32Array, at: number): void {
    this.#sessionId.replace(row, ids, at);
  }

  /** The texts of a column of few texts, to find rows by. */
  texts(column: 'project_id' | 'kind'): Pick<DictionaryColumn, 'indexOf' | 'indices' | 'at'> {
    return column === 'kind' ? this.#kind : this.#projectId;
  }

  /** One row as its sender wrote it, without its properties. */
  eventAt(row: number): EventAtRow {
    return {
      eventId: this.#eventId.at(row),
      distinctId: this.#distinctId.at(row),
      occurTimeMs: Number(this.#occurTime.at(row)),
      receiveTimeMs: Number(this.#receiveTime.at(row)),
    };
  }

  /** One row's properties that have no column and whose names `wants` accepts. */
  propertiesAt(
    row: number,
    wants: (name: string) => boolean,
  ): ReadonlyMap<string, PropertyScalar | Date> {
    return this.#maps.read(row, wants);
  }

  /** The value of one property of a row, with a column or without; undefined where the row has none. */
  propertyAt(row: number, name: string): PropertyScalar | Date | undefined {
    const text = textOfProperty(this.#texts, row, name);
    return text !== '' ? text : this.#maps.read(row, (one) => one === name).get(name);
  }

  /** Keeps the rows with these ascending indices and forgets the others. */
  keep(rows: Uint32Array): void {
    for (const { buffer } of this.#columns) buffer.keep(rows);
  }

  clear(): void {
    for (const { buffer } of this.#columns) buffer.clear();
    this.#places.clear();
  }

  #appendDistinctIds({ views, cookielessIds }: ScannedColumns, from: number, to: number): void {
    const known = views.distinctIds;
    if (cookielessIds.size === 0) {
      this.#distinctId.pushTexts(known, from, to);
      return;
    }
    for (let row = from; row < to; row++) {
      const own = cookielessIds.get(row);
      if (own === undefined) this.#distinctId.pushTexts(known, row, row + 1);
      else this.#distinctId.push(own);
    }
  }

  /** All rows as an Arrow IPC stream of one record batch: equal rows in equal order make equal bytes. */
  toArrowStream(): Uint8Array<ArrayBuffer> {
    const children: Data[] = [];
    const fields: Field[] = [];
    for (const { name, buffer } of this.#columns) {
      const data = buffer.data();
      children.push(data);
      fields.push(new Field(name, data.type, false));
    }
    const struct = makeData({ type: new Struct(fields), length: this.rows, children });
    const batch = new RecordBatch(new Schema(fields), struct);
    const stream = RecordBatchStreamWriter.writeAll([batch]).toUint8Array(true);
    if (!(stream.buffer instanceof ArrayBuffer)) throw new Error('columns: shared memory');
    return new Uint8Array(stream.buffer, stream.byteOffset, stream.length);
  }
}

function named<Buffer extends ColumnBuffer>(
  columns: readonly { readonly column: string }[],
  buffers: readonly Buffer[],
): { name: string; buffer: Buffer }[] {
  return buffers.map((buffer, index) => ({ name: columns[index]?.column ?? '', buffer }));
}
