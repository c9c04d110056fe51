// Groups of visits by what their first event was, from the table visit_entries.

import type { Question } from '../../read/question.ts';
import { groupColumn } from '../../sql/read-events.ts';
import { noLengths } from './visit.ts';
import { severalRowsSql, type VisitDays } from './visit-days.ts';

export const entryColumns = [
  ...['referrer_domain', 'channel', 'utm_source', 'utm_medium', 'utm_campaign'],
  ...['country', 'browser', 'os', 'device_type', 'pathname'],
];

/**
 * SELECT of cells that count visits by these columns of their first event. Rows of the table have weights that add up
 * to the number of visits: each weighs 1 as if it were a visit, and one weighs -1 besides that is not the earliest of
 * its day or follows a day of the session. `isAsked` is a condition on their session_id.
 */
export function storedEntriesSql(
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
  const keys = columns.map((_, index) => groupColumn(index));
  const groups = columns.map((column, index) => `concat('=', ${column}) AS ${keys[index]}, `);
  // One column of few values is grouped in a third of the time of two.
  const isOne = days.hasOneBucket && columns.length > 0;
  return `SELECT ${[...keys, isOne ? `${days.bucket} AS bucket` : 'bucket'].join(', ')}, toInt64(sum(weight)) AS visits, ${noLengths}
    FROM (SELECT weight, ${groups.join('')}${days.bucket} AS bucket FROM (${entries}))
    GROUP BY ${(isOne ? keys : [...keys, 'bucket']).join(', ')} HAVING visits > 0`;
}
