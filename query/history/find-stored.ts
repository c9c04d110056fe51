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
import { type Bindings, createBindings } from '../filters/bindings.ts';
import { momentMs } from '../moment.ts';
import { readRows, type Statement } from '../read-rows.ts';

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
  // A range without events is told in a tenth of the time that ids take, and a first import asks of nothing else.
  const bounds = { deadline, maxRows: 1, maxCharacters };
  const range = { projectId, fromMs, toMs };
  const any = await readRows(clickhouse, anyOf(range), bounds);
  if (any.kind === 'too-large') throw lacksMemory();
  if (any.rows.length === 0) return create(FindStoredResponseSchema, { projectId });
  const result = await readRows(clickhouse, thoseOf(range, eventIds), bounds);
  if (result.kind === 'too-large') throw lacksMemory();
  const [[digits = ''] = []] = result.rows;
  return create(FindStoredResponseSchema, {
    projectId,
    eventIds: Buffer.from(String(digits), 'hex'),
  });
}

function lacksMemory(): ConnectError {
  return new ConnectError('the store lacks memory: ask again', Code.ResourceExhausted);
}

interface Range {
  projectId: string;
  fromMs: number;
  toMs: number;
}

function anyOf(range: Range): Statement {
  const bindings = createBindings();
  return { sql: `SELECT 1 FROM ${eventsOf(range, bindings)} LIMIT 1`, params: bindings.params };
}

function thoseOf(range: Range, eventIds: Uint8Array): Statement {
  const bindings = createBindings();
  const sql = `SELECT arrayStringConcat(groupUniqArray(hex(UUIDToNum(event_id)))) FROM ${eventsOf(range, bindings)}
      AND event_id IN (SELECT reinterpretAsUUID(substring(unhex('${halvesTurned(eventIds)}'),
        ${idBytes} * number + 1, ${idBytes})) FROM numbers(${eventIds.length / idBytes}))
    LIMIT 1`;
  return { sql, params: bindings.params };
}

function eventsOf({ projectId, fromMs, toMs }: Range, bindings: Bindings): string {
  const moment = (ms: number): string =>
    `fromUnixTimestamp64Milli(${bindings.bind('Int64', ms)}, 'UTC')`;
  return `events WHERE project_id = ${bindings.bind('String', projectId)}
      AND occur_time >= ${moment(fromMs)} AND occur_time < ${moment(toMs)}`;
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
  return Buffer.from(ids).swap64().toString('hex');
}
