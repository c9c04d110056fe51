// Days of profiles that are kept for a condition on events: the quarters of an hour in which a profile sent such
// events, in the form of the table profile_days, which has them for all events. A merge changes none of these rows.

import type { EventCondition } from '../read/event-condition.ts';
import type { Question } from '../read/question.ts';
import { quarterMs } from '../read/time-buckets.ts';
import { readEventsSql } from '../sql/read-events.ts';
import { daysToKeep, editionsToKeep, keptEditions, keyOf, listDaysSql } from './day-cells.ts';
import { morningQuarters } from './profile-days.ts';

/** As many rows take the room of a kept cell. */
export const rowsOfCell = 4;
/** Of one thread of a statement, which fails before it writes any; more are not worth their place. */
const maxRows = 4_000_000;
/** Ends a SELECT of rows to keep. */
export const boundedRows = `SETTINGS max_rows_to_group_by = ${maxRows}, group_by_overflow_mode = 'throw'`;

/** Has the profiles' days kept, and returns FROM and PREWHERE of those that are, with the columns of profile_days. */
export function keptProfileDays(question: Question, condition: EventCondition): string {
  const { project, bindings } = question;
  const rows = rowsSql(question, condition);
  // The rows know nothing of buckets.
  const key = keyOf({ ...question, buckets: [0] }, rows);
  const keep = `INSERT INTO kept_profile_days (project_id, series, day, profile_key, cookieless, morning, evening, edition)
    SELECT {keep_project:String}, '${key}', day, profile_key, cookieless, morning, evening,
      ${editionsToKeep}[indexOf(${daysToKeep}, day)] FROM (${rows})`;
  const room = `(SELECT intDiv(count(), ${rowsOfCell}) FROM kept_profile_days
    WHERE project_id = {keep_project:String} AND series = '${key}' AND edition IN ${editionsToKeep})`;
  question.dayCells.push({
    keys: [key],
    reachDays: 0,
    keep: [keep, listDaysSql(room)],
  });
  return `FROM kept_profile_days PREWHERE project_id = ${project} AND series = ${bindings.bind('String', key)} AND edition IN ${keptEditions}`;
}

/** SELECT of a UTC day's rows, one for each profile. */
function rowsSql(question: Question, condition: EventCondition): string {
  const quarter = `intDiv(toUnixTimestamp64Milli(occur_time), ${quarterMs}) % ${2 * morningQuarters}`;
  const columns = {
    ...{ day: 'toDate(occur_time)', sender_key: 'profile_key', is_cookieless: 'cookieless' },
    is_morning: `${quarter} < ${morningQuarters}`,
    bit: `bitShiftLeft(toUInt64(1), ${quarter} % ${morningQuarters})`,
  };
  const events = readEventsSql(question, { condition, columns, days: daysToKeep });
  return `SELECT day, sender_key AS profile_key, max(is_cookieless) AS cookieless,
      groupBitOr(if(is_morning, bit, 0)) AS morning, groupBitOr(if(is_morning, 0, bit)) AS evening
    FROM (${events}) GROUP BY day, sender_key ${boundedRows}`;
}
