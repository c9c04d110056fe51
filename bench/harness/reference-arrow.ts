// The reference from request bodies to an Arrow stream: JSON.parse, an array for each column, apache-arrow's own
// builders. It makes the pipeline's columns, agent included, but derives nothing from the page's address.

import {
  Bool,
  type DataType,
  Dictionary,
  Field,
  Float64,
  Int32,
  Int64,
  Map_,
  Struct,
  Table,
  TimestampMillisecond,
  tableToIPC,
  Uint16,
  Uint64,
  Utf8,
  type Vector,
  vectorFromArray,
} from 'apache-arrow';
import type { Event, Value } from '../../demo/visits/event.ts';
import { createAgentParser } from '../../pipeline/enrich/user-agent.ts';
import {
  autoColumns,
  columnOfProperty,
  packedColumns,
  propertyMaps,
} from '../../platform/clickhouse/event-columns.ts';
import { decodeFrame } from '../../proto/wire/frame.ts';

const parseAgent = createAgentParser(10_000);
const decoder = new TextDecoder();

type Column = unknown[];

const packed = new Set<string>(packedColumns.flatMap(({ of }) => of));
const ownColumns = autoColumns.filter(({ column }) => !packed.has(column));
/** Stands for the byte between packed texts, which apache-arrow's builders have no text for. */
const gap = '|';

/** An Arrow IPC stream of every event in the frames. */
export function buildReferenceStream(frames: readonly Uint8Array[]): Uint8Array {
  const columns = new Map<string, Column>();
  const add = (name: string, value: unknown): void => {
    const column = columns.get(name);
    if (column === undefined) columns.set(name, [value]);
    else column.push(value);
  };
  for (const [seq, frame] of frames.entries()) {
    for (const { context, body } of decodeFrame(frame)) {
      const { events }: { events: Event[] } = JSON.parse(decoder.decode(body));
      const { browser, browserVersion, os, osVersion, device } = parseAgent(
        context.userAgent ?? '',
      );
      for (const event of events) {
        add('project_id', context.projectId);
        add('event_id', event.eventId);
        add('kind', event.kind);
        add('distinct_id', event.distinctId);
        add('cookieless', false);
        add('session_id', event.sessionId);
        add('occur_time', Date.parse(event.occurTime));
        add('receive_time', context.receiveTimeMs);
        add('shard', 0);
        add('stream_seq', BigInt(seq));
        const derived = {
          browser,
          browser_version: browserVersion,
          os,
          os_version: osVersion,
          device,
        };
        addProperties(event, derived, add);
      }
    }
  }
  const vectors: Record<string, Vector> = {};
  for (const [name, values] of columns) {
    const type = types[name];
    if (type !== undefined) vectors[name] = vectorFromArray(values, type);
  }
  return tableToIPC(new Table(vectors), 'stream');
}

function addProperties(
  event: Event,
  derived: Record<string, string>,
  add: (name: string, value: unknown) => void,
): void {
  const texts: Record<string, string> = { ...derived };
  const maps: Record<string, Record<string, unknown>> = {};
  for (const { column } of propertyMaps) maps[column] = {};
  for (const [key, value] of Object.entries({
    ...event.autoProperties,
    ...event.customProperties,
  })) {
    const column = columnOfProperty.get(key);
    if (column !== undefined && 'stringValue' in value) texts[column.column] = value.stringValue;
    else putTyped(maps, key, value);
  }
  for (const { column } of ownColumns) add(column, texts[column] ?? '');
  for (const { column, of } of packedColumns) {
    add(column, of.map((one) => texts[one] ?? '').join(gap));
  }
  for (const { column } of propertyMaps) add(column, maps[column]);
}

function putTyped(maps: Record<string, Record<string, unknown>>, key: string, value: Value): void {
  for (const { column, variant } of propertyMaps) {
    const typed = Object.entries(value).find(([name]) => name === variant)?.[1];
    const map = maps[column];
    if (typed === undefined || map === undefined) continue;
    if (variant === 'intValue') map[key] = BigInt(typed);
    else map[key] = variant === 'timestampValue' ? Date.parse(typed) : typed;
  }
}

function dictionary(): DataType {
  return new Dictionary(new Utf8(), new Int32());
}

const mapValues: Record<(typeof propertyMaps)[number]['variant'], DataType> = {
  stringValue: new Utf8(),
  intValue: new Int64(),
  doubleValue: new Float64(),
  boolValue: new Bool(),
  timestampValue: new TimestampMillisecond('UTC'),
};

function mapOf(value: DataType): DataType {
  const entry = new Struct([new Field('key', new Utf8(), false), new Field('value', value, false)]);
  return new Map_(new Field('entries', entry, false));
}

const types: Record<string, DataType> = {
  project_id: dictionary(),
  event_id: new Utf8(),
  kind: dictionary(),
  distinct_id: new Utf8(),
  cookieless: new Bool(),
  session_id: new Utf8(),
  occur_time: new TimestampMillisecond('UTC'),
  receive_time: new TimestampMillisecond('UTC'),
  shard: new Uint16(),
  stream_seq: new Uint64(),
  ...Object.fromEntries(
    ownColumns.map(({ column, lowCardinality }) => [
      column,
      lowCardinality ? dictionary() : new Utf8(),
    ]),
  ),
  ...Object.fromEntries(packedColumns.map(({ column }) => [column, dictionary()])),
  ...Object.fromEntries(
    propertyMaps.map(({ column, variant }) => [column, mapOf(mapValues[variant])]),
  ),
};
