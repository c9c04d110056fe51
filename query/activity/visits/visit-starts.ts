// Which visits a page has: their sessions and first moments, from the table of days of sessions. Nearly all sessions
// have one row in a window, which is the visit; only the others are put together. Whatever the range, a statement keeps
// the page's rows and a number for each session.

import { Code, ConnectError } from '@connectrpc/connect';
import type { RowReader } from '../../../platform/clickhouse/select-rows.ts';
import { dayMs } from '../../../platform/clock.ts';
import { maxQuestionMs } from '../../../platform/limits.ts';
import type { Position } from '../../cursor.ts';
import type { Deadline } from '../../deadline.ts';
import { type Bindings, createBindings } from '../../filters/bindings.ts';
import type { Range } from '../../insights/read/plan-notes.ts';
import { eventsListedSql, type ListedSegments } from '../../insights/segments/listed-persons.ts';
import { visitWindow } from '../../insights/sources/visits/visit.ts';
import { daysAround, severalRowsSql } from '../../insights/sources/visits/visit-days.ts';
import { daySql, momentSql } from '../../insights/sql/read-events.ts';
import { readRows, type Statement } from '../../read-rows.ts';
import { newestFirst, type TimeWindow } from '../time-windows.ts';

export interface VisitsAsked {
  projectId: string;
  /** In which a visit begins: half-open, in milliseconds since the epoch. */
  fromMs: number;
  toMs: number;
  /** The last visit of the page before. */
  after: Position | undefined;
  maxRows: number;
  /** Conditions that one of a visit's events meets. */
  meets: (bindings: Bindings) => string[];
  /** The same event is of somebody in these; their conditions look at `range`. */
  listed: ListedSegments;
  range: Range;
}

export interface VisitStart {
  sessionId: string;
  startMs: number;
}

/** Of a row that is a UUID and a number. */
const maxCharacters = 1_048_576;
/** A quiet day costs a statement, a busy one fills the page. */
const firstDays = 1;
const growth = 8;

/** Newest first, then by session id; at most `maxRows`. Throws resource_exhausted and the client's errors. */
export async function readVisitStarts(
  clickhouse: RowReader,
  asked: VisitsAsked,
  nowMs: number,
  deadline: Deadline,
): Promise<VisitStart[]> {
  const { fromMs, toMs, after, maxRows } = asked;
  const range = { fromMs, toMs: after === undefined ? toMs : Math.min(toMs, after.timeMs + 1) };
  const starts: VisitStart[] = [];
  for (const window of newestFirst(range, nowMs, firstDays, growth)) {
    const missing = maxRows - starts.length;
    const statement = startsSql(asked, window, missing);
    const bounds = { deadline, maxRows: missing, maxCharacters };
    const result = await readRows(clickhouse, statement, bounds);
    if (result.kind === 'too-large') {
      const narrower = 'the visits are too many to sort: ask for a shorter timeRange';
      throw new ConnectError(narrower, Code.ResourceExhausted);
    }
    for (const [id, ms] of result.rows) starts.push({ sessionId: String(id), startMs: Number(ms) });
    if (starts.length >= maxRows) break;
  }
  return starts;
}

/** Rows of: session id; its first moment in ms. */
function startsSql(asked: VisitsAsked, { fromMs, toMs }: TimeWindow, maxRows: number): Statement {
  const { projectId, after } = asked;
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const between = (startMs: number, endMs: number): string =>
    `day >= ${daySql(startMs, bindings)} AND day <= ${daySql(endMs - 1, bindings)}`;
  const around = visitWindow({ fromMs, toMs });
  const inWindow = between(around.fromMs, around.toMs);
  const isSeveral = severalRowsSql('visits', { project }, inWindow);
  const ofProject = `FROM visits WHERE project_id = ${project}`;
  const alone = `SELECT session_id, first_time AS first ${ofProject} AND ${between(fromMs, toMs)} AND NOT ${isSeveral}`;
  const several = `SELECT session_id, min(first_time) AS first
    FROM (SELECT session_id, day, first_time ${ofProject} AND ${inWindow} AND ${isSeveral})
    ${daysAround.join('true')} GROUP BY ${daysAround.by} HAVING ${daysAround.isVisit}`;
  const conditions = [
    `first >= ${momentSql(fromMs, bindings)}`,
    `first < ${momentSql(toMs, bindings)}`,
  ];
  conditions.push(...ofEventsSql(asked, { project, bindings }, { fromMs, toMs }));
  if (after !== undefined) {
    const position = `${momentSql(after.timeMs, bindings)}, toUInt128(${bindings.bind('UUID', after.id)})`;
    conditions.push(`(first, toUInt128(session_id)) < (${position})`);
  }
  const sql = `SELECT toString(session_id), toUnixTimestamp64Milli(first) FROM (${alone} UNION ALL ${several})
    WHERE ${conditions.join(' AND ')} ORDER BY first DESC, toUInt128(session_id) DESC LIMIT ${maxRows}`;
  return { sql, params: bindings.params };
}

/**
 * None where neither a filter nor a segment is named. An event belongs to the visit that begins on its UTC day or on
 * the one before.
 */
function ofEventsSql(
  { projectId, meets, listed, range }: VisitsAsked,
  { project, bindings }: { project: string; bindings: Bindings },
  { fromMs, toMs }: TimeWindow,
): string[] {
  const ofEvents = [
    ...meets(bindings),
    ...eventsListedSql({ projectId, project, bindings, range }, listed),
  ];
  if (ofEvents.length === 0) return [];
  const lastMs = Math.min(toMs + 2 * dayMs, maxQuestionMs);
  const conditions = [
    `project_id = ${project}`,
    `occur_time >= ${momentSql(fromMs, bindings)}`,
    `occur_time < ${momentSql(lastMs, bindings)}`,
    ...ofEvents,
  ];
  const days = 'arrayJoin([toDate(occur_time), toDate(occur_time) - 1])';
  return [
    `(session_id, toDate(first)) IN (SELECT session_id, ${days} FROM events WHERE ${conditions.join(' AND ')})`,
  ];
}
