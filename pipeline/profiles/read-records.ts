// Reads records of profiles from the table, by id and by root. insert-block.ts writes them, changes.ts gives them their
// meaning.

import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { newRecord, type ProfileRecord, recordKey, traitsOf } from './record.ts';

/** A distinct id of a project. */
export interface ProfileName {
  projectId: string;
  distinctId: string;
}

type Client = Pick<ClickHouseClient, 'query'>;

/** The size of one list of names. A statement holds a list up to twice. */
const maxListBytes = 2 * 1_048_576;
const maxStatementBytes = 8 * 1_048_576;
const unlimited = 0;
/** ClickHouse's TOO_MANY_ROWS_OR_BYTES. */
const tooManyBytes = '396';

const columns = `project_id, distinct_id, edge, named, deleted, mapKeys(traits), mapValues(traits),
  arrayMap(key -> inherited[key], mapKeys(traits)), device_id, toUnixTimestamp64Milli(create_time), toUnixTimestamp64Milli(update_time), owner, root,
  toUnixTimestamp64Milli(merge_time), merge_source, members`;

/** Up to this many names, the table's order finds rows sooner than a scan of all keys. */
const fewNames = 500;

/**
 * The stored records of these ids, in any order; ids without a record are left out. Throws an error for which
 * isTooLarge holds where the answer has more than `maxBytes`, and the client's errors.
 */
export async function loadRecords(
  clickhouse: Client,
  names: readonly ProfileName[],
  maxBytes = unlimited,
): Promise<ProfileRecord[]> {
  const records = new Map<string, ProfileRecord>();
  for (const list of nameLists(names)) {
    // PREWHERE filters before FINAL, which is right here: all versions of a row have the same key.
    const keys = `PREWHERE profile_key IN (SELECT ${keySql('id')} FROM ${idsSql(list)})`;
    const ids = `WHERE (project_id, profile_id) IN (SELECT project, id FROM ${idsSql(list)})`;
    const where = names.length <= fewNames ? `${keys} ${ids}` : keys;
    for (const row of await select(clickhouse, columns, where, maxBytes)) readRow(row, records);
  }
  return [...records.values()];
}

/** The stored records of all ids whose root is one of these; throws the same errors as loadRecords. */
export async function loadMembers(
  clickhouse: Client,
  roots: readonly ProfileName[],
  maxBytes = unlimited,
): Promise<ProfileRecord[]> {
  const members: ProfileName[] = [];
  for (const list of nameLists(roots)) {
    const where = `WHERE edge AND (project_id, root_id) IN (SELECT project, id FROM ${idsSql(list)})`;
    const rows = await select(clickhouse, 'project_id, distinct_id', where, maxBytes);
    for (const [projectId, distinctId] of rows) {
      members.push({ projectId: String(projectId), distinctId: String(distinctId) });
    }
  }
  // The edge's row of an id lacks its traits and times: the other row has them.
  return loadRecords(clickhouse, members, maxBytes);
}

/** Whether the engine gave up because a result had more bytes than allowed. */
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

/** Project and profile id of each name, from one literal: tens of thousands would take half a second to read. */
function idsSql(list: string): string {
  return `(SELECT unhex(name[1]) AS project, millraceProfileHash(project, unhex(name[2])) AS id
    FROM (SELECT splitByChar(':', arrayJoin(splitByChar(' ', '${list}'))) AS name))`;
}

function keySql(id: string): string {
  return `reinterpretAsUInt64(substring(${id}, 1, 8))`;
}

/** Lists of the names in hex: no character of a name gets into a statement. */
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

/** Adds one row to its record: an id has up to two rows, each with a part of the record. */
function readRow(row: readonly unknown[], records: Map<string, ProfileRecord>): void {
  const [projectId, distinctId, edge, named, deleted, keys, values, givers, ...rest] = row;
  const [deviceId, createTimeMs, updateTimeMs, owner, root, mergeTimeMs, mergeSource, members] =
    rest;
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
  record.members = Number(members);
  const isArrays = Array.isArray(keys) && Array.isArray(values) && Array.isArray(givers);
  if (!isArrays) throw new Error('profiles: no traits');
  for (const [index, key] of keys.entries()) {
    const trait = [String(key), String(values[index])] as const;
    const giver = String(givers[index]);
    if (giver === '') traitsOf(record).set(trait);
    else traitsOf(record).inherit(trait, giver);
  }
}
