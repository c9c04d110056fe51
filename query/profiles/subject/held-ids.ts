// The ids of a person, as identity calls left them: whoever is hidden has them too, which Get does not answer.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import type { RowReader } from '../../../platform/clickhouse/select-rows.ts';
import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import { hasMoreCodePoints, maxDistinctIdCodePoints } from '../../../platform/limits.ts';
import {
  type GetDataSubjectRequest,
  type HeldId,
  HeldIdSchema,
} from '../../../proto/gen/shared/profiles/v1/profiles_pb.js';
import type { Deadline } from '../../deadline.ts';
import { createBindings } from '../../filters/bindings.ts';
import { idBytesSql, profileIdSql, rootSql } from '../../identity/identity-sql.ts';
import type { JsonStandIns } from '../../json-codec.ts';
import { readRows } from '../../read-rows.ts';

/** Ids of one message; fewer where their traits are large. */
const pageSize = 100;
const maxPageCharacters = 1_048_576;

/** Throws invalid_argument where none or both ids are given, and for a text that is no id of a profile. */
export function checkSubject({ externalId, id }: GetDataSubjectRequest): void {
  if (externalId === '' && id === '') throw invalidArgument('externalId', 'is required');
  if (externalId !== '' && id !== '')
    throw invalidArgument('id', 'is not for a request with externalId');
  if (hasMoreCodePoints(externalId, maxDistinctIdCodePoints)) {
    throw invalidArgument('externalId', `takes at most ${maxDistinctIdCodePoints} code points`);
  }
  if (id !== '' && !/^[0-9a-f]{32}$/.test(id)) {
    throw invalidArgument('id', 'must be 32 lower-case hex digits');
  }
}

/** The profile id in hex of the person whom the request names, after merges. Throws the client's errors. */
export async function readRoot(
  clickhouse: RowReader,
  projectId: string,
  { externalId, id }: GetDataSubjectRequest,
  deadline: Deadline,
): Promise<string> {
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const asked =
    id === ''
      ? profileIdSql(project, bindings.bind('String', externalId))
      : idBytesSql(bindings.bind('String', id));
  const sql = `SELECT lower(hex(${rootSql(project, asked)}))`;
  const bounds = { deadline, maxRows: 1, maxCharacters: 1_024 };
  const read = await readRows(clickhouse, { sql, params: bindings.params }, bounds);
  const found = read.kind === 'rows' ? read.rows[0]?.[0] : undefined;
  if (typeof found !== 'string') throw new Error('the engine answers no profile id');
  return found;
}

/**
 * In the table's order, a page at a time. `standIns` belong to an answer in JSON, and are absent in binary. Throws the
 * client's errors.
 */
export async function* readHeldIds(
  clickhouse: RowReader,
  projectId: string,
  root: string,
  startDeadline: () => Deadline,
  standIns: JsonStandIns | undefined,
): AsyncGenerator<HeldId[]> {
  for (let after: readonly [boolean, string] | undefined; ; ) {
    const bindings = createBindings();
    const project = bindings.bind('String', projectId);
    const person = idBytesSql(bindings.bind('String', root));
    const rest =
      after === undefined
        ? ''
        : `AND (edge, profile_id) > (${after[0]}, ${idBytesSql(bindings.bind('String', after[1]))})`;
    const sql = `SELECT edge, lower(hex(profile_id)), distinct_id, named, deleted, device_id, mapKeys(traits),
        mapValues(traits), toUnixTimestamp64Milli(create_time), toUnixTimestamp64Milli(update_time), owner,
        toUnixTimestamp64Milli(merge_time)
      FROM profiles FINAL
      WHERE project_id = ${project} AND ((NOT edge AND profile_id = ${person}) OR (edge AND root_id = ${person})) ${rest}
      ORDER BY edge, profile_id LIMIT ${pageSize}`;
    const bounds = {
      deadline: startDeadline(),
      maxRows: pageSize,
      maxCharacters: maxPageCharacters,
    };
    const read = await readRows(clickhouse, { sql, params: bindings.params }, bounds);
    if (read.kind === 'too-large') {
      throw new ConnectError('the ids are too many to be read', Code.ResourceExhausted);
    }
    if (read.rows.length > 0) yield read.rows.map((row) => heldId(row, standIns));
    if (read.rows.length < pageSize && !read.stopped) return;
    const [edge, id] = read.rows.at(-1) ?? [];
    after = [edge === true, String(id)];
  }
}

function heldId(row: readonly unknown[], standIns: JsonStandIns | undefined): HeldId {
  const [, profileId, distinctId, named, hidden, deviceId, keys, values, ...rest] = row;
  const [createdMs, updatedMs, mergedInto, mergedMs] = rest.map(String);
  const jsonTexts = texts(values);
  const traits = texts(keys).map((key, at): [string, string] => [
    key === '__proto__' && standIns !== undefined ? standIns.protoKey : key,
    jsonTexts[at] ?? 'null',
  ]);
  const held = create(HeldIdSchema, {
    ...{ profileId: String(profileId), distinctId: String(distinctId) },
    ...{ named: named === true, hidden: hidden === true, deviceId: String(deviceId) },
    createTime: timestampFromMs(Number(createdMs)),
    updateTime: timestampFromMs(Number(updatedMs)),
    mergedInto: mergedInto ?? '',
    ...(mergedInto !== '' && { mergeTime: timestampFromMs(Number(mergedMs)) }),
  });
  held.traits = Object.fromEntries(traits);
  return held;
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
