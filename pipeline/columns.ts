// The columns of the table `events` as one Arrow record batch: which there are, what fills each, and the stream of
// bytes that the engine takes. A test compares the list with the live table.

import type { Hash } from 'node:crypto';
import {
  type Data,
  Field,
  Int64,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimestampMillisecond,
  Uint64,
} from 'apache-arrow';
import { autoColumns, propertyMaps } from '../platform/event-columns.ts';
import {
  BoolColumn,
  type ColumnBuffer,
  Float64Column,
  Int64Column,
  Uint16Column,
  UuidColumn,
} from './column-buffers.ts';
import type { EventRow } from './event-row.ts';
import { DictionaryColumn, MapColumn, TextColumn, type ValueBuffer } from './text-buffers.ts';

/** Of a message, what its rows carry. */
export interface RowOrigin {
  shard: number;
  streamSeq: number;
}

const utc = new TimestampMillisecond('UTC');

/** The rows of one month on their way into one record batch. */
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
  readonly #texts: (DictionaryColumn | TextColumn)[];
  readonly #maps: MapColumn[];
  /** Every column under its name in the table, in the order of the record batch. */
  readonly #columns: readonly { readonly name: string; readonly buffer: ColumnBuffer }[];

  constructor() {
    // Dictionary ids are counted per batch, so that equal rows make equal bytes.
    let dictionaries = 0;
    const dictionary = () => new DictionaryColumn(dictionaries++);
    this.#projectId = dictionary();
    this.#kind = dictionary();
    this.#texts = autoColumns.map(({ lowCardinality }) =>
      lowCardinality ? dictionary() : new TextColumn(),
    );
    this.#maps = propertyMaps.map(
      ({ variant }) => new MapColumn(dictionaries++, valuesOf(variant)),
    );
    this.#columns = [
      { name: 'project_id', buffer: this.#projectId },
      { name: 'event_id', buffer: this.#eventId },
      { name: 'kind', buffer: this.#kind },
      { name: 'distinct_id', buffer: this.#distinctId },
      { name: 'cookieless', buffer: this.#cookieless },
      { name: 'session_id', buffer: this.#sessionId },
      { name: 'session_derived', buffer: this.#sessionDerived },
      { name: 'occur_time', buffer: this.#occurTime },
      { name: 'receive_time', buffer: this.#receiveTime },
      { name: 'shard', buffer: this.#shard },
      { name: 'stream_seq', buffer: this.#streamSeq },
      ...named(autoColumns, this.#texts),
      ...named(propertyMaps, this.#maps),
    ];
  }

  /** Names of the columns, in order. */
  get names(): string[] {
    return this.#columns.map(({ name }) => name);
  }

  get rows(): number {
    return this.#eventId.length;
  }

  /** Feeds `hash` with what tells each row from every other, in order. */
  updateHash(hash: Hash): void {
    hash.update(this.#eventId.bytes());
    hash.update(this.#sessionId.bytes());
    this.#projectId.updateHash(hash);
  }

  append(row: EventRow, projectId: string, receiveTimeMs: number, origin: RowOrigin): void {
    this.#projectId.push(projectId);
    this.#eventId.push(row.eventId);
    this.#kind.push(row.kind);
    this.#distinctId.push(row.distinctId);
    this.#cookieless.push(row.cookieless);
    this.#sessionId.push(row.sessionId);
    this.#sessionDerived.push(row.sessionDerived);
    this.#occurTime.push(row.occurTimeMs);
    this.#receiveTime.push(receiveTimeMs);
    this.#shard.push(origin.shard);
    this.#streamSeq.push(origin.streamSeq);
    for (let slot = 0; slot < this.#texts.length; slot++) {
      this.#texts[slot]?.push(row.texts[slot] ?? '');
    }
    for (let index = 0; index < row.count; index++) {
      const map = this.#maps[row.variants[index] ?? 0];
      map?.pushEntry(row.keys[index] ?? '', row.values[index] ?? '');
    }
    for (const map of this.#maps) map.endRow();
  }

  /** Gives a row its session: the four words of `ids` from `at` on. */
  putSession(row: number, ids: Uint32Array, at: number): void {
    this.#sessionId.replace(row, ids, at);
  }

  /** Keeps the rows with these ascending indices. */
  keep(rows: Uint32Array): void {
    for (const { buffer } of this.#columns) buffer.keep(rows);
  }

  clear(): void {
    for (const { buffer } of this.#columns) buffer.clear();
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

function valuesOf(variant: (typeof propertyMaps)[number]['variant']): ValueBuffer {
  switch (variant) {
    case 'stringValue':
      return new TextColumn();
    case 'intValue':
      return new Int64Column(new Int64());
    case 'doubleValue':
      return new Float64Column();
    case 'boolValue':
      return new BoolColumn();
    case 'timestampValue':
      return new Int64Column(utc);
    default:
      return variant satisfies never;
  }
}

function named<Buffer extends ColumnBuffer>(
  columns: readonly { readonly column: string }[],
  buffers: readonly Buffer[],
): { name: string; buffer: Buffer }[] {
  return buffers.map((buffer, index) => ({ name: columns[index]?.column ?? '', buffer }));
}
