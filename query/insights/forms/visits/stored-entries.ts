// Groups of visits by what their first event was, from the table visit_entries; the lengths of these visits, and the
// first or last event of a kind, are found with the table visits.

import { both, type EventCondition, every } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { eventOrderSql, groupColumn, readEventsSql } from '../../sql/read-events.ts';
import { isBounceSql, type VisitRead } from './visit.ts';
import { daysAround, severalRowsSql, type VisitDays } from './visit-days.ts';
import { noLengths, partsSql, type VisitPart } from './visit-groups.ts';

export const entryColumns = [
  ...['referrer_domain', 'channel', 'utm_source', 'utm_medium', 'utm_campaign'],
  ...['country', 'browser', 'os', 'device_type', 'pathname'],
];

/**
 * SELECT of the cells of all `parts`, which count visits, as visit-groups.ts takes them. One more part costs a tenth of
 * finding the visits.
 */
export function storedEntriesSql(
  question: Question,
  parts: readonly VisitPart[],
  width: number,
  days: VisitDays,
): string {
  const read = [...new Set(parts.flatMap(({ columns }) => columns))];
  const mask = (set: readonly string[]): number =>
    // Of the bits of a set, the last column's is the least, and those of its columns are 0.
    read.reduce((bits, column) => 2 * bits + (set.includes(column) ? 0 : 1), 0);
  const sets = [
    ...new Map(parts.map(({ columns }) => [mask(columns), [...new Set(columns)]])).values(),
  ];
  const names = read.join(', ');
  // One column of few values is grouped in a third of the time of two.
  const isOne = days.hasOneBucket;
  const by = sets.map((set) => `(${[...set, ...(isOne ? [] : ['bucket'])].join(', ')})`).join(', ');
  const { bucket } = days;
  const entries = entriesSql(question, read, days);
  const bucketed = isOne ? entries : `SELECT *, ${bucket} AS bucket FROM (${entries})`;
  const rows = `SELECT ${names}, toUInt64(grouping(${names})) AS in_set, ${isOne ? `${bucket} AS bucket` : 'bucket'},
      sum(weight) AS visits, ${noLengths}
    FROM (${bucketed}) GROUP BY GROUPING SETS (${by}) HAVING visits > 0`;
  return partsSql(rows, parts, {
    width,
    valueOf: (column) => column,
    holds: ({ columns }) => `in_set = ${mask(columns)}`,
  });
}

/**
 * SELECT of cells with all parts, by these columns of the first event. Each day of a session is looked up in both
 * tables.
 */
export function storedLengthsSql(
  question: Question,
  columns: readonly string[],
  days: VisitDays,
): string {
  const unlike = [...new Set(columns)];
  const numbers = `SELECT session_id, day, first_time, last_time, events, views, passive, toUInt256(0) AS precedence${emptyTexts(unlike)}
    FROM visits WHERE project_id = ${question.project} AND ${days.inWindow}`;
  const entries = `SELECT session_id, day, occur_time AS first_time, occur_time AS last_time, toUInt64(0) AS events, toUInt64(0) AS views,
      toUInt64(0) AS passive, precedence, ${unlike.join(', ')}
    FROM visit_entries WHERE project_id = ${question.project} AND ${days.untilRangeEnds}`;
  // An insert fills one table after the other: until it has filled both, its visits are not there.
  const visits = `SELECT min(row.first_time) AS occur_time, max(row.last_time) AS last, sum(row.events) AS all_events,
      sum(row.views) AS all_views, sum(row.passive) AS all_passive, ${edgesSql(unlike)}
    ${visitsOfRowsSql(question, [numbers, entries], days)} AND max(row.precedence) != 0 AND all_events != 0`;
  return edgeCellsSql(columns, days, {
    visits,
    lengths: `sum(toUnixTimestamp64Milli(last) - toUnixTimestamp64Milli(occur_time)) AS duration_ms,
      toInt64(countIf(${isBounceSql('all_events', 'all_views', 'all_passive')})) AS bounces, toInt64(sum(all_events)) AS events`,
  });
}

/**
 * SELECT of cells that count visits by these columns of their first or last event of a kind; those without such an
 * event do not count. `isAsked` is a condition on their session_id. The state of a visit is kept small: those of many
 * days spill to disk, which takes three times the CPU.
 */
export function visitsByKindSql(
  question: Question,
  read: Pick<VisitRead, 'edge' | 'edgeKind'>,
  columns: readonly string[],
  days: VisitDays,
  isAsked = 'true',
): string {
  const unlike = [...new Set(columns)];
  const begun = `SELECT session_id, day, first_time AS occur_time, toUInt8(1) AS found, toUInt256(0) AS precedence${emptyTexts(unlike)}
    FROM visits WHERE project_id = ${question.project} AND ${days.inWindow} AND ${isAsked}`;
  const ofKind = `SELECT session_id, day, occur_time, toUInt8(2) AS found, precedence${unlike.map((column) => `, ${column}`).join('')}
    FROM (${eventsOfKindSql(question, read, unlike, days)}) WHERE ${isAsked}`;
  const edges = unlike.length === 0 ? '' : `, ${edgesSql(unlike)}`;
  const visits = `SELECT min(row.occur_time) AS occur_time${edges}
    ${visitsOfRowsSql(question, [begun, ofKind], days)} AND groupBitOr(row.found) = 3`;
  return edgeCellsSql(columns, days, { visits, lengths: noLengths });
}

/**
 * The same for first events. Nearly all sessions begin with the kind that is asked for: their first events are in
 * visit_entries. Only of sessions that have a day that begins otherwise all events of the kind are read.
 */
export function entriesOfKindSql(
  question: Question,
  read: Pick<VisitRead, 'edge' | 'edgeKind'>,
  columns: readonly string[],
  days: VisitDays,
): string {
  const isOther = `session_id IN (SELECT session_id FROM visit_entries
    WHERE project_id = ${question.project} AND ${days.untilRangeEnds} AND kind != ${question.bindings.bind('String', read.edgeKind)})`;
  const known = entriesSql(question, [...new Set(columns)], days, `NOT ${isOther}`);
  const by = [...columns.map((_, index) => groupColumn(index)), 'bucket'].join(', ');
  const groups = columns.map((column, index) => `concat('=', ${column}) AS ${groupColumn(index)},`);
  return `SELECT 0 AS part, ${by}, toInt64(sum(weight)) AS visits, ${noLengths}
    FROM (SELECT weight, ${groups.join(' ')} ${days.bucket} AS bucket FROM (${known})) GROUP BY ${by} HAVING visits > 0
    UNION ALL ${visitsByKindSql(question, read, columns, days, isOther)}`;
}

function emptyTexts(columns: readonly string[]): string {
  return columns.map((column) => `, toLowCardinality('') AS ${column}`).join('');
}

/** A tuple of the columns would take twice as long. */
function edgesSql(columns: readonly string[]): string {
  return columns
    .map((column) => `argMax(row.${column}, row.precedence) AS edge_${column}`)
    .join(', ');
}

/** The rest of a SELECT of visits, from FROM on: `rows` are of days of sessions. It goes on with AND. */
function visitsOfRowsSql(question: Question, rows: readonly string[], days: VisitDays): string {
  const several = severalRowsSql('visits', question, days.inWindow);
  return `FROM (${rows.join(' UNION ALL ')}) AS row ${daysAround.join(several)} GROUP BY ${daysAround.by}
    HAVING ${daysAround.isVisit} AND ${days.begins('occur_time')}`;
}

function edgeCellsSql(
  columns: readonly string[],
  days: VisitDays,
  { visits, lengths }: { visits: string; lengths: string },
): string {
  const by = [...columns.map((_, index) => groupColumn(index)), 'bucket'].join(', ');
  const groups = columns.map(
    (column, index) => `concat('=', edge_${column}) AS ${groupColumn(index)},`,
  );
  return `SELECT 0 AS part, ${by}, toInt64(count()) AS visits, ${lengths}
    FROM (SELECT *, ${groups.join(' ')} ${days.bucket} AS bucket FROM (${visits})) GROUP BY ${by}`;
}

/** SELECT of the events of the kind on the days of the range's visits, with a precedence as in visit_entries. */
function eventsOfKindSql(
  question: Question,
  { edge, edgeKind }: Pick<VisitRead, 'edge' | 'edgeKind'>,
  columns: readonly string[],
  { events, isOfVisit }: VisitDays,
): string {
  const ofKind: EventCondition = {
    sql: `kind = ${question.bindings.bind('String', edgeKind)} AND ${isOfVisit('toDate(occur_time)')}`,
    usesUser: false,
    kind: { is: edgeKind },
  };
  const read = {
    session_id: 'session_id',
    day: 'toDate(occur_time)',
    precedence: edge === 'first' ? `bitNot(${eventOrderSql})` : eventOrderSql,
    ...Object.fromEntries(columns.map((column) => [column, column])),
  };
  const everyEvent = { ...question, everyEvent: every };
  const condition = both(events.condition, ofKind);
  return readEventsSql(everyEvent, { ...events, condition, columns: read });
}

/**
 * Rows of (occur_time, weight, and these columns) whose weights add up to the number of visits of the range: each row
 * weighs 1 as if it were a visit, and one weighs -1 besides that is not the earliest of its day or follows a day of the
 * session.
 */
function entriesSql(
  question: Question,
  columns: readonly string[],
  days: VisitDays,
  isAsked = 'true',
): string {
  const several = severalRowsSql('visit_entries', question, days.untilRangeEnds);
  const names = columns.map((column) => `, ${column}`).join('');
  const placed = `SELECT occur_time${names}, day - lagInFrame(day) OVER (PARTITION BY session_id ORDER BY precedence DESC) AS days_since
    FROM visit_entries WHERE project_id = ${question.project} AND ${days.untilRangeEnds} AND ${several} AND ${isAsked}`;
  return `SELECT occur_time, toInt8(1) AS weight${names} FROM visit_entries
    WHERE project_id = ${question.project} AND ${days.ofRange} AND ${days.isInRange('occur_time')} AND ${isAsked}
    UNION ALL SELECT occur_time, toInt8(-1) AS weight${names} FROM (${placed}) WHERE days_since < 2 AND ${days.begins('occur_time')}`;
}
