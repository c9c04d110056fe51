// SQL of TOP_K by user: the users with the greatest values. user-profiles.ts finds the profile of each one.

import type { EventCondition } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { ofUsersSql, profileEventsSql, streamsSql } from '../../sources/activity.ts';
import { noteEvents } from '../../sources/ladder.ts';
import { keyTextSql } from '../../sql/persons.ts';
import { readEventsSql } from '../../sql/read-events.ts';
import { type Greatest, greatestSql, othersAreTheRest } from './greatest-groups.ts';

/** SELECT as greatestSql answers it; `name` is the text of a user's key, as keyTextSql makes it. */
export function topUsersSql(
  question: Question,
  condition: EventCondition,
  greatest: Greatest,
): string {
  // By the bytes of the profile's id, of which user_key has the first ones.
  const name = 'byteSwap(user_key)';
  const sums = othersAreTheRest(greatest) ? profileEventsSql(question, condition) : undefined;
  const users =
    sums === undefined
      ? usersSql(question, condition, greatest)
      : `SELECT user_key, toFloat64(sum(events)) AS a, toFloat64(0) AS b
          FROM (${ofUsersSql(question, sums, ['events'])}) GROUP BY user_key ${streamsSql(sums)}`;
  const ranked = greatestSql(`SELECT ${name} AS name, a, b FROM (${users})`, greatest);
  return `SELECT place, ${keyTextSql('one.name')} AS name, value, groups, whole FROM (${ranked}) AS one`;
}

/** SELECT of (user_key, a, b) for each user. */
function usersSql(question: Question, condition: EventCondition, greatest: Greatest): string {
  const { aggregation } = greatest;
  const columns =
    aggregation.counts === 'events' && aggregation.number !== undefined
      ? { number: aggregation.number }
      : {};
  const hasNumbers = 'number' in columns;
  noteEvents(question, { count: 'events a user', of: condition, hasNumbers });
  const events = readEventsSql(question, { condition, columns, withUser: true });
  return aggregation.cells('user_key', `SELECT * FROM (${events}) WHERE user_key != 0`);
}
