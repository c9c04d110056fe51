// Pages of a project's dead letters, or of all projects', newest first, from the table dead_letters. The pipeline
// writes it (pipeline/consume/dead-letter-rows.ts); the letters' contents are in the broker alone.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import { dayMs } from '../../platform/clock.ts';
import { invalidArgument } from '../../platform/http/answers/invalid-argument.ts';
import {
  type DeadLetter,
  DeadLetterSchema,
  type IngestHealthRequest,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { decodeCursor, encodeCursor, type Position } from '../cursor.ts';
import type { Deadline } from '../deadline.ts';
import { readRows } from '../read-rows.ts';

const defaultPageSize = 100;
const maxPageSize = 1_000;
/** The table's TTL: the engine deletes later than that. */
const keptDays = 30;
/** A thousand rows of the longest kinds. */
const maxCharacters = 1_048_576;

interface PageAsked {
  pageSize: number;
  after: Position | undefined;
  /** The bytes that seal page tokens. */
  conditions: Uint8Array;
}

export interface DeadLetterPage {
  letters: { projectId: string; letter: DeadLetter }[];
  nextPageToken: string;
}

/** Throws invalid_argument that names the field and its rule. */
export function readPageAsked(
  projectId: string | undefined,
  { pageSize, pageToken }: Pick<IngestHealthRequest, 'pageSize' | 'pageToken'>,
): PageAsked {
  if (pageSize < 0 || pageSize > maxPageSize) {
    throw invalidArgument('pageSize', `must be from 1 to ${maxPageSize}`);
  }
  const conditions = Buffer.from(`dead letters of ${projectId ?? 'all projects'}`);
  const after = pageToken === '' ? undefined : decodeCursor(pageToken, conditions);
  if (pageToken !== '' && after === undefined) {
    throw invalidArgument('pageToken', 'must be a nextPageToken of this method');
  }
  return { pageSize: pageSize === 0 ? defaultPageSize : pageSize, after, conditions };
}

const order = ['time', 'shard', 'stream_seq', 'request', 'event'];

/** From all `groups` of the store that have letters. Throws the client's errors. */
export async function readDeadLetters(
  groups: readonly RowReader[],
  projectId: string | undefined,
  { pageSize, after, conditions }: PageAsked,
  { nowMs, deadline }: { nowMs: number; deadline: Deadline },
): Promise<DeadLetterPage> {
  const sinceMs = nowMs - keptDays * dayMs;
  const place = after && placeOf(after.id);
  const maxRows = pageSize + 1;
  const statement = {
    sql: `
        SELECT toUnixTimestamp64Milli(time), shard, stream_seq, request, event, reason, kind, event_id, events,
          project_id
        FROM dead_letters FINAL
        WHERE ${projectId === undefined ? '' : 'project_id = {project:String} AND '}time >= ${moment('sinceMs')} ${
          place === undefined
            ? ''
            : `AND (${order.join(', ')}) < (${moment('afterMs')}, {shard:UInt16}, {seq:UInt64}, {request:Int32}, {event:Int32})`
        }
        ORDER BY ${order.map((column) => `${column} DESC`).join(', ')}
        LIMIT {maxRows:UInt32}`,
    params: {
      ...(projectId !== undefined && { project: projectId }),
      sinceMs,
      ...(after && { afterMs: after.timeMs }),
      ...place,
      maxRows,
    },
  };
  const pages = await Promise.all(
    groups.map(async (clickhouse) => {
      const result = await readRows(clickhouse, statement, { deadline, maxRows, maxCharacters });
      if (result.kind === 'too-large') {
        const message = 'too many dead letters at once: ask for less';
        throw new ConnectError(message, Code.ResourceExhausted);
      }
      return { rows: result.rows.map(readRow), stopped: result.stopped };
    }),
  );
  const { rows, hasMore } = firstOf(pages, pageSize);
  const last = rows.at(-1);
  return {
    letters: rows.map(({ letter, projectId }) => ({ letter, projectId })),
    nextPageToken: hasMore && last !== undefined ? encodeCursor(last.position, conditions) : '',
  };
}

interface LetterRows {
  rows: ReturnType<typeof readRow>[];
  /** Whether others follow that were not read. */
  stopped: boolean;
}

/** The first rows of all pages; none behind the last row of a page that others follow. */
function firstOf(
  pages: readonly LetterRows[],
  pageSize: number,
): { rows: LetterRows['rows']; hasMore: boolean } {
  const all = pages.flatMap(({ rows }) => rows).sort(inOrder);
  const ends = pages.flatMap(({ rows, stopped }) => (stopped ? rows.slice(-1) : []));
  const known = all.filter((row) => ends.every((end) => inOrder(row, end) <= 0));
  const rows = known.slice(0, pageSize);
  return { rows, hasMore: rows.length < all.length || ends.length > 0 };
}

/** Rows of one moment and shard are of one group, in whose order they stay. */
function inOrder(one: LetterRows['rows'][number], other: LetterRows['rows'][number]): number {
  const [a, b] = [one.position, other.position];
  return (
    b.timeMs - a.timeMs ||
    Number.parseInt(b.id.slice(0, 4), 16) - Number.parseInt(a.id.slice(0, 4), 16)
  );
}

function readRow(row: readonly unknown[]) {
  const [time, shard, seq, request, event, reason, kind, eventId, events, projectId = ''] =
    row.map(String);
  const timeMs = Number(time);
  const id = Buffer.alloc(16);
  id.writeUInt16BE(Number(shard), 0);
  id.writeUIntBE(Number(seq), 2, 6);
  id.writeInt32BE(Number(request), 8);
  id.writeInt32BE(Number(event), 12);
  const letter = create(DeadLetterSchema, {
    time: timestampFromMs(timeMs),
    reason: reason ?? '',
    kind: kind ?? '',
    eventId: eventId ?? '',
    events: BigInt(events ?? 0),
  });
  return { projectId, letter, position: { timeMs, id: id.toString('hex') } };
}

/** The parameters of the place that `readRow` has written. */
function placeOf(id: string) {
  const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
  return {
    shard: bytes.readUInt16BE(0),
    seq: bytes.readUIntBE(2, 6),
    request: bytes.readInt32BE(8),
    event: bytes.readInt32BE(12),
  };
}

function moment(param: 'sinceMs' | 'afterMs'): string {
  return `fromUnixTimestamp64Milli({${param}:Int64}, 'UTC')`;
}
