// Pages of a webhook's attempts, newest first. The table is read from the newest day backwards, in ever wider windows,
// so that a page that the last day fills costs that day only.

import { type Clock, dayMs } from '../../platform/clock.ts';
import type { AttemptRecord, AttemptStatus } from '../../platform/webhooks/attempt-record.ts';
import { attemptColumns, readAttempt } from './attempt-row.ts';
import type { BoundedReads, ReadRowsOf } from './bounded-reads.ts';
import { decodePageToken, encodePageToken, type LogPosition } from './page-token.ts';

export interface AttemptQuery {
  organizationId: string;
  webhookId: string;
  /** From 1 to 1,000. */
  pageSize: number;
  /** Empty for the first page. */
  pageToken: string;
  status?: AttemptStatus;
  eventType?: string;
  /** Of the events. */
  projectId?: string;
  /** The events' must be one of them; absent, of all projects. */
  projectIds?: readonly string[];
  /** In ms since the epoch, `toMs` excluded. */
  fromMs?: number;
  toMs?: number;
}

/** A row of the log, without the body that was sent. */
export type ListedAttempt = Omit<AttemptRecord, 'payload'>;

export type AttemptPage =
  | { kind: 'read'; attempts: readonly ListedAttempt[]; nextPageToken: string }
  /** The page token was not made for this query. */
  | { kind: 'bad_token' };

/** The table's TTL: the engine deletes whole days, and so later. */
export const keptDays = 30;
export const maxPageSize = 1_000;
/** A page that passes it ends earlier than its size says. */
const maxCharacters = 8 * 1_048_576;
/** Attempts of a process whose clock is ahead. */
const aheadMs = dayMs;
/** The first has the day ahead and the last one. */
const windowDays = [2, 8];

/** Throws as BoundedReads says. */
export async function readAttempts(
  { reads, clock }: { reads: BoundedReads; clock: Clock },
  query: AttemptQuery,
  gone?: AbortSignal,
): Promise<AttemptPage> {
  const conditions = conditionsOf(query);
  const { pageToken } = query;
  const after = pageToken === '' ? undefined : decodePageToken(pageToken, conditions);
  if (pageToken !== '' && after === undefined) return { kind: 'bad_token' };
  const nowMs = clock.nowMs();
  const pageSize = Math.min(maxPageSize, Math.max(1, query.pageSize));
  const range = {
    fromMs: Math.max(query.fromMs ?? 0, nowMs - keptDays * dayMs),
    toMs: Math.min(query.toMs ?? nowMs + aheadMs, (after?.attemptTimeMs ?? Infinity) + 1),
  };
  const found = await reads.run(
    query.organizationId,
    (rowsOf) => readNewest(rowsOf, { ...query, pageSize }, range, after),
    gone,
  );
  const rows = found.rows.slice(0, pageSize);
  const attempts = rows.flatMap((row) => readAttempt(query, row) ?? []);
  const last = attempts.at(-1);
  const hasMore = found.rows.length > pageSize || found.stopped;
  return {
    kind: 'read',
    attempts: attempts.map(({ payload: _unread, ...attempt }) => attempt),
    nextPageToken: hasMore && last !== undefined ? encodePageToken(last, conditions) : '',
  };
}

interface TimeRange {
  fromMs: number;
  toMs: number;
}

/** One row more than the page has, where there is one. */
async function readNewest(
  rowsOf: ReadRowsOf,
  query: AttemptQuery,
  range: TimeRange,
  after: LogPosition | undefined,
): Promise<{ rows: unknown[][]; stopped: boolean }> {
  const rows: unknown[][] = [];
  let characters = 0;
  for (const window of newestFirst(range)) {
    const maxRows = query.pageSize + 1 - rows.length;
    const found = await rowsOf({
      ...pageStatement(query, window, after, maxRows),
      maxCharacters: maxCharacters - characters,
    });
    rows.push(...found.rows);
    characters += found.characters;
    if (found.stopped) return { rows, stopped: true };
    if (rows.length > query.pageSize) break;
  }
  return { rows, stopped: false };
}

function* newestFirst({ fromMs, toMs }: TimeRange): Generator<TimeRange> {
  let endMs = toMs;
  for (const days of [...windowDays, keptDays + 2]) {
    if (endMs <= fromMs) return;
    const startMs = Math.max(fromMs, endMs - days * dayMs);
    yield { fromMs: startMs, toMs: endMs };
    endMs = startMs;
  }
}

/** An attempt whose record was inserted twice is one row: both have one place in the order. */
function pageStatement(
  { organizationId, webhookId, status, eventType, projectId, projectIds }: AttemptQuery,
  { fromMs, toMs }: TimeRange,
  after: LogPosition | undefined,
  maxRows: number,
): { sql: string; params: Record<string, unknown> } {
  const conditions = [
    'organization_id = {organizationId:String} AND webhook_id = {webhookId:String}',
    `attempt_time >= ${moment('fromMs')} AND attempt_time < ${moment('toMs')}`,
    ...(after === undefined
      ? []
      : [`(attempt_time, attempt_id) < (${moment('afterMs')}, {afterId:String})`]),
    ...(status === undefined ? [] : ['status = {status:String}']),
    ...(eventType === undefined ? [] : ['event_type = {eventType:String}']),
    ...(projectId === undefined ? [] : ['project_id = {projectId:String}']),
    ...(projectIds === undefined ? [] : ['project_id IN {projectIds:Array(String)}']),
  ];
  return {
    sql: `
      SELECT ${attemptColumns}
      FROM webhook_attempts
      WHERE ${conditions.join(' AND ')}
      ORDER BY organization_id DESC, webhook_id DESC, attempt_time DESC, attempt_id DESC
      LIMIT 1 BY attempt_time, attempt_id
      LIMIT {maxRows:UInt32}`,
    params: {
      ...{ organizationId, webhookId, fromMs, toMs, maxRows },
      ...(after !== undefined && { afterMs: after.attemptTimeMs, afterId: after.attemptId }),
      ...(status !== undefined && { status }),
      ...(eventType !== undefined && { eventType }),
      ...(projectId !== undefined && { projectId }),
      ...(projectIds !== undefined && { projectIds }),
    },
  };
}

export function moment(param: string): string {
  return `fromUnixTimestamp64Milli({${param}:Int64}, 'UTC')`;
}

function conditionsOf(query: AttemptQuery): string {
  const { organizationId, webhookId, status, eventType, projectId, projectIds } = query;
  const { fromMs, toMs } = query;
  const which = [organizationId, webhookId, status, eventType, projectId, projectIds];
  return JSON.stringify([...which, fromMs, toMs]);
}
