// SQL for the users of RETENTION: cohort, the place of the bucket of their first starting event, bitColumns of the
// buckets in which they returned, and the groups of that event. A user of several cohorts is several rows.

import { dayMs } from '../../../../platform/clock.ts';
import type { EventCondition } from '../../read/event-condition.ts';
import type { Range } from '../../read/plan-notes.ts';
import type { Question } from '../../read/question.ts';
import { userBitsSql } from '../../sources/activity.ts';
import { noteEvents } from '../../sources/ladder.ts';
import { bitColumns, placeBits, placesSql } from '../../sql/bucket-bits.ts';
import { bucketPlaceSql } from '../../sql/bucket-place.ts';
import { eventOrderSql, groupColumns, momentSql, readEventsSql } from '../../sql/read-events.ts';
import { firstGroupsSql, groupColumnsSql, groupedUsersSql } from './grouped-users.ts';

/** One event starts and returns: the least bit is the cohort, of `recurring` each. Of `ever`, nobody has one before. */
export function sameEventUsersSql(
  question: Question,
  condition: EventCondition,
  rules: CohortRules,
): string {
  if (rules.isRolling) return rollingUsersSql(question, condition, rules);
  const { first } = rules;
  const { buckets, breakdowns, fromMs, toMs } = question;
  const columns = bitColumns(buckets.length);
  const names = groupColumns(breakdowns.length);
  const activity = { condition, buckets, ranges: [{ fromMs, toMs }] };
  const before = { condition, buckets: [0], ranges: [{ fromMs: 0, toMs: fromMs }] };
  const places = placesSql(columns);
  const cohort = first === 'recurring' ? `arrayJoin(${places})` : `${places}[1]`;
  return `SELECT ${[...names, `toUInt16(${cohort}) AS cohort`, ...columns].join(', ')} FROM (${groupedUsersSql(question, activity)})
    ${first === 'ever' ? `WHERE user_key NOT IN (SELECT user_key FROM (${userBitsSql(question, before)}))` : ''}`;
}

/** Who is in a cohort, and when they returned: what RetentionQuery says. */
export interface CohortRules {
  first: 'in range' | 'ever' | 'recurring';
  unbounded: boolean;
  /** Days are the 24 hours from each user's own start. */
  isRolling: boolean;
  /** Returns count until then; they may follow the range. */
  returnsToMs: number;
}

/** The same of days that are 24 hours from a user's own start: each user's moments are kept, and none is read twice. */
function rollingUsersSql(
  question: Question,
  condition: EventCondition,
  { first, returnsToMs: toMs }: CohortRules,
): string {
  const { buckets, breakdowns, bindings } = question;
  const names = groupColumns(breakdowns.length);
  const groups = names.length > 0 && `${firstGroupsSql(breakdowns, eventOrderSql)} AS groups, `;
  const read = { toMs, ...(first === 'ever' && { fromMs: 0 }) };
  const users = `SELECT ${groups || ''}min(occur_time) AS start, min(place) AS cohort, groupArray(toUnixTimestamp64Milli(occur_time)) AS moments
    FROM (${readSql(question, condition, breakdowns, read)}) WHERE user_key != 0 GROUP BY user_key
    HAVING start >= ${momentSql(question.fromMs, bindings)} AND start < ${momentSql(question.toMs, bindings)}`;
  const day = `toUInt16(cohort + intDiv(moment - toUnixTimestamp64Milli(start), ${dayMs}))`;
  const days = `arrayFilter(day -> day < ${buckets.length}, arrayMap(moment -> ${day}, moments))`;
  const any = (bit: string): string => `arrayReduce('groupBitOr', arrayMap(place -> ${bit}, days))`;
  return `SELECT ${groupColumnsSql(names)}cohort, ${placeBits(buckets.length, any)} FROM (SELECT *, ${days} AS days FROM (${users}))`;
}

/** The starting event of each user and cohort is found first; the other events are joined to it and none is kept. */
export function returningUsersSql(
  question: Question,
  start: EventCondition,
  back: EventCondition,
  rules: CohortRules,
): string {
  const { buckets, breakdowns } = question;
  const names = groupColumns(breakdowns.length);
  const columns = bitColumns(buckets.length);
  const by = cohortsBy(rules, question);
  const groups = names.length === 0 ? '' : `${firstGroupsSql(breakdowns, 'moment')} AS groups, `;
  const starts = `SELECT user_key AS starting_key, ${groups}${by.place} AS start_place, min(moment) AS first
    FROM (SELECT *, ${eventOrderSql} AS moment FROM (${readSql(question, start, breakdowns, by.starts)}))
    WHERE user_key != 0 GROUP BY user_key${by.key} ${by.having}`;
  const returned = readSql(question, back, [], { toMs: rules.returnsToMs });
  const isEachCohort = rules.first === 'recurring' && !rules.isRolling;
  // Of several cohorts' users, all that a bucket has to tell is its last event.
  const returns = isEachCohort
    ? `SELECT user_key, place, max(${eventOrderSql}) AS moment FROM (${returned}) GROUP BY user_key, place`
    : returned;
  // The order is compared within the starting bucket alone, where few events are. The join gives users who never
  // returned the place 0 and the moment 0: that is before their start, and no return.
  const moment = isEachCohort ? 'moment' : eventOrderSql;
  const isBack = rules.isRolling
    ? 'is_back'
    : `place > start_place OR (place = start_place AND ${moment} >= first)`;
  const bits = placeBits(buckets.length, (bit) => `groupBitOrIf(${bit}, ${isBack})`);
  const joined = `(${returns}) AS returns
    RIGHT JOIN (${starts}) AS starts ON returns.user_key = starts.starting_key`;
  return `SELECT ${groupColumnsSql(names)}cohort, ${columns.join(', ')} FROM (
    SELECT any(start_place) AS cohort, ${names.length === 0 ? '' : 'any(groups) AS groups, '}${bits}
    FROM ${rules.isRolling ? `(${rollingSql(joined, buckets.length)})` : joined}
    GROUP BY starting_key${by.key && ', start_place'})`;
}

/** Puts returns into the days from their user's own start; `is_back` for those that lie in one of the cohort's. */
function rollingSql(joined: string, count: number): string {
  const day = `toInt64(start_place) + intDiv(toUnixTimestamp64Milli(occur_time) - toInt64(bitShiftRight(first, 128)), ${dayMs})`;
  return `SELECT *, toUInt16(if(is_back, day, 0)) AS place FROM (
    SELECT * EXCEPT (place), ${day} AS day, ${eventOrderSql} >= first AND day < ${count} AS is_back FROM ${joined})`;
}

/** Which starts make a cohort: of a user, or of a user and bucket. */
function cohortsBy({ first }: CohortRules, { fromMs, bindings }: Question) {
  const least = { place: 'min(place)', key: '' };
  switch (first) {
    case 'in range':
      return { ...least, having: '', starts: {} };
    case 'recurring':
      return { place: 'place', key: ', place', having: '', starts: {} };
    case 'ever': {
      // Whoever has an event before the range, whose place is none of a bucket, is left out.
      const having = `HAVING min(occur_time) >= ${momentSql(fromMs, bindings)}`;
      return { ...least, having, starts: { fromMs: 0 } };
    }
    default:
      return first satisfies never;
  }
}

/** SELECT of the place of an event's bucket, its user and its groups. */
function readSql(
  question: Question,
  condition: EventCondition,
  groups: readonly string[],
  more: Partial<Range>,
): string {
  const range = { fromMs: question.fromMs, toMs: question.toMs, ...more };
  noteEvents(question, { count: 'users in order', of: condition, groups, range });
  const place = bucketPlaceSql(question, question.buckets);
  const columns = { place };
  return readEventsSql(question, { condition, groups, columns, withUser: true, ...range });
}
