// SELECT of the rows of visits within a question's window. Where the window ends within a day, what the visits that go
// on beyond its end have on that day is read event by event.

import type { Question } from '../question/question.ts';
import type { VisitDays } from './visit-days.ts';

/**
 * session_id, first_time, last_time, events, views and, where asked for, exit. The window's first day needs no care: a
 * visit with events before the window's start and after it on that day began before the range.
 */
export function dayVisitsSql({ project }: Question, days: VisitDays, withExit: boolean): string {
  const { start, firstDay, end, lastDay, lastDayStart, endsWithDay } = days;
  const columns = `session_id, first_time, last_time, events, views${withExit ? ', exit' : ''}`;
  const rows = `SELECT ${columns} FROM visits WHERE project_id = ${project} AND day >= ${firstDay} AND last_time >= ${start}`;
  if (endsWithDay) return `${rows} AND day < ${lastDay}`;
  const cut = `(SELECT session_id FROM visits WHERE project_id = ${project} AND day = ${lastDay}
    AND first_time < ${end} AND last_time >= ${end})`;
  // No visit of the range begins on the last day, so that its first event there need not be known.
  const moment = `concat(reverse(reinterpretAsFixedString(toUnixTimestamp64Milli(event.occur_time))), UUIDToNum(event.event_id))`;
  const exit = withExit ? `, max(concat(${moment}, kind, char(255), pathname)) AS exit` : '';
  const begun = `SELECT session_id, min(event.occur_time) AS first_time, max(event.occur_time) AS last_time, count() AS events,
      countIf(kind = 'page_view') AS views${exit}
    FROM events AS event
    WHERE project_id = ${project} AND occur_time >= ${lastDayStart} AND occur_time < ${end} AND session_id IN ${cut}
    GROUP BY session_id`;
  return [
    `${rows} AND day < ${lastDay}`,
    `${rows} AND day = ${lastDay} AND first_time < ${end} AND session_id NOT IN ${cut}`,
    `SELECT ${columns} FROM (${begun})`,
  ].join(' UNION ALL ');
}
