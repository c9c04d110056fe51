// Cells of a series that reads a number of each event and divides by users: the mean of their sums, or of their means.

import type { EventCondition } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { noteEvents } from '../../sources/ladder.ts';
import type { Aggregation } from '../../sql/aggregation.ts';
import { exactSumsSql, nearestDoubleSql } from '../../sql/exact-sum.ts';
import { bucketSql, eventOrderSql, groupColumn, readEventsSql } from '../../sql/read-events.ts';

/**
 * SELECT of (group_0, …, bucket, a, b, weight): a sum of exact-sum.ts, and by how many users it is divided. A user
 * belongs to the groups of their first event, and weighs in the bucket of that event.
 */
export function userNumberCellsSql(
  question: Question,
  condition: EventCondition,
  { number, perUser }: Extract<Aggregation, { of: 'numbers' }>,
  groups: readonly string[],
): string {
  const names = groups.map((_, index) => groupColumn(index));
  const by = [...names, 'bucket'].join(', ');
  const columns = { bucket: bucketSql(question, question.buckets), number };
  noteEvents(question, { count: 'users', of: condition, groups, hasNumbers: true });
  const read = (of: readonly string[], more: Readonly<Record<string, string>>): string =>
    `SELECT * FROM (${readEventsSql(question, { condition, groups: of, columns: more, withUser: true })}) WHERE user_key != 0`;
  const events =
    names.length === 0
      ? `SELECT bucket, number, user_key, true AS is_first FROM (${read([], columns)})`
      : `SELECT ${names.join(', ')}, bucket, number, user_key, bucket = first_bucket AS is_first
          FROM (${read([], columns)}) AS event
          LEFT ANY JOIN (${touchedSql(read(groups, { bucket: columns.bucket }), names)}) AS touched USING (user_key)`;
  return perUser === 'sum' ? sumsSql(by, events) : meansSql(by, events);
}

/** One row for each user: the groups of their first event, and its bucket. */
function touchedSql(events: string, names: readonly string[]): string {
  const firsts = [...names, 'bucket'].map(
    (name) => `argMin(${name}, ${eventOrderSql}) AS ${name === 'bucket' ? 'first_bucket' : name}`,
  );
  return `SELECT user_key, ${firsts.join(', ')} FROM (${events}) GROUP BY user_key`;
}

function sumsSql(by: string, events: string): string {
  const sums = exactSumsSql(by, events, {
    users: ['uniqExact', 'user_key'],
    weight: ['uniqExactIf', 'user_key, is_first'],
  });
  return `SELECT ${by}, a, toFloat64(users) AS b, weight FROM (${sums})`;
}

/** A user without a number has no mean. The mean of a single number is that number. */
function meansSql(by: string, events: string): string {
  const sums = exactSumsSql(`${by}, user_key`, events, {
    value: ['any', 'number'],
    is_first: ['max', 'is_first'],
  });
  const means = `SELECT ${by}, multiIf(b = 0, NULL, b = 1, value, ${nearestDoubleSql('a', 'b')}) AS number, is_first FROM (${sums})`;
  return `SELECT ${by}, a, b, weight FROM (${exactSumsSql(by, means, { weight: ['countIf', 'is_first'] })})`;
}
