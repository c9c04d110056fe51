// Users of a breakdown who count in each group that has one of their events. Lists of users become numbers when nothing
// more is added to them, so that the group of all others counts each user once.

import { invalidArgument, notKnown } from '../../../../platform/http/answers/invalid-argument.ts';
import {
  AggregationType,
  type EventQuery,
  Touch,
} from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { EventCondition } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { noteEvents } from '../../sources/ladder.ts';
import type { Measure } from '../../sql/ranked-groups.ts';
import { bucketSql, groupColumns, readEventsSql } from '../../sql/read-events.ts';

/** Throws invalid_argument. */
export function checkTouch({ spec, breakdowns }: Question): void {
  const { touch, events } = spec;
  if (touch === Touch.UNSPECIFIED) return;
  if (touch !== Touch.FIRST && touch !== Touch.EVERY) {
    throw notKnown('spec.touch', touch);
  }
  if (breakdowns.length === 0) throw invalidArgument('spec.touch', 'is for breakdowns');
  if (!countUsers(events)) throw invalidArgument('spec.touch', 'is for series that count users');
  if (touch === Touch.EVERY && hasOne(events, ofNumbers)) {
    throw invalidArgument('spec.touch', 'must not be EVERY with SUM_PER_USER or AVG_PER_USER');
  }
}

const { UNIQUE_USERS, PER_USER_AVG, SUM_PER_USER, AVG_PER_USER } = AggregationType;
const ofNumbers = [SUM_PER_USER, AVG_PER_USER];

/** Whether a series counts users, or divides by them. */
export function countUsers(series: readonly EventQuery[]): boolean {
  return hasOne(series, [UNIQUE_USERS, PER_USER_AVG, ...ofNumbers]);
}

function hasOne(series: readonly EventQuery[], types: readonly AggregationType[]): boolean {
  return series.some(({ aggregation }) => types.includes(aggregation));
}

/** What rankedGroupsSql takes besides the cells: `isRatio` is events divided by users. */
export function everyTouchRanks(isRatio: boolean) {
  const measure: Measure = { combine: 'groupUniqArrayArray', isRatio: false };
  const users = 'toFloat64(length(a))';
  return {
    measure,
    weigh: 'length(groupUniqArrayArray(a))',
    shown: isRatio ? ['toString(b)', users] : [`toString(${users})`, 'toFloat64(0)'],
  };
}

/** SELECT of (group_0, …, bucket, a, b, weight): a list of users, and the number of their events. */
export function everyTouchCellsSql(question: Question, condition: EventCondition): string {
  const { breakdowns: groups, buckets } = question;
  const by = [...groupColumns(groups.length), 'bucket'].join(', ');
  noteEvents(question, { count: 'users', of: condition, groups, hasNumbers: true });
  const columns = { bucket: bucketSql(question, buckets) };
  const events = readEventsSql(question, { condition, groups, columns, withUser: true });
  return `SELECT ${by}, groupUniqArray(user_key) AS a, toFloat64(count()) AS b, length(a) AS weight
    FROM (${events}) WHERE user_key != 0 GROUP BY ${by}`;
}
