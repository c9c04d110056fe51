// Records of profiles in the table: read by id and by root, and inserted as one block, which is in the table whole or
// not at all. What they mean is profile-changes.ts's.

import { Readable } from 'node:stream';
import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { newRecord, type ProfileRecord, recordKey, traitsOf } from './record.ts';

/** Names one distinct id. */
export interface ProfileName {
  projectId: string;
  distinctId: string;
}

type Client = Pick<ClickHouseClient, 'query' | 'exec' | 'command'>;

/** Bytes of one list of names, which a statement holds up to twice. */
const maxListBytes = 2 * 1_048_576;
const maxStatementBytes = 8 * 1_048_576;
const unlimited = 0;
/** ClickHouse's TOO_MANY_ROWS_OR_BYTES. */
const tooManyBytes = '396';

const columns = `project_id, distinct_id, edge, named, deleted, mapKeys(traits), mapValues(traits),
  arrayMap(key -> inherited[key], mapKeys(traits)), device_id, toUnixTimestamp64Milli(create_time), toUnixTimestamp64Milli(update_time), owner, root,
  toUnixTimestamp64Milli(merge_time), merge_source`;

/** Up to here the table's order finds a few rows sooner than a look at every key does. */
const fewNames = 500;

/** The stored records of these ids; ids without one are left out. Beyond `maxBytes` it throws what isTooLarge knows. */
export async function loadRecords(
  clickhouse: Client,
  names: readonly ProfileName[],
  maxBytes = unlimited,
): Promise<ProfileRecord[]> {
  const records = new Map<string, ProfileRecord>();
  for (const list of nameLists(names)) {
    // Before FINAL, which is right for what the order of the table decides, as it does the key of an id.
    const keys = `PREWHERE profile_key IN (SELECT ${keySql('id')} FROM ${idsSql(list)})`;
    const ids = `WHERE (project_id, profile_id) IN (SELECT project, id FROM ${idsSql(list)})`;
    const where = names.length <= fewNames ? `${keys} ${ids}` : keys;
    for (const row of await select(clickhouse, columns, where, maxBytes)) readRow(row, records);
  }
  return [...records.values()];
}

/** The stored records of all ids whose root is one of these; throws as loadRecords does. */
export async function loadMembers(
  clickhouse: Client,
  roots: readonly ProfileName[],
  maxBytes = unlimited,
): Promise<ProfileRecord[]> {
  const members: ProfileName[] = [];
  for (const list of nameLists(roots)) {
    const where = `WHERE edge AND (project_id, root_id) IN (SELECT project, id FROM ${idsSql(list)})`;
    const rows = await select(clickhouse, 'project_id, distinct_id', where, unlimited);
    for (const [projectId, distinctId] of rows) {
      members.push({ projectId: String(projectId), distinctId: String(distinctId) });
    }
  }
  // An edge's row does not hold what else is known of its id.
  return loadRecords(clickhouse, members, maxBytes);
}

/** Whether the engine gave up because a result had more bytes than it may. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof ClickHouseError && error.code === tooManyBytes;
}

async function select(
  clickhouse: Client,
  what: string,
  where: string,
  maxBytes: number,
): Promise<unknown[][]> {
  const result = await clickhouse.query({
    query: `SELECT ${what} FROM profiles FINAL ${where}`,
    format: 'JSONCompactEachRow',
    clickhouse_settings: {
      max_query_size: String(maxStatementBytes),
      max_result_bytes: String(maxBytes),
    },
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
  const [projectId, distinctId, edge, named, deleted, keys, values, givers, ...rest] = row;
  const [deviceId, createTimeMs, updateTimeMs, owner, root, mergeTimeMs, mergeSource] = rest;
  const key = recordKey(String(projectId), String(distinctId));
  const record = records.get(key) ?? newRecord(String(projectId), String(distinctId));
  records.set(key, record);
  if (edge === true) {
    record.wasClaimed = true;
    record.owner = String(owner);
    record.root = String(root);
    record.storedRoot = record.root;
    record.mergeTimeMs = Number(mergeTimeMs);
    record.mergeSource = mergeSource === 'identify' || mergeSource === 'alias' ? mergeSource : '';
    return;
  }
  record.named = named === true;
  record.deleted = deleted === true;
  record.deviceId = String(deviceId);
  record.createTimeMs = Number(createTimeMs);
  record.updateTimeMs = Number(updateTimeMs);
  const isArrays = Array.isArray(keys) && Array.isArray(values) && Array.isArray(givers);
  if (!isArrays) throw new Error('profiles: no traits');
  for (const [index, key] of keys.entries()) {
    const trait = [String(key), String(values[index])] as const;
    const giver = String(givers[index]);
    if (giver === '') traitsOf(record).set(trait);
    else traitsOf(record).inherit(trait, giver);
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

/** The same record twice is one. What profile_activity remembers of inserts is for those of events, which count. */
const notRemembered = { deduplicate_blocks_in_dependent_materialized_views: 0 } as const;

/** Inserts a stored block once more, for views that a crash may have kept it from: the same row twice is one row. */
export async function insertAgain(
  clickhouse: Client,
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
  create_time, former_create_times, update_time, owner, former_root, merge_time, merge_source, traits, inherited)
  FORMAT JSONCompactEachRow`;

/** The rows of one batch. */
export interface ProfileBlock {
  rows: number;
  /** A JSON array a row and line. */
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

// Text by text, without an object a row: a batch has ten thousands of rows.

function profileLine(record: ProfileRecord, shard: number, version: string): string {
  const { named, deleted, deviceId, createTimeMs, updateTimeMs, traits } = record;
  const former = record.formerCreateTimesMs.map((timeMs) => `"${moment(timeMs)}"`);
  const times = `"${moment(createTimeMs)}",[${former}],"${moment(updateTimeMs)}"`;
  const own = `${named},${deleted},${JSON.stringify(deviceId)},${times}`;
  const maps =
    traits === undefined ? '{},{}' : `${mapText(traits.values)},${mapText(traits.givers)}`;
  return `[${keysText(record, false, shard, version)},${own},"","",${noMoment},"",${maps}]`;
}

function edgeLine(record: ProfileRecord, shard: number, version: string): string {
  const { owner, root, storedRoot, mergeTimeMs, mergeSource } = record;
  const roots = `${JSON.stringify(owner)},${JSON.stringify(storedRoot === root ? '' : storedRoot)}`;
  const edge = `${roots},"${moment(mergeTimeMs)}","${mergeSource}"`;
  const keys = keysText(record, true, shard, version);
  return `[${keys},false,false,"",${noMoment},[],${noMoment},${edge},{},{}]`;
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
