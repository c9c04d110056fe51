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
/** Of so few stored events all ids are read: to look for ten thousand takes the engine several times as long. */
const maxRead = 50_000;
/** Of an id in an answer of the engine. */
const digits = 32;
const maxCharacters = digits * (maxRead + 1) + 64;

/** Throws invalid_argument, resource_exhausted where the store lacks memory, and the client's errors. */
export async function findStored(
  clickhouse: RowReader,
  projectId: string,
  request: FindStoredRequest,
  deadline: Deadline,
  maxCompared = maxRead,
): Promise<FindStoredResponse> {
  const { fromMs, toMs } = readRange(request);
  const { eventIds } = request;
  const count = eventIds.length / idBytes;
  if (!Number.isInteger(count) || count > maxIds) {
    throw invalidArgument('eventIds', `must be 16 bytes for each of at most ${maxIds} ids`);
  }
  if (count === 0) return create(FindStoredResponseSchema, { projectId });
  const range = { projectId, fromMs, toMs };
  const read = async (statement: Statement): Promise<Buffer> => {
    const result = await readRows(clickhouse, statement, { deadline, maxRows: 1, maxCharacters });
    if (result.kind === 'too-large') throw lacksMemory();
    const [[text = ''] = []] = result.rows;
    return Buffer.from(String(text), 'hex');
  };
  const stored = await read(someOf(range, maxCompared + 1));
  const isWhole = stored.length <= maxCompared * idBytes;
  const found = isWhole ? amongThem(eventIds, stored) : await read(thoseOf(range, eventIds));
  return create(FindStoredResponseSchema, { projectId, eventIds: found });
}

/** Those of the ids that are stored, each once. */
function amongThem(asked: Uint8Array, stored: Buffer): Buffer {
  const names = new Set<string>();
  if (stored.length === 0) return stored;
  const ids = Buffer.from(asked.buffer, asked.byteOffset, asked.byteLength);
  for (let at = 0; at < ids.length; at += idBytes)
    names.add(ids.toString('latin1', at, at + idBytes));
  const found: Buffer[] = [];
  for (let at = 0; at < stored.length; at += idBytes) {
    if (!names.delete(stored.toString('latin1', at, at + idBytes))) continue;
    found.push(stored.subarray(at, at + idBytes));
  }
  return Buffer.concat(found);
}

function lacksMemory(): ConnectError {
  return new ConnectError('the store lacks memory: ask again', Code.ResourceExhausted);
}

interface Range {
  projectId: string;
  fromMs: number;
  toMs: number;
}

function someOf(range: Range, limit: number): Statement {
  const bindings = createBindings();
  const sql = `SELECT ${joined('groupArray')} FROM (
    SELECT event_id FROM ${eventsOf(range, bindings)} LIMIT ${limit})`;
  return { sql, params: bindings.params };
}

function thoseOf(range: Range, eventIds: Uint8Array): Statement {
  const bindings = createBindings();
  const sql = `SELECT ${joined('groupUniqArray')} FROM ${eventsOf(range, bindings)}
      AND event_id IN (SELECT reinterpretAsUUID(substring(unhex('${halvesTurned(eventIds)}'),
        ${idBytes} * number + 1, ${idBytes})) FROM numbers(${eventIds.length / idBytes}))
    LIMIT 1`;
  return { sql, params: bindings.params };
}

/** The digits of ids in the order of their texts. */
function joined(gathered: 'groupArray' | 'groupUniqArray'): string {
  return `arrayStringConcat(${gathered}(hex(UUIDToNum(event_id))))`;
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
