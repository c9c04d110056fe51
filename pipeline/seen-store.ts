// What the seen-set needs of the tables: at start the ids that event_ids lacks, later those it has no more room for
// stored there, and the look-up of them. The set itself is seen-set.ts.

import type { ClickHouseClient } from '@clickhouse/client';
import { duplicateWindowMs, maxOccurTimeAheadMs } from '../platform/limits.ts';
import { type EventKeys, writeEventKey } from './event-key.ts';
import { periodMs, type RowSpan, type SeenSet } from './seen-set.ts';
import type { BatchIds } from './thread-messages.ts';

/** Ids of one look-up: twice as digits they stay within the engine's default limit on a statement. */
const idsPerLookUp = 5_000;
/** Parameters travel in the URL: a look-up that names more projects is done in parts. */
const maxNamedProjects = 100;
/** In steps of this the window is cut where the set has no more room. */
const sliceMs = 10_000;

/** A shard's stream: one that is made anew counts its messages from 1 again. */
export interface SeenSource {
  shard: number;
  streamCreatedMs: number;
}

interface Window extends SeenSource {
  fromMs: number;
  toMs: number;
  /** Of this stream, rows up to here are in event_ids. */
  reachSeq: number;
}

const windowRows = `
  shard = {shard:UInt16}
  AND receive_time >= fromUnixTimestamp64Milli({fromMs:Int64})
  AND receive_time < fromUnixTimestamp64Milli({toMs:Int64})`;
const isUnreached = `
  (stream_seq > {reachSeq:UInt64} OR receive_time < fromUnixTimestamp64Milli({streamCreatedMs:Int64}))`;

const selectReach = `
  SELECT max(stream_seq), toUnixTimestamp64Milli(max(receive_time)) FROM event_ids_reach
  WHERE shard = {shard:UInt16} AND stream_created = fromUnixTimestamp64Milli({streamCreatedMs:Int64})`;

const countSlices = `
  SELECT intDiv(toUnixTimestamp64Milli(receive_time), ${sliceMs}) AS slice, count()
  FROM events WHERE ${windowRows} AND ${isUnreached} GROUP BY slice ORDER BY slice DESC`;

const selectIds = `
  SELECT
    project_id, event_id, toUnixTimestamp64Milli(occur_time), toUnixTimestamp64Milli(receive_time), stream_seq
  FROM events WHERE ${windowRows}`;

const selectUnreached = `${selectIds} AND ${isUnreached} FORMAT RowBinary`;

const selectAhead = `${selectIds} AND occur_time > fromUnixTimestamp64Milli({aheadOfMs:Int64})
  AND (NOT ${isUnreached} OR receive_time < fromUnixTimestamp64Milli({loadedFromMs:Int64}))
  LIMIT {limit:UInt64} FORMAT RowBinary`;

const insertIds = `
  INSERT INTO event_ids
  SELECT toDate(now('UTC')), millraceEventKey(project_id, event_id) FROM events WHERE ${windowRows}`;

type Client = Pick<ClickHouseClient, 'query' | 'exec' | 'command'>;

/**
 * Fills the set with the ids that the shard has stored in the window before `nowMs` and that are not in event_ids, the
 * newest as far as there is room; the others are put there. Rows of a batch that is still pending may be among them:
 * such a batch is finished by what the ledger says, never by this. Returns the number of ids read. Throws what the
 * client throws; the set is of no use then.
 */
export async function loadSeen(
  clickhouse: Client,
  seen: SeenSet,
  eventKeys: EventKeys,
  { nowMs, ...source }: SeenSource & { nowMs: number },
): Promise<number> {
  const [[reachSeq = 0, reachMs = 0] = []] = await readNumbers(clickhouse, selectReach, source);
  const fromMs = nowMs - duplicateWindowMs;
  // Beyond now as well: the clock of whoever received an event may be ahead.
  const window: Window = { ...source, reachSeq, fromMs, toMs: nowMs + duplicateWindowMs };
  const slices = await readNumbers(clickhouse, countSlices, window);
  const { loadedFromMs, hasOlder } = choose(slices, seen.capacity, window);
  if (hasOlder) {
    const older = { ...window, toMs: loadedFromMs };
    await clickhouse.command({ query: `${insertIds} AND ${isUnreached}`, query_params: older });
  }
  const unreadMs = hasOlder ? Math.max(reachMs, loadedFromMs) : reachMs;
  const load = { clickhouse, seen, eventKeys };
  let loaded = 0;
  if (unreadMs >= fromMs) loaded += await addUnread(load, window, { unreadMs, loadedFromMs });
  // A period at a time: the set takes them in ascending order.
  for (let at = Math.max(loadedFromMs, fromMs); at < window.toMs; ) {
    const next = (Math.floor(at / periodMs) + 1) * periodMs;
    const part = { ...window, fromMs: at, toMs: Math.min(next, window.toMs) };
    loaded += await addIds(load, selectUnreached, part);
    at = next;
  }
  return loaded;
}

/** From when on the rows of the latest slices fit into `room`; from the beginning where all do. */
function choose(
  slices: readonly number[][],
  room: number,
  { fromMs }: Window,
): { loadedFromMs: number; hasOlder: boolean } {
  let left = room;
  for (const [slice = 0, rows = 0] of slices) {
    left -= rows;
    if (left < 0) return { loadedFromMs: (slice + 1) * sliceMs, hasOlder: true };
  }
  return { loadedFromMs: fromMs, hasOlder: false };
}

interface Load {
  clickhouse: Client;
  seen: SeenSet;
  eventKeys: EventKeys;
}

/** Tells the set of rows that are not loaded. Those that occurred after all of them were received, it gets. */
async function addUnread(
  load: Load,
  window: Window,
  { unreadMs, loadedFromMs }: { unreadMs: number; loadedFromMs: number },
): Promise<number> {
  const limit = load.seen.capacity;
  const ahead = { ...window, aheadOfMs: unreadMs, loadedFromMs, limit };
  const loaded = await addIds(load, selectAhead, ahead);
  // So many that some may be missing: everything is asked for until the window has passed.
  load.seen.addUnread(loaded === limit ? unreadMs + maxOccurTimeAheadMs : unreadMs);
  return loaded;
}

async function readNumbers(
  clickhouse: Pick<Client, 'query'>,
  query: string,
  parameters: object,
): Promise<number[][]> {
  const result = await clickhouse.query({
    query,
    format: 'JSONCompactEachRow',
    query_params: { ...parameters },
  });
  const rows = await result.json<unknown[]>();
  return rows.map((row) => row.map(Number));
}

/** A length-prefixed project, a UUID and three numbers a row; a row may lie across two chunks. */
async function addIds(
  { clickhouse, seen, eventKeys }: Load,
  query: string,
  parameters: object,
): Promise<number> {
  const { stream } = await clickhouse.exec({ query, query_params: { ...parameters } });
  const id = new Uint32Array(4);
  const key = new Uint32Array(2);
  let rest: Buffer = Buffer.alloc(0);
  let count = 0;
  for await (const chunk of stream) {
    const bytes: Buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    for (;;) {
      const text = readLength(bytes, at);
      const idAt = text.at + text.length;
      if (idAt + afterProject > bytes.length) break;
      const project = bytes.toString('utf8', text.at, idAt);
      readUuid(bytes, idAt, id);
      writeEventKey(eventKeys.projectKey(project), id, 0, key, 0);
      const [occurTimeMs, receiveTimeMs, seq] = [16, 24, 32].map((skip) =>
        readInt64(bytes, idAt + skip),
      );
      seen.add(key[0] ?? 0, key[1] ?? 0, occurTimeMs ?? 0, receiveTimeMs ?? 0, seq ?? 0);
      at = idAt + afterProject;
      count++;
    }
    rest = bytes.subarray(at);
  }
  if (rest.length > 0) throw new Error('seen-store: the ids end in the middle of a row');
  return count;
}

/** Bytes of a row behind its project. */
const afterProject = 16 + 3 * 8;

/** Exact up to 2^53, which neither times nor sequences exceed. */
function readInt64(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readInt32LE(at + 4) * 4_294_967_296;
}

/** RowBinary's LEB128 length and where its text starts; beyond the end where the bytes do not suffice. */
function readLength(bytes: Buffer, at: number): { at: number; length: number } {
  let length = 0;
  for (let shift = 0; at < bytes.length; shift += 7) {
    const byte = bytes[at++] ?? 0;
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) return { at, length };
  }
  return { at: bytes.length, length: 1 };
}

/** RowBinary has a UUID as two little-endian halves; `id` gets its bytes in text order, as uuid.ts has them. */
function readUuid(bytes: Buffer, at: number, id: Uint32Array): void {
  id[0] = bytes.readUInt32BE(at + 4);
  id[1] = bytes.readUInt32BE(at);
  id[2] = bytes.readUInt32BE(at + 12);
  id[3] = bytes.readUInt32BE(at + 8);
}

/**
 * Puts the names of the stored rows of a span into event_ids, of which those up to `reach` are then all there; the
 * same again does no harm. Throws what the client throws.
 */
export async function storeIds(
  clickhouse: Pick<ClickHouseClient, 'command'>,
  source: SeenSource,
  { firstSeq, lastSeq, minReceiveTimeMs, maxReceiveTimeMs }: RowSpan,
  reach: number,
): Promise<void> {
  await clickhouse.command({
    query: `${insertIds} AND stream_seq >= {firstSeq:UInt64} AND stream_seq <= {lastSeq:UInt64}`,
    query_params: {
      shard: source.shard,
      fromMs: minReceiveTimeMs,
      toMs: maxReceiveTimeMs + 1,
      firstSeq,
      lastSeq,
    },
  });
  await clickhouse.command({
    query: `
      INSERT INTO event_ids_reach
      SELECT {shard:UInt16}, fromUnixTimestamp64Milli({streamCreatedMs:Int64}), {reach:UInt64},
        fromUnixTimestamp64Milli({maxReceiveTimeMs:Int64}), toDate(now('UTC'))`,
    query_params: { ...source, reach: Math.max(reach, 0), maxReceiveTimeMs },
  });
}

/**
 * Ids and the places of their projects as hex digits in one literal each: as tuples they take the engine twenty times as
 * long to read. A UUID from bytes is two little-endian halves.
 */
const findIds = (ids: string, places: string, count: number): string => `
  WITH asked AS (
    SELECT
      number AS n,
      reinterpretAsUUID(substring(unhex('${ids}'), 16 * number + 1, 16)) AS id,
      millraceEventKey({projects:Array(String)}[ascii(substring(unhex('${places}'), number + 1, 1))], id) AS key
    FROM numbers(${count}))
  SELECT n FROM asked
  WHERE key IN (SELECT event_key FROM event_ids WHERE event_key IN (SELECT key FROM asked))`;

/** Of some rows of a batch, those whose event is in event_ids. Throws what the client throws. */
export async function findStored(
  clickhouse: Pick<ClickHouseClient, 'query'>,
  ids: BatchIds,
  rows: readonly number[],
): Promise<number[]> {
  const stored: number[] = [];
  for (let from = 0; from < rows.length; ) {
    const asked = nextLookUp(ids, rows, from);
    const { idDigits, placeDigits, projects, end } = asked;
    const query = findIds(idDigits, placeDigits, end - from);
    for (const [n = 0] of await readNumbers(clickhouse, query, { projects })) {
      stored.push(rows[from + n] ?? 0);
    }
    from = end;
  }
  return stored;
}

/** What one statement can ask of the rows from `from` on; `end` is where the next has to begin. */
function nextLookUp(ids: BatchIds, rows: readonly number[], from: number) {
  /** For each project its place among those of the statement, from 1. */
  const places = new Map<number, number>();
  const bytes = Buffer.alloc(16 * idsPerLookUp);
  const placeOf = Buffer.alloc(idsPerLookUp);
  let end = from;
  while (end < rows.length && end - from < idsPerLookUp && places.size < maxNamedProjects) {
    const row = rows[end] ?? 0;
    const project = ids.projectOf[row] ?? 0;
    const place = places.get(project) ?? places.size + 1;
    places.set(project, place);
    placeOf[end - from] = place;
    const at = 16 * (end - from);
    bytes.set(ids.eventIds.subarray(16 * row, 16 * row + 16), at);
    bytes.subarray(at, at + 8).reverse();
    bytes.subarray(at + 8, at + 16).reverse();
    end++;
  }
  return {
    idDigits: bytes.toString('hex', 0, 16 * (end - from)),
    placeDigits: placeOf.toString('hex', 0, end - from),
    projects: [...places.keys()].map((project) => ids.projects[project] ?? ''),
    end,
  };
}
