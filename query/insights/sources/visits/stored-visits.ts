// Which questions about visits are answered from the tables that have a row for each UTC day of a session, and how.
// visits has how many there are, how long, how many saw one page only, and the last page view; visit_entries has what
// the first event of each was.

import { columnOfProperty } from '../../../../platform/clickhouse/event-columns.ts';
import { both, eventsWhere } from '../../read/event-condition.ts';
import { isOfColumn } from '../../read/property-types.ts';
import type { Question } from '../../read/question.ts';
import { groupColumns } from '../../sql/read-events.ts';
import { rawCellsSql } from './raw-visits.ts';
import {
  cellColumns,
  isBounceSql,
  noLengths,
  sumColumns,
  type VisitRead,
  viewKind,
} from './visit.ts';
import { daysAround, severalRowsSql, type VisitDays } from './visit-days.ts';

/** What the table visits knows of a last page view. */
const exitColumns = ['pathname'];
/** What the table visit_entries knows of a first event. */
const entryColumns = [
  ...['referrer_domain', 'channel', 'utm_source', 'utm_medium', 'utm_campaign'],
  ...['country', 'browser', 'os', 'device_type', 'pathname'],
];

/** Writes the cells of visits; undefined where the tables cannot tell. */
export function storedVisits(
  question: Question,
  read: VisitRead,
): ((days: VisitDays) => string) | undefined {
  const { edge, edgeKinds, metric } = read;
  const byExit = edge === 'last' && edgeKinds.length === 1 && edgeKinds[0] === viewKind;
  const columns = columnsIn(byExit ? exitColumns : entryColumns, question);
  if (columns === undefined) return undefined;
  const width = columns.length;
  if (byExit || (width === 0 && edgeKinds.length === 0)) {
    return (days) => endedVisitsSql(question, { byExit, width }, days);
  }
  // No table has the last event of another kind, and none has both how long a visit is and where it began.
  if (edge === 'last' || metric.measure.isRatio) return undefined;
  return edgeKinds.length === 0
    ? (days) => storedEntriesSql(question, columns, days)
    : (days) => entriesOfKindSql(question, read, columns, days);
}

/**
 * Nearly all sessions begin with a kind that is asked for: their first events are in visit_entries. Only of sessions
 * that have a day that begins otherwise all events are read.
 */
function entriesOfKindSql(
  question: Question,
  read: VisitRead,
  columns: readonly string[],
  days: VisitDays,
): string {
  const kinds = question.bindings.bind('Array(String)', read.edgeKinds);
  const isOther = `session_id IN (SELECT session_id FROM visit_entries
    WHERE project_id = ${question.project} AND ${days.inWindow} AND kind NOT IN ${kinds})`;
  const condition = both(days.events.condition, eventsWhere(isOther));
  const others = { ...days, events: { ...days.events, condition } };
  return `${storedEntriesSql(question, columns, days, `NOT ${isOther}`)}
    UNION ALL ${rawCellsSql(question, read, others)}`;
}

/**
 * The columns of the breakdowns. Undefined where one is none of `columns`, or of a property that may have had values
 * besides those of its column.
 */
function columnsIn(columns: readonly string[], question: Question): string[] | undefined {
  const found = question.breakdowns.map((property) => {
    const column = columnOfProperty.get(property)?.column ?? '';
    const isKnown = columns.includes(column) && isOfColumn(question.typesOf(property));
    return isKnown ? column : undefined;
  });
  return found.every((column) => column !== undefined) ? found : undefined;
}

/** Bytes of the moment and the id; '=' and the page follow. */
const momentBytes = 24;

/**
 * SELECT of the cells of visits, from the table visits; `byExit` of those that had a page view, by that many columns of
 * their last one.
 */
function endedVisitsSql(
  question: Question,
  { byExit, width }: { byExit: boolean; width: number },
  days: VisitDays,
): string {
  const { project } = question;
  const { bucket } = days;
  const text = byExit ? `substring(last_view, ${momentBytes + 1})` : `''`;
  // A constant among them would make grouping by one text twice as dear.
  const keys = [...(days.hasOneBucket ? [] : ['bucket']), ...(byExit ? ['text'] : [])];
  const by = keys.length === 0 ? '' : `GROUP BY ${keys.join(', ')}`;
  // Each row counts as if it were a visit. Of sessions with several rows that is taken back, and the visits that they
  // are are added.
  const alone = `SELECT ${bucket} AS bucket, ${text} AS text, toInt64(count()) AS visits,
      toInt64(sum(toUnixTimestamp64Milli(last_time) - toUnixTimestamp64Milli(first_time))) AS duration_ms,
      toInt64(countIf(${isBounceSql('row.events', 'row.views', 'row.passive')})) AS bounces, toInt64(sum(row.events)) AS events
    FROM (SELECT *, first_time AS occur_time FROM visits WHERE project_id = ${project} AND ${days.ofRange}) AS row
    WHERE ${days.isInRange('occur_time')} ${by}`;
  const numbers = `SELECT session_id, day, toUnixTimestamp64Milli(first_time) AS first, toUnixTimestamp64Milli(last_time) AS last,
      toUInt64(events) AS seen, toUInt64(views) AS viewed, toUInt64(passive) AS unmeant, ${byExit ? 'toString(last_view)' : `''`} AS ended
    FROM visits WHERE project_id = ${project} AND ${days.inWindow} AND ${severalRowsSql('visits', question, days.inWindow)}`;
  const around = `SELECT groupArrayIf((first, last, seen, viewed, ended, unmeant), shift = 0) AS rows, ${daysAround.isVisit} AS begins,
      (min(first), max(last), sum(seen), sum(viewed), max(ended), sum(unmeant)) AS visit
    FROM (${numbers}) ${daysAround.join('true')} GROUP BY ${daysAround.by}`;
  const changes = `SELECT if(place = 1, begins, -1) AS weight, one.1 AS first, one.2 AS last, one.3 AS seen, one.4 AS viewed,
      one.5 AS last_view, one.6 AS unmeant, fromUnixTimestamp64Milli(first, 'UTC') AS occur_time
    FROM (${around}) ARRAY JOIN arrayPushFront(rows, visit) AS one, arrayEnumerate(arrayPushFront(rows, visit)) AS place
    WHERE ${days.begins('occur_time')}`;
  const changed = `SELECT ${bucket} AS bucket, ${text} AS text, toInt64(sum(weight)) AS visits,
      toInt64(sum(weight * (last - first))) AS duration_ms, toInt64(sum(weight * ${isBounceSql('seen', 'viewed', 'unmeant')})) AS bounces,
      toInt64(sum(weight * toInt64(seen))) AS events
    FROM (${changes}) ${by}`;
  const rows = `${alone} UNION ALL ${changed}`;
  // A bucket of zeros says as much as none. The planner takes milliseconds for each SELECT around these rows.
  if (!byExit) return `SELECT ${cellColumns.join(', ')} FROM (${rows})`;
  const groups = groupColumns(width).map((name) => `text AS ${name}, `);
  const added = sumColumns.map((sum) => `sum(cell.${sum}) AS ${sum}`).join(', ');
  return `SELECT ${groups.join('')}bucket, ${added} FROM (${rows}) AS cell
    WHERE text != '' GROUP BY bucket, text HAVING visits > 0`;
}

/**
 * SELECT of cells that count visits by these columns of their first event. Rows of the table have weights that add up
 * to the number of visits: each weighs 1 as if it were a visit, and one weighs -1 besides that is not the earliest of
 * its day or follows a day of the session. `isAsked` is a condition on their session_id.
 */
function storedEntriesSql(
  question: Question,
  columns: readonly string[],
  days: VisitDays,
  isAsked = 'true',
): string {
  const several = severalRowsSql('visit_entries', question, days.inWindow);
  const names = [...new Set(columns)].map((column) => `, ${column}`).join('');
  const placed = `SELECT occur_time${names}, day - lagInFrame(day) OVER (PARTITION BY session_id ORDER BY precedence DESC) AS days_since
    FROM visit_entries WHERE project_id = ${question.project} AND ${days.inWindow} AND ${several} AND ${isAsked}`;
  const entries = `SELECT occur_time, toInt8(1) AS weight${names} FROM visit_entries
    WHERE project_id = ${question.project} AND ${days.ofRange} AND ${days.isInRange('occur_time')} AND ${isAsked}
    UNION ALL SELECT occur_time, toInt8(-1) AS weight${names} FROM (${placed}) WHERE days_since < 2 AND ${days.begins('occur_time')}`;
  const keys = groupColumns(columns.length);
  const groups = columns.map((column, index) => `concat('=', ${column}) AS ${keys[index]}, `);
  // One column of few values is grouped in a third of the time of two.
  const isOne = days.hasOneBucket && columns.length > 0;
  return `SELECT ${[...keys, isOne ? `${days.bucket} AS bucket` : 'bucket'].join(', ')}, toInt64(sum(weight)) AS visits, ${noLengths}
    FROM (SELECT weight, ${groups.join('')}${days.bucket} AS bucket FROM (${entries}))
    GROUP BY ${(isOne ? keys : [...keys, 'bucket']).join(', ')} HAVING visits > 0`;
}
