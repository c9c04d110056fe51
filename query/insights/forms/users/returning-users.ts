// SQL for the users of RETENTION: cohort, the place of the bucket of their first starting event, bitColumns of the
// buckets in which they returned, and the groups of that event.

import type { EventCondition } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { userBitsSql } from '../../sources/activity.ts';
import { sourceOf } from '../../sources/ladder.ts';
import { bitColumns, placeBits, placesSql } from '../../sql/bucket-bits.ts';
import { bucketPlaceSql } from '../../sql/bucket-place.ts';
import { eventOrderSql, groupColumn, readEventsSql } from '../../sql/read-events.ts';
import { groupColumnsSql, groupsTupleSql } from './group-columns.ts';

/** One event starts and returns: the least bit is the cohort. */
export function sameEventUsersSql(question: Question, condition: EventCondition): string {
  const { buckets, breakdowns, fromMs, toMs } = question;
  const columns = bitColumns(buckets.length);
  const cohort = `toUInt16(${placesSql(columns)}[1]) AS cohort`;
  if (breakdowns.length === 0) {
    const users = userBitsSql(question, { condition, buckets, ranges: [{ fromMs, toMs }] });
    return `SELECT ${cohort}, ${columns.join(', ')} FROM (${users})`;
  }
  const names = breakdowns.map((_, index) => groupColumn(index));
  const bits = placeBits(buckets.length, (bit) => `groupBitOr(${bit})`);
  return `SELECT ${groupColumnsSql(names)}${cohort}, ${columns.join(', ')} FROM (
    SELECT ${bits}, argMin(${groupsTupleSql(names)}, ${eventOrderSql}) AS groups
    FROM (${readSql(question, condition, breakdowns)}) WHERE user_key != 0 GROUP BY user_key)`;
}

/** The first starting event of each user is found first; the other events are joined to it and none is kept. */
export function returningUsersSql(
  question: Question,
  start: EventCondition,
  back: EventCondition,
): string {
  const { buckets, breakdowns } = question;
  const names = breakdowns.map((_, index) => groupColumn(index));
  const columns = bitColumns(buckets.length);
  const groups = names.length === 0 ? '' : `argMin(${groupsTupleSql(names)}, moment) AS groups, `;
  const starts = `SELECT user_key AS starting_key, ${groups}min(place) AS start_place, min(moment) AS first
    FROM (SELECT *, ${eventOrderSql} AS moment FROM (${readSql(question, start, breakdowns)}))
    WHERE user_key != 0 GROUP BY user_key`;
  // Few events are of the bucket in which their user started: only these are compared by their order. Who never
  // returned has an event with the place 0 and the first moment there is, which is before each first one.
  const isBack = `place > start_place OR (place = start_place AND ${eventOrderSql} >= first)`;
  const bits = placeBits(buckets.length, (bit) => `groupBitOrIf(${bit}, ${isBack})`);
  return `SELECT ${groupColumnsSql(names)}cohort, ${columns.join(', ')} FROM (
    SELECT any(start_place) AS cohort, ${names.length === 0 ? '' : 'any(groups) AS groups, '}${bits}
    FROM (${readSql(question, back, [])}) AS returns
    RIGHT JOIN (${starts}) AS starts ON returns.user_key = starts.starting_key
    GROUP BY starting_key)`;
}

/** SELECT of the place of an event's bucket, its user and its groups. */
function readSql(question: Question, condition: EventCondition, groups: readonly string[]): string {
  sourceOf(question, { count: 'users in order', of: condition, groups });
  const place = bucketPlaceSql(question, question.buckets);
  return readEventsSql(question, { condition, groups, columns: { place }, withUser: true });
}
