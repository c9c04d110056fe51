// Records of profiles in the table: read by id and by root, and inserted as one block, which is in the table whole or
// not at all. What they mean is profile-changes.ts's.

import { Readable } from 'node:stream';
import type { ClickHouseClient } from '@clickhouse/client';
import { newRecord, type ProfileRecord, recordKey } from './profile-record.ts';

/** Names one distinct id. */
export interface ProfileName {
  projectId: string;
  distinctId: string;
}

type Client = Pick<ClickHouseClient, 'query' | 'exec'>;

/** Bytes of one list of names, which a statement holds up to twice. */
const maxListBytes = 2 * 1_048_576;
const maxStatementBytes = 8 * 1_048_576;

const columns = `project_id, distinct_id, edge, named, deleted, mapKeys(traits), mapValues(traits), device_id,
  toUnixTimestamp64Milli(create_time), toUnixTimestamp64Milli(update_time), owner, root,
  toUnixTimestamp64Milli(merge_time), merge_source`;

/** Up to here the table's order finds a few rows sooner than a look at every key does. */
const fewNames = 500;

/** The stored records of these ids; ids without one are left out. */
export async function loadRecords(
  clickhouse: Client,
  names: readonly ProfileName[],
): Promise<ProfileRecord[]> {
  const records = new Map<string, ProfileRecord>();
  for (const list of nameLists(names)) {
    // Before FINAL, which is right for what the order of the table decides, as it does the key of an id.
    const keys = `PREWHERE profile_key IN (SELECT ${keySql('id')} FROM ${idsSql(list)})`;
    const ids = `WHERE (project_id, profile_id) IN (SELECT project, id FROM ${idsSql(list)})`;
    const where = names.length <= fewNames ? `${keys} ${ids}` : keys;
    for (const row of await select(clickhouse, columns, where)) readRow(row, records);
  }
  return [...records.values()];
}

/** The stored records of all ids whose root is one of these. */
export async function loadMembers(
  clickhouse: Client,
  roots: readonly ProfileName[],
): Promise<ProfileRecord[]> {
  const members: ProfileName[] = [];
  for (const list of nameLists(roots)) {
    const where = `WHERE edge AND (project_id, root_id) IN (SELECT project, id FROM ${idsSql(list)})`;
    const rows = await select(clickhouse, 'project_id, distinct_id', where);
    for (const [projectId, distinctId] of rows) {
      members.push({ projectId: String(projectId), distinctId: String(distinctId) });
    }
  }
  // An edge's row does not hold what else is known of its id.
  return loadRecords(clickhouse, members);
}

async function select(clickhouse: Client, what: string, where: string): Promise<unknown[][]> {
  const result = await clickhouse.query({
    query: `SELECT ${what} FROM profiles FINAL ${where}`,
    format: 'JSONCompactEachRow',
    clickhouse_settings: { max_query_size: String(maxStatementBytes) },
  });
  return result.json<unknown[]>();
}

/** Of names in one literal, project and profile id: ten thousands of literals take the engine half a second to read. */
function idsSql(list: string): string {
  return `(SELECT unhex(name[1]) AS project, millraceProfileHash(project, unhex(name[2])) AS id
    FROM (SELECT splitByChar(':', arrayJoin(splitByChar(' ', '${list}'))) AS name))`;
}

function keySql(id: string): string {
  return `reinterpretAsUInt64(substring(${id}, 1, 8))`;
}

/** The names in hex, in pieces: nothing but hex digits gets into a statement. */
function* nameLists(names: readonly ProfileName[]): Generator<string> {
  let list: string[] = [];
  let bytes = 0;
  for (const { projectId, distinctId } of names) {
    const name = `${Buffer.from(projectId).toString('hex')}:${Buffer.from(distinctId).toString('hex')}`;
    list.push(name);
    bytes += name.length;
    if (bytes < maxListBytes) continue;
    yield list.join(' ');
    list = [];
    bytes = 0;
  }
  if (list.length > 0) yield list.join(' ');
}

/** An id has up to two rows, each with its own part of the record. */
function readRow(row: readonly unknown[], records: Map<string, ProfileRecord>): void {
  const [projectId, distinctId, edge, named, deleted, keys, values, deviceId, ...rest] = row;
  const [createTimeMs, updateTimeMs, owner, root, mergeTimeMs, mergeSource] = rest;
  const key = recordKey(String(projectId), String(distinctId));
  const record = records.get(key) ?? newRecord(String(projectId), String(distinctId));
  records.set(key, record);
  if (edge === true) {
    record.wasClaimed = true;
    record.owner = String(owner);
    record.root = String(root);
    record.mergeTimeMs = Number(mergeTimeMs);
    record.mergeSource = mergeSource === 'identify' || mergeSource === 'alias' ? mergeSource : '';
    return;
  }
  record.named = named === true;
  record.deleted = deleted === true;
  record.deviceId = String(deviceId);
  record.createTimeMs = Number(createTimeMs);
  record.updateTimeMs = Number(updateTimeMs);
  if (!Array.isArray(keys) || !Array.isArray(values)) throw new Error('profiles: no traits');
  for (const [index, name] of keys.entries()) {
    const [trait, json] = [String(name), String(values[index])];
    record.traits.set(trait, json);
    record.traitsLength += trait.length + json.length;
  }
}

/** Whether the table has a block of this version: blocks are there whole or not at all. */
export async function isStored(
  clickhouse: Client,
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

const insertSql = `INSERT INTO profiles (project_id, edge, distinct_id, named, deleted, traits, device_id,
  create_time, update_time, owner, root, merge_time, merge_source, shard, version) FORMAT JSONEachRow`;

/** The rows of one batch. */
export interface ProfileBlock {
  rows: number;
  /** JSON, one row a line. */
  text: string;
}

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

/** Resolves once the rows are on disk, all of them in one part. */
export async function insertBlock(clickhouse: Client, block: ProfileBlock): Promise<void> {
  const { stream } = await clickhouse.exec({
    query: insertSql,
    values: Readable.from([Buffer.from(block.text)]),
    clickhouse_settings: {
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

function profileLine(record: ProfileRecord, shard: number, version: string): string {
  return JSON.stringify({
    ...keysOf(record, shard, version),
    edge: false,
    named: record.named,
    deleted: record.deleted,
    traits: Object.fromEntries(record.traits),
    device_id: record.deviceId,
    create_time: moment(record.createTimeMs),
    update_time: moment(record.updateTimeMs),
  });
}

function edgeLine(record: ProfileRecord, shard: number, version: string): string {
  return JSON.stringify({
    ...keysOf(record, shard, version),
    edge: true,
    owner: record.owner,
    merge_time: moment(record.mergeTimeMs),
    merge_source: record.mergeSource,
  });
}

function keysOf(record: ProfileRecord, shard: number, version: string) {
  return {
    project_id: record.projectId,
    distinct_id: record.distinctId,
    root: record.root,
    shard,
    version,
  };
}

// Most times of a batch are those of a few frames.
let lastMs = Number.NaN;
let lastMoment = '';

function moment(timeMs: number): string {
  if (timeMs !== lastMs) {
    lastMs = timeMs;
    lastMoment = new Date(timeMs).toISOString().replace('T', ' ').slice(0, -1);
  }
  return lastMoment;
}
