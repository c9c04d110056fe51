// The table event_ids: the keys of stored events that the seen-set has no room for. Stores them, finds them, and knows
// up to which message they are complete. When that happens is duplicate-check.ts's and seen-loader.ts's.

import type { ClickHouseClient } from '@clickhouse/client';
import type { BatchIds } from '../build/thread-messages.ts';
import type { RowSpan } from './recent-table.ts';

/** Room for a statement with every id of a batch. */
const maxStatementBytes = 8 * 1_048_576;
/** Parameters travel in the URL: a look-up of more projects takes several statements. */
const maxNamedProjects = 100;

/** A shard's stream, told apart from an earlier one: a stream made anew counts its messages from 1 again. */
export interface SeenSource {
  shard: number;
  streamCreatedMs: number;
}

/** The rows of a shard that were received at or after `fromMs` and before `toMs`. */
export const windowRows = `
  shard = {shard:UInt16}
  AND receive_time >= fromUnixTimestamp64Milli({fromMs:Int64})
  AND receive_time < fromUnixTimestamp64Milli({toMs:Int64})`;

const selectReach = `
  SELECT max(stream_seq), toUnixTimestamp64Milli(max(receive_time)) FROM event_ids_reach
  WHERE shard = {shard:UInt16} AND stream_created = fromUnixTimestamp64Milli({streamCreatedMs:Int64})`;

const insertKeys = `
  INSERT INTO event_ids
  SELECT toDate(now('UTC')), millraceEventKey(project_id, event_id) FROM events WHERE ${windowRows}`;

/** The stream sequence up to which all rows are in event_ids, and the latest receive time of those; 0 for none. */
export async function readReach(
  clickhouse: Pick<ClickHouseClient, 'query'>,
  source: SeenSource,
): Promise<{ reachSeq: number; reachMs: number }> {
  const [[reachSeq = 0, reachMs = 0] = []] = await readNumbers(clickhouse, selectReach, source);
  return { reachSeq, reachMs };
}

/** Puts the keys of the rows within `windowRows` that meet `condition` into event_ids. Throws the client's errors. */
export async function insertIds(
  clickhouse: Pick<ClickHouseClient, 'command'>,
  condition: string,
  parameters: object,
  signal?: AbortSignal,
): Promise<void> {
  const query = `${insertKeys} AND ${condition}`;
  await clickhouse.command({
    query,
    query_params: { ...parameters },
    ...(signal !== undefined && { abort_signal: signal }),
  });
}

/**
 * Puts the keys of the stored rows of a span into event_ids, and notes that all rows up to sequence `reach` are there.
 * A repetition does no harm. Throws the client's errors.
 */
export async function storeIds(
  clickhouse: Pick<ClickHouseClient, 'command'>,
  source: SeenSource,
  { firstSeq, lastSeq, minReceiveTimeMs, maxReceiveTimeMs }: RowSpan,
  reach: number,
): Promise<void> {
  await insertIds(clickhouse, 'stream_seq BETWEEN {firstSeq:UInt64} AND {lastSeq:UInt64}', {
    shard: source.shard,
    fromMs: minReceiveTimeMs,
    toMs: maxReceiveTimeMs + 1,
    firstSeq,
    lastSeq,
  });
  await noteReach(clickhouse, source, reach, maxReceiveTimeMs);
}

/**
 * Notes that event_ids has every row of the stream up to sequence `reach`, and that all of them were received up to
 * `maxReceiveTimeMs`. Throws the client's errors.
 */
export async function noteReach(
  clickhouse: Pick<ClickHouseClient, 'command'>,
  source: SeenSource,
  reach: number,
  maxReceiveTimeMs: number,
): Promise<void> {
  await clickhouse.command({
    query: `
      INSERT INTO event_ids_reach
      SELECT {shard:UInt16}, fromUnixTimestamp64Milli({streamCreatedMs:Int64}), {reach:UInt64},
        fromUnixTimestamp64Milli({maxReceiveTimeMs:Int64}), toDate(now('UTC'))`,
    query_params: { ...source, reach: Math.max(reach, 0), maxReceiveTimeMs },
  });
}

/** The keys of ids. Ids and the places of their projects are one literal each: tuples take twenty times as long. */
const selectKeys = (ids: string, places: string, count: number): string => `
  SELECT millraceEventKey(
    {projects:Array(String)}[ascii(substring(unhex('${places}'), number + 1, 1))],
    reinterpretAsUUID(substring(unhex('${ids}'), 16 * number + 1, 16)))
  FROM numbers(${count}) ORDER BY number`;

export type IdentifiedRows = Pick<BatchIds, 'eventIds' | 'projectOf' | 'projects'>;

/** Those of `rows` whose event is in event_ids, in any order. Throws the client's errors. */
export async function findStored(
  clickhouse: Pick<ClickHouseClient, 'query'>,
  ids: IdentifiedRows,
  rows: readonly number[],
): Promise<number[]> {
  const rowOf = new Map<string, number>();
  for (let from = 0; from < rows.length; ) {
    const { placeDigits, projects, end } = nextPlaces(ids, rows, from);
    const query = selectKeys(idDigits(ids, rows.slice(from, end)), placeDigits, end - from);
    const keys = await readTexts(clickhouse, query, { projects });
    for (const [n, [key = '']] of keys.entries()) rowOf.set(key, rows[from + n] ?? 0);
    from = end;
  }
  // Literals, because for a set that a query makes the engine reads more of the index.
  const list = [...rowOf.keys()].map(BigInt).join(',');
  const found = await readTexts(
    clickhouse,
    `SELECT DISTINCT event_key FROM event_ids WHERE event_key IN (${list})`,
  );
  return found.flatMap(([key = '']) => rowOf.get(key) ?? []);
}

/** The ids of rows as hex digits, 16 bytes each, for reinterpretAsUUID: it reads two little-endian halves. */
export function idDigits({ eventIds }: IdentifiedRows, rows: readonly number[]): string {
  const bytes = Buffer.alloc(16 * rows.length);
  for (const [n, row] of rows.entries()) {
    bytes.set(eventIds.subarray(16 * row, 16 * row + 16), 16 * n);
    bytes.subarray(16 * n, 16 * n + 8).reverse();
    bytes.subarray(16 * n + 8, 16 * n + 16).reverse();
  }
  return bytes.toString('hex');
}

/** The projects of as many rows from `from` on as one statement holds; the next statement begins at `end`. */
function nextPlaces(
  { projectOf, projects }: IdentifiedRows,
  rows: readonly number[],
  from: number,
) {
  /** The place of each project in the statement's list, from 1. */
  const places = new Map<number, number>();
  const placeOf = Buffer.alloc(rows.length - from);
  let end = from;
  while (end < rows.length && places.size < maxNamedProjects) {
    const project = projectOf[rows[end] ?? 0] ?? 0;
    const place = places.get(project) ?? places.size + 1;
    places.set(project, place);
    placeOf[end - from] = place;
    end++;
  }
  return {
    placeDigits: placeOf.toString('hex', 0, end - from),
    projects: [...places.keys()].map((project) => projects[project] ?? ''),
    end,
  };
}

/** The rows of an answer as numbers. Throws the client's errors. */
export async function readNumbers(
  clickhouse: Pick<ClickHouseClient, 'query'>,
  query: string,
  parameters: object,
): Promise<number[][]> {
  return (await readTexts(clickhouse, query, parameters)).map((row) => row.map(Number));
}

/** The rows of an answer as texts: a 64-bit number keeps all of its digits. Throws the client's errors. */
export async function readTexts(
  clickhouse: Pick<ClickHouseClient, 'query'>,
  query: string,
  parameters: object = {},
): Promise<string[][]> {
  const result = await clickhouse.query({
    query,
    format: 'JSONCompactEachRow',
    query_params: { ...parameters },
    clickhouse_settings: { max_query_size: String(maxStatementBytes) },
  });
  const rows = await result.json<unknown[]>();
  return rows.map((row) => row.map(String));
}
