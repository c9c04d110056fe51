// Inserts the records that a batch changed as one block, which is in the table whole or not at all, and asks whether a
// block is there. read-records.ts reads them.

import { Readable } from 'node:stream';
import type { ClickHouseClient } from '@clickhouse/client';
import type { ProfileRecord } from './record.ts';

/**
 * These inserts take no place in the window in which profile_activity remembers inserts: the same record twice is one
 * record, while an insert of events that the window forgets would count twice.
 */
const notRemembered = { deduplicate_blocks_in_dependent_materialized_views: 0 } as const;

/** Whether the table has the block of this version: the table has a block whole or not at all. */
export async function isStored(
  clickhouse: Pick<ClickHouseClient, 'query'>,
  shard: number,
  version: string,
): Promise<boolean> {
  const result = await clickhouse.query({
    query:
      'SELECT 1 FROM profiles WHERE shard = {shard:UInt16} AND version = {version:UInt64} LIMIT 1',
    format: 'JSONCompactEachRow',
    query_params: { shard, version },
  });
  return (await result.json<unknown[]>()).length > 0;
}

/** Inserts a stored block again, for views that a crash may have kept it from: the same row twice is one row. */
export async function insertAgain(
  clickhouse: Pick<ClickHouseClient, 'command'>,
  shard: number,
  version: string,
): Promise<void> {
  await clickhouse.command({
    query:
      'INSERT INTO profiles SELECT * FROM profiles WHERE shard = {shard:UInt16} AND version = {version:UInt64}',
    query_params: { shard, version },
    clickhouse_settings: notRemembered,
  });
}

const insertSql = `INSERT INTO profiles (project_id, edge, distinct_id, root, shard, version, named, deleted, device_id,
  create_time, former_create_times, update_time, owner, former_root, merge_time, merge_source, traits, inherited, members)
  FORMAT JSONCompactEachRow`;

/** The rows of one batch. */
export interface ProfileBlock {
  rows: number;
  /** One JSON array a line, one line a row. */
  text: string;
}

/** The rows of these records under one version, a decimal number that grows with each batch. */
export function blockOf(
  records: Iterable<ProfileRecord>,
  shard: number,
  version: string,
): ProfileBlock {
  const lines: string[] = [];
  for (const record of records) {
    const { named, deleted, wasClaimed } = record;
    if (named || deleted) lines.push(profileLine(record, shard, version));
    if (wasClaimed) lines.push(edgeLine(record, shard, version));
  }
  return { rows: lines.length, text: lines.join('\n') };
}

/** Resolves once the rows are on disk, all in one part. Throws the client's errors. */
export async function insertBlock(
  clickhouse: Pick<ClickHouseClient, 'exec'>,
  block: ProfileBlock,
): Promise<void> {
  const { stream } = await clickhouse.exec({
    query: insertSql,
    values: Readable.from([Buffer.from(block.text)]),
    clickhouse_settings: {
      ...notRemembered,
      async_insert: 0,
      input_format_parallel_parsing: 0,
      max_insert_block_size: String(Math.max(1_048_576, block.rows)),
      min_insert_block_size_rows: String(Math.max(1_048_576, block.rows)),
      min_insert_block_size_bytes: String(1_073_741_824),
      wait_end_of_query: 1,
    },
  });
  let answer = '';
  for await (const chunk of stream) answer += chunk;
  if (answer !== '') throw new Error('ClickHouse answered an insert with more than its status');
}

// Lines are joined from texts without an object a row: a batch has tens of thousands of rows.

function profileLine(record: ProfileRecord, shard: number, version: string): string {
  const { named, deleted, deviceId, createTimeMs, updateTimeMs, traits, members } = record;
  const former = record.formerCreateTimesMs.map((timeMs) => `"${moment(timeMs)}"`);
  const times = `"${moment(createTimeMs)}",[${former}],"${moment(updateTimeMs)}"`;
  const own = `${named},${deleted},${JSON.stringify(deviceId)},${times}`;
  const maps =
    traits === undefined ? '{},{}' : `${mapText(traits.values)},${mapText(traits.givers)}`;
  return `[${keysText(record, false, shard, version)},${own},"","",${noMoment},"",${maps},${members}]`;
}

function edgeLine(record: ProfileRecord, shard: number, version: string): string {
  const { owner, root, storedRoot, mergeTimeMs, mergeSource } = record;
  const roots = `${JSON.stringify(owner)},${JSON.stringify(storedRoot === root ? '' : storedRoot)}`;
  const edge = `${roots},"${moment(mergeTimeMs)}","${mergeSource}"`;
  const keys = keysText(record, true, shard, version);
  return `[${keys},false,false,"",${noMoment},[],${noMoment},${edge},{},{},0]`;
}

const noMoment = '"1970-01-01 00:00:00.000"';

function keysText(record: ProfileRecord, edge: boolean, shard: number, version: string): string {
  const { projectId, distinctId, root } = record;
  const ids = `${JSON.stringify(projectId)},${edge},${JSON.stringify(distinctId)}`;
  return `${ids},${JSON.stringify(root)},${shard},"${version}"`;
}

function mapText(map: ReadonlyMap<string, string>): string {
  let text = '';
  for (const [key, value] of map) {
    text += `${text === '' ? '{' : ','}${JSON.stringify(key)}:${JSON.stringify(value)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

// A batch has few different times, because its frames are few.
let lastMs = Number.NaN;
let lastMoment = '';

function moment(timeMs: number): string {
  if (timeMs !== lastMs) {
    lastMs = timeMs;
    lastMoment = new Date(timeMs).toISOString().replace('T', ' ').slice(0, -1);
  }
  return lastMoment;
}
