// SELECT of visits from the table visits, which has a row for each UTC day of a session. Where the window in which a
// visit's events count ends within a day, the visits that go on beyond its end are read event by event.

import { columnOfProperty } from '../../../platform/clickhouse/event-columns.ts';
import type { EventCondition } from '../events/event-condition.ts';
import { groupColumn, momentSql } from '../events/read-events.ts';
import type { Question } from '../question/question.ts';
import { type VisitRead, visitMarginMs } from './visit.ts';

/** What the texts of a visit's first and last event hold, in this order, after the moment and the event's id. */
const entryColumns = [
  ...['kind', 'pathname', 'referrer_domain', 'channel', 'utm_source', 'utm_medium', 'utm_campaign'],
  ...['country', 'browser', 'os', 'device_type'],
];
const exitColumns = ['kind', 'pathname'];
/** Bytes of the moment and the id. */
const momentBytes = 24;
const dayMs = 24 * 3_600_000;
/** The last one that a Date can be. */
const latestDayMs = Date.UTC(2149, 5, 6);

/** The rows of rawVisitsSql; undefined where the table cannot tell. */
export function storedVisitsSql(question: Question, read: VisitRead): string | undefined {
  const { bindings, fromMs, toMs, asOfMs } = question;
  const columns = read.edge === 'first' ? entryColumns : exitColumns;
  const groups = question.breakdowns.map((property) => columnIn(columns, question, property));
  const isServed =
    asOfMs === undefined && read.someEvent.kind === 'every' && read.edgeEvent.kind !== 'filtered';
  if (!isServed || !groups.every((place) => place !== undefined)) return undefined;
  const needsEdge = groups.length > 0 || read.edgeEvent.kind !== 'every';
  const edge = read.edge === 'first' ? 'min(entry)' : 'max(exit)';
  const visits = `SELECT session_id, min(day_visit.first_time) AS first, max(day_visit.last_time) AS last,
      sum(day_visit.events) AS events, sum(day_visit.views) AS views
      ${needsEdge ? `, splitByChar(char(255), substring(${edge}, ${momentBytes + 1})) AS edge` : ''}
    FROM (${dayVisitsSql(question)}) AS day_visit GROUP BY session_id
    HAVING first >= ${momentSql(fromMs, bindings)} AND first < ${momentSql(toMs, bindings)}`;
  const groupParts = groups.map(
    (place, index) => `, concat('=', edge[${place}]) AS ${groupColumn(index)}`,
  );
  return `SELECT first AS occur_time, last AS last_time, events, views${groupParts.join('')} FROM (${visits})
    ${edgeCondition(read.edgeEvent)}`;
}

/** Its place in the text, from 1; undefined for a property that the text lacks or may have had other values. */
function columnIn(
  columns: readonly string[],
  { typesOf }: Question,
  property: string,
): number | undefined {
  const types = typesOf(property);
  const isText = types !== undefined && [...types].every((type) => type === 'column');
  const place = columns.indexOf(columnOfProperty.get(property)?.column ?? '');
  return isText && place >= 0 ? place + 1 : undefined;
}

/** The condition names the column `kind`, and nothing else. */
function edgeCondition({ kind, sql }: EventCondition): string {
  return kind === 'every' ? '' : `WHERE (edge[1] AS kind) != '' AND ${sql}`;
}

/**
 * The rows of visits a day, within the window. Its first day needs no care: a visit with events before the window's
 * start and after it on that day began before the range.
 */
function dayVisitsSql({ project, bindings, fromMs, toMs }: Question): string {
  const startMs = fromMs - visitMarginMs;
  const endMs = toMs + visitMarginMs;
  const start = momentSql(startMs, bindings);
  const end = momentSql(endMs, bindings);
  const dayOf = (ms: number): string =>
    `toDate(${momentSql(Math.min(Math.max(ms, 0), latestDayMs), bindings)})`;
  const lastDay = dayOf(endMs);
  const columns = 'session_id, first_time, last_time, events, views, entry, exit';
  const rows = `SELECT ${columns} FROM visits WHERE project_id = ${project}
    AND day >= ${dayOf(startMs)} AND last_time >= ${start}`;
  if (endMs % dayMs === 0) return `${rows} AND day < ${lastDay}`;
  const cut = `(SELECT session_id FROM visits WHERE project_id = ${project} AND day = ${lastDay}
    AND first_time < ${end} AND last_time >= ${end})`;
  // No visit of the range begins on the last day, so that its first event there need not be known.
  const moment = `concat(reverse(reinterpretAsFixedString(toUnixTimestamp64Milli(event.occur_time))), UUIDToNum(event.event_id))`;
  const begun = `SELECT session_id, min(event.occur_time) AS first_time, max(event.occur_time) AS last_time, count() AS events,
      countIf(kind = 'page_view') AS views, char(255) AS entry, max(concat(${moment}, kind, char(255), pathname)) AS exit
    FROM events AS event
    WHERE project_id = ${project} AND occur_time >= ${momentSql(endMs - (endMs % dayMs), bindings)} AND occur_time < ${end} AND session_id IN ${cut}
    GROUP BY session_id`;
  const days = [
    `${rows} AND day < ${lastDay}`,
    `${rows} AND day = ${lastDay} AND first_time < ${end} AND session_id NOT IN ${cut}`,
    `SELECT ${columns} FROM (${begun})`,
  ];
  return days.join(' UNION ALL ');
}
