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
  const ranked =
    sums === undefined
      ? greatestSql(
          `SELECT ${name} AS name, a, b FROM (${usersSql(question, condition, greatest)})`,
          greatest,
        )
      : mostEventsSql(
          `SELECT ${name} AS name, sum(events) AS events FROM (${ofUsersSql(question, sums, ['events'])})
            GROUP BY user_key ${streamsSql(sums)}`,
          greatest.limit,
        );
  return `SELECT place, ${keyTextSql('one.name')} AS name, value, groups, whole FROM (${ranked}) AS one`;
}

/**
 * SELECT as greatestSql answers it, of the names with the most events; `users` is a SELECT of name and events, numbers
 * of 64 bits. Each row is compared as one number, the events' complement before the name: as a pair it takes 28 ms of
 * 120 for 680,000 users.
 */
function mostEventsSql(users: string, limit: number): string {
  return `SELECT place, toUInt64(one) AS name, toFloat64(bitNot(toUInt64(bitShiftRight(one, 64)))) AS value, groups, whole FROM (
      SELECT groupArraySorted(${limit})(bitShiftLeft(toUInt128(bitNot(events)), 64) + name) AS top,
        count() AS groups, toFloat64(sum(events)) AS whole FROM (${users}))
    ARRAY JOIN top AS one, arrayEnumerate(top) AS place`;
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
