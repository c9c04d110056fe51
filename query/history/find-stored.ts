// ActivityService.FindStored: which of some ids the events of a range have. An import asks before it sends, because ids
// alone tell a repetition for 48 hours.

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import { dayMs } from '../../platform/clock.ts';
import { invalidArgument } from '../../platform/http/answers/invalid-argument.ts';
import {
  type FindStoredRequest,
  type FindStoredResponse,
  FindStoredResponseSchema,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import type { Deadline } from '../deadline.ts';
import { createBindings } from '../filters/bindings.ts';
import { momentMs } from '../moment.ts';
import { readRows } from '../read-rows.ts';

const maxIds = 10_000;
const maxDays = 400;
const idBytes = 16;
/** Every id as 32 digits. */
const maxCharacters = 32 * maxIds + 64;

/** Throws invalid_argument, resource_exhausted where the store lacks memory, and the client's errors. */
export async function findStored(
  clickhouse: RowReader,
  projectId: string,
  request: FindStoredRequest,
  deadline: Deadline,
): Promise<FindStoredResponse> {
  const { fromMs, toMs } = readRange(request);
  const { eventIds } = request;
  const count = eventIds.length / idBytes;
  if (!Number.isInteger(count) || count > maxIds) {
    throw invalidArgument('eventIds', `must be 16 bytes for each of at most ${maxIds} ids`);
  }
  if (count === 0) return create(FindStoredResponseSchema, { projectId });
  const bindings = createBindings();
  const moment = (ms: number): string =>
    `fromUnixTimestamp64Milli(${bindings.bind('Int64', ms)}, 'UTC')`;
  const sql = `SELECT arrayStringConcat(groupUniqArray(hex(UUIDToNum(event_id)))) FROM events
    WHERE project_id = ${bindings.bind('String', projectId)}
      AND occur_time >= ${moment(fromMs)} AND occur_time < ${moment(toMs)}
      AND event_id IN (SELECT reinterpretAsUUID(substring(unhex('${halvesTurned(eventIds)}'),
        ${idBytes} * number + 1, ${idBytes})) FROM numbers(${count}))
    LIMIT 1`;
  const bounds = { deadline, maxRows: 1, maxCharacters };
  const result = await readRows(clickhouse, { sql, params: bindings.params }, bounds);
  if (result.kind === 'too-large') {
    throw new ConnectError('the store lacks memory: ask again', Code.ResourceExhausted);
  }
  const [[digits = ''] = []] = result.rows;
  return create(FindStoredResponseSchema, {
    projectId,
    eventIds: Buffer.from(String(digits), 'hex'),
  });
}

function readRange({ timeRange }: FindStoredRequest): { fromMs: number; toMs: number } {
  const fromMs = momentMs('timeRange.from', timeRange?.from);
  const toMs = momentMs('timeRange.to', timeRange?.to);
  if (fromMs === undefined) throw invalidArgument('timeRange.from', 'must be given');
  if (toMs === undefined) throw invalidArgument('timeRange.to', 'must be given');
  if (fromMs > toMs) throw invalidArgument('timeRange', 'from must not be after to');
  if (toMs - fromMs > maxDays * dayMs) {
    throw invalidArgument('timeRange', `takes at most ${maxDays} days`);
  }
  return { fromMs, toMs };
}

/** As hex digits for reinterpretAsUUID, which reads two little-endian halves. */
function halvesTurned(ids: Uint8Array): string {
  const bytes = Buffer.from(ids);
  const half = idBytes / 2;
  for (let at = 0; at < bytes.length; at += half) bytes.subarray(at, at + half).reverse();
  return bytes.toString('hex');
}
