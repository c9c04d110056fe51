// Fills a seen-set at the start of a writer with the ids of the window that event_ids lacks, as far as there is room,
// and puts the others into event_ids.

import type { ClickHouseClient } from '@clickhouse/client';
import { duplicateWindowMs, maxOccurTimeAheadMs } from '../../platform/limits.ts';
import { type EventKeys, writeEventKey } from '../build/event-key.ts';
import { insertIds, readNumbers, readReach, type SeenSource, windowRows } from './event-ids.ts';
import { periodMs, type SeenSet } from './seen-set.ts';

/** The window is cut at a multiple of this where the set has no more room. */
const sliceMs = 10_000;
/** Rows that one statement puts into event_ids, give or take a slice: a second or two of work. */
const maxRowsPerPart = 4_000_000;

interface Window extends SeenSource {
  fromMs: number;
  toMs: number;
  /** Rows of this stream up to this sequence are in event_ids. */
  reachSeq: number;
}

const isUnreached = `
  (stream_seq > {reachSeq:UInt64} OR receive_time < fromUnixTimestamp64Milli({streamCreatedMs:Int64}))`;

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

type Client = Pick<ClickHouseClient, 'query' | 'exec' | 'command'>;

/**
 * Fills the set with the ids that the shard stored in the window before `nowMs` and that are not in event_ids: the
 * newest ones as far as there is room. Puts the others into event_ids. Rows of a pending batch may be among them, which
 * does no harm: the ledger alone says which rows of that batch are dropped. Returns the number of ids read. Throws the
 * client's errors; the set is of no use then.
 */
export async function loadSeen(
  clickhouse: Client,
  seen: SeenSet,
  eventKeys: EventKeys,
  { nowMs, ...source }: SeenSource & { nowMs: number },
): Promise<number> {
  const { reachSeq, reachMs } = await readReach(clickhouse, source);
  const fromMs = nowMs - duplicateWindowMs;
  // The window goes beyond now too: the clock of the machine that received an event may be ahead.
  const window: Window = { ...source, reachSeq, fromMs, toMs: nowMs + duplicateWindowMs };
  const slices = await readNumbers(clickhouse, countSlices, window);
  const { loadedFromMs, older } = choose(slices, seen.capacity, window);
  for (const part of older) await insertIds(clickhouse, isUnreached, { ...window, ...part });
  const unreadMs = older.length > 0 ? Math.max(reachMs, loadedFromMs) : reachMs;
  const load = { clickhouse, seen, eventKeys };
  let loaded = 0;
  if (unreadMs >= fromMs) loaded += await addUnread(load, window, { unreadMs, loadedFromMs });
  // One period at a time, because the set takes periods in ascending order.
  for (let at = Math.max(loadedFromMs, fromMs); at < window.toMs; ) {
    const next = (Math.floor(at / periodMs) + 1) * periodMs;
    const part = { ...window, fromMs: at, toMs: Math.min(next, window.toMs) };
    loaded += await addIds(load, selectUnreached, part);
    at = next;
  }
  return loaded;
}

interface Part {
  fromMs: number;
  toMs: number;
}

/**
 * The time from which on the rows of the latest slices fit into `room`; the older ones, in parts of one statement each.
 */
function choose(
  slices: readonly number[][],
  room: number,
  { fromMs }: Window,
): { loadedFromMs: number; older: Part[] } {
  let loadedFromMs = fromMs;
  const older: Part[] = [];
  let left = room;
  for (const [slice = 0, rows = 0] of slices) {
    left -= rows;
    if (left >= 0) continue;
    const part = { fromMs: Math.max(slice * sliceMs, fromMs), toMs: (slice + 1) * sliceMs };
    const last = older.at(-1);
    if (last === undefined) loadedFromMs = part.toMs;
    if (last === undefined || left < -maxRowsPerPart) {
      older.push(part);
      left = -rows;
    } else {
      last.fromMs = part.fromMs;
    }
  }
  return { loadedFromMs, older };
}

interface Load {
  clickhouse: Client;
  seen: SeenSet;
  eventKeys: EventKeys;
}

/**
 * Tells the set up to which time there are rows that it does not have. Rows whose events occurred after that time are
 * loaded all the same.
 */
async function addUnread(
  load: Load,
  window: Window,
  { unreadMs, loadedFromMs }: { unreadMs: number; loadedFromMs: number },
): Promise<number> {
  const limit = load.seen.capacity;
  const ahead = { ...window, aheadOfMs: unreadMs, loadedFromMs, limit };
  const loaded = await addIds(load, selectAhead, ahead);
  // At the limit some may be missing: the set then says 'maybe' of every event until the window has passed.
  load.seen.addUnread(loaded === limit ? unreadMs + maxOccurTimeAheadMs : unreadMs);
  return loaded;
}

/** Reads rows of a length-prefixed project, a UUID and three numbers; a row may lie across two chunks. */
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

/** Bytes of a row after its project. */
const afterProject = 16 + 3 * 8;

/** Exact up to 2^53, which neither times nor sequences exceed. */
function readInt64(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readInt32LE(at + 4) * 4_294_967_296;
}

/** The length of a RowBinary text (LEB128) and where the text starts; an end beyond `bytes` where they are cut off. */
function readLength(bytes: Buffer, at: number): { at: number; length: number } {
  let length = 0;
  for (let shift = 0; at < bytes.length; shift += 7) {
    const byte = bytes[at++] ?? 0;
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) return { at, length };
  }
  return { at: bytes.length, length: 1 };
}

/** RowBinary writes a UUID as two little-endian halves; `id` gets its bytes in the order of its text, see uuid.ts. */
function readUuid(bytes: Buffer, at: number, id: Uint32Array): void {
  id[0] = bytes.readUInt32BE(at + 4);
  id[1] = bytes.readUInt32BE(at);
  id[2] = bytes.readUInt32BE(at + 12);
  id[3] = bytes.readUInt32BE(at + 8);
}
