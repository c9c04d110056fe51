// How many visits began in each bucket, how long they were and how many saw one page only, also by their last page
// view. All of it is from the table visits.

import type { Question } from '../../read/question.ts';
import { groupColumn } from '../../sql/read-events.ts';
import { cellColumns, isBounceSql, sumColumns } from './visit.ts';
import { daysAround, severalRowsSql, type VisitDays } from './visit-days.ts';

/** What the table knows of a last page view. */
export const exitColumns = ['pathname'];
/** Bytes of the moment and the id; '=' and the page follow. */
const momentBytes = 24;

/** SELECT of the cells of visits; `byExit` of those that had a page view, by that many columns of their last one. */
export function endedVisitsSql(
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
  const groups = Array.from({ length: width }, (_, index) => `text AS ${groupColumn(index)}, `);
  const added = sumColumns.map((sum) => `sum(cell.${sum}) AS ${sum}`).join(', ');
  return `SELECT ${groups.join('')}bucket, ${added} FROM (${rows}) AS cell
    WHERE text != '' GROUP BY bucket, text HAVING visits > 0`;
}
