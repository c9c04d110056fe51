// What the seen-set needs of the table: the ids of the last 48 hours at start, and the look-up of ids that it has no
// room to know. The set itself is seen-set.ts.

import type { ClickHouseClient } from '@clickhouse/client';
import { duplicateWindowMs } from '../platform/limits.ts';
import { type EventKeys, writeEventKey } from './event-key.ts';
import { periodMs, type SeenSet } from './seen-set.ts';
import type { BatchIds } from './thread-messages.ts';
import { formatUuid } from './uuid.ts';

/** Ids of one look-up: as text they stay within the engine's default limit on a statement. */
const idsPerLookUp = 4_000;
/** Parameters travel in the URL; a batch of more projects is looked for by time and id alone. */
const maxNamedProjects = 100;

const storedRows = `
  shard = {shard:UInt16}
  AND receive_time >= fromUnixTimestamp64Milli({fromMs:Int64})
  AND receive_time < fromUnixTimestamp64Milli({toMs:Int64})`;

const countPeriods = `
  SELECT intDiv(toUnixTimestamp64Milli(receive_time), {periodMs:Int64}) AS period, count() AS rows
  FROM events WHERE ${storedRows} GROUP BY period ORDER BY period DESC`;

const selectIds = `SELECT project_id, event_id FROM events WHERE ${storedRows} FORMAT RowBinary`;

/**
 * Fills the set with the ids that the shard has stored in the window before `nowMs`, newest first as far as the budget
 * goes; of the periods beyond it the set only learns that there were rows. Rows of a batch that is still pending may be
 * among them: such a batch is finished by what the ledger says, never by this. Returns the number of ids read. Throws
 * what the client throws.
 */
export async function loadSeen(
  clickhouse: Pick<ClickHouseClient, 'query' | 'exec'>,
  seen: SeenSet,
  eventKeys: EventKeys,
  { shard, nowMs }: { shard: number; nowMs: number },
): Promise<number> {
  const periods = await readPeriods(clickhouse, shard, nowMs);
  let room = seen.capacity;
  const exact: number[] = [];
  for (const { period, rows } of periods) {
    room -= rows;
    if (room >= 0) exact.push(period);
    else seen.addUnread(period * periodMs);
  }
  let loaded = 0;
  // The set takes periods in ascending order.
  for (const period of exact.reverse()) {
    const fromMs = period * periodMs;
    const { stream } = await clickhouse.exec({
      query: selectIds,
      query_params: { shard, fromMs, toMs: fromMs + periodMs },
    });
    loaded += await addIds(stream, seen, eventKeys, fromMs);
  }
  return loaded;
}

async function readPeriods(
  clickhouse: Pick<ClickHouseClient, 'query'>,
  shard: number,
  nowMs: number,
): Promise<{ period: number; rows: number }[]> {
  const result = await clickhouse.query({
    query: countPeriods,
    format: 'JSONCompactEachRow',
    query_params: {
      shard,
      periodMs,
      fromMs: nowMs - duplicateWindowMs,
      // Beyond now as well: the clock of whoever received an event may be ahead.
      toMs: nowMs + duplicateWindowMs,
    },
  });
  const rows = await result.json<[unknown, unknown]>();
  return rows.map(([period, count]) => ({ period: Number(period), rows: Number(count) }));
}

/** Reads rows of a length-prefixed project and a UUID; a row may lie across two chunks. */
async function addIds(
  stream: AsyncIterable<Buffer>,
  seen: SeenSet,
  eventKeys: EventKeys,
  receiveTimeMs: number,
): Promise<number> {
  const id = new Uint32Array(4);
  const key = new Uint32Array(2);
  let rest: Buffer = Buffer.alloc(0);
  let count = 0;
  for await (const chunk of stream) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    for (;;) {
      const text = readLength(bytes, at);
      const end = text.at + text.length + 16;
      if (end > bytes.length) break;
      const project = bytes.toString('utf8', text.at, text.at + text.length);
      readUuid(bytes, end - 16, id);
      writeEventKey(eventKeys.projectKey(project), id, 0, key, 0);
      seen.add(key[0] ?? 0, key[1] ?? 0, receiveTimeMs);
      at = end;
      count++;
    }
    rest = bytes.subarray(at);
  }
  if (rest.length > 0) throw new Error('seen-store: the ids end in the middle of a row');
  return count;
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

const findIds = (ids: string): string => `
  SELECT project_id, toString(event_id) AS id FROM events
  WHERE (empty({projects:Array(String)}) OR project_id IN {projects:Array(String)})
    AND occur_time >= fromUnixTimestamp64Milli({fromMs:Int64})
    AND occur_time <= fromUnixTimestamp64Milli({toMs:Int64})
    AND event_id IN (${ids})`;

/**
 * Of some rows of a batch, those whose event the table has, looked for within the batch's own range of occurTime: a
 * retry repeats it. Throws what the client throws.
 */
export async function findStored(
  clickhouse: Pick<ClickHouseClient, 'query'>,
  ids: BatchIds,
  rows: readonly number[],
): Promise<number[]> {
  const stored: number[] = [];
  for (let from = 0; from < rows.length; from += idsPerLookUp) {
    const some = new Map<string, number>();
    for (const row of rows.slice(from, from + idsPerLookUp)) {
      const id = formatUuid(ids.eventIds.subarray(row * 16, row * 16 + 16));
      some.set(`${id} ${ids.projects[ids.projectOf[row] ?? 0]}`, row);
    }
    // Formatted from 16 bytes, so that nothing but hex digits gets into the statement.
    const list = [...some.keys()].map((key) => `'${key.slice(0, 36)}'`).join(',');
    const result = await clickhouse.query({
      query: findIds(list),
      format: 'JSONCompactEachRow',
      query_params: {
        projects: ids.projects.length <= maxNamedProjects ? ids.projects : [],
        fromMs: ids.minOccurTimeMs,
        toMs: ids.maxOccurTimeMs,
      },
    });
    for (const [project, id] of await result.json<[string, string]>()) {
      const row = some.get(`${id} ${project}`);
      if (row !== undefined) stored.push(row);
    }
  }
  return stored;
}
