// Cells of a series that reads a number of each event and divides by users: the mean of their sums, or of their means.

import type { EventCondition } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { noteEvents } from '../../sources/ladder.ts';
import type { Aggregation } from '../../sql/aggregation.ts';
import {
  exactSumSql,
  exactSumsSql,
  nearestDoubleSql,
  usualMeansSql,
  usualPartsSql,
} from '../../sql/exact-sum.ts';
import { byPerson } from '../../sql/persons.ts';
import {
  areOfPersons,
  bucketSql,
  eventOrderSql,
  groupColumns,
  readEventsSql,
} from '../../sql/read-events.ts';

/**
 * SELECT of (group_0, …, bucket, a, b, weight): a sum of exact-sum.ts, and by how many users it is divided. A user
 * belongs to the groups of their first event, and weighs in the bucket of that event.
 */
export function userNumberCellsSql(
  question: Question,
  condition: EventCondition,
  { number, perUser, isGeneral }: Extract<Aggregation, { of: 'numbers' }>,
  groups: readonly string[],
): string {
  const names = groupColumns(groups.length);
  const by = [...names, 'bucket'].join(', ');
  const columns = { bucket: bucketSql(question, question.buckets), number };
  noteEvents(question, { count: 'users', of: condition, groups, hasNumbers: true });
  const read = (of: readonly string[], more: Readonly<Record<string, string>>): string =>
    `SELECT * FROM (${readEventsSql(question, { condition, groups: of, columns: more, withUser: true })}) WHERE user_key != 0`;
  const events =
    names.length === 0 || (groups.includes(byPerson) && areOfPersons(groups))
      ? `SELECT ${by}, number, user_key, true AS is_first FROM (${read(groups, columns)})`
      : `SELECT ${names.join(', ')}, bucket, number, user_key, bucket = first_bucket AS is_first
          FROM (${read([], columns)}) AS event
          LEFT ANY JOIN (${touchedSql(read(groups, { bucket: columns.bucket }), names)}) AS touched USING (user_key)`;
  const isWeighed = names.length > 0;
  if (perUser === 'sum') return sumsSql(by, events, isWeighed);
  const isAny = isGeneral || question.behind !== undefined;
  return isAny ? meansSql(by, events, isWeighed) : usualMeanCellsSql(by, events, isWeighed);
}

/** One row for each user: the groups of their first event, and its bucket. */
function touchedSql(events: string, names: readonly string[]): string {
  const firsts = [...names, 'bucket'].map(
    (name) => `argMin(${name}, ${eventOrderSql}) AS ${name === 'bucket' ? 'first_bucket' : name}`,
  );
  return `SELECT user_key, ${firsts.join(', ')} FROM (${events}) GROUP BY user_key`;
}

function sumsSql(by: string, events: string, isWeighed: boolean): string {
  const sums = exactSumsSql(by, events, {
    users: ['uniqExact', 'user_key'],
    ...(isWeighed && { weight: ['uniqExactIf', 'user_key, is_first'] }),
  });
  return `SELECT ${by}, a, toFloat64(users) AS b, ${isWeighed ? 'weight' : 'users AS weight'} FROM (${sums})`;
}

/** The same of users whose numbers are usual (exact-sum.ts); where somebody's are not, `b` is NaN and `a` wrong. */
function usualMeanCellsSql(by: string, events: string, isWeighed: boolean): string {
  const first = isWeighed ? ', max(is_first) AS is_first' : '';
  const users = `SELECT ${by}, countIf(isFinite(number)) AS count, countIf(is_usual) AS usual_count, sumIf(whole, is_usual) AS wholes, sumIf(rest, is_usual) AS rests${first}
    FROM (${usualPartsSql(events)}) GROUP BY ${by}, user_key`;
  const means = `SELECT ${by}, if(count = 0, NULL, number) AS number, count > 0 AND (count != usual_count OR NOT is_exact) AS is_unusual${isWeighed ? ', is_first' : ''}
    FROM (${usualMeansSql(users)})`;
  const sums = exactSumsSql(by, means, {
    unusual: ['max', 'is_unusual'],
    ...(isWeighed && { weight: ['countIf', 'is_first'] }),
  });
  return `SELECT ${by}, a, if(unusual, nan, b) AS b, weight FROM (${sums})`;
}

/**
 * A user without a number has no mean. Of two numbers the engine's own sum is rounded once, and half of it is a double;
 * the sums of more are the items of an array that only the few users have who need one. Rounding costs by the block of
 * rows, and a table of two levels has 256 blocks: only large tables, which may have to go to disk, get two levels.
 */
function meansSql(by: string, events: string, isWeighed: boolean): string {
  const first = isWeighed ? ', max(is_first) AS is_first' : '';
  const users = `SELECT ${by}, groupArrayIf(number, isFinite(number)) AS numbers, length(numbers) AS count, arraySum(numbers) AS sum${first}
    FROM (${events}) GROUP BY ${by}, user_key SETTINGS group_by_two_level_threshold = 0, group_by_two_level_threshold_bytes = ${100 * 1_048_576}`;
  const sums = `SELECT *, arrayMap(some -> ${exactSumSql('some')}, if(count <= 2 AND isFinite(sum), [], [numbers])) AS sums FROM (${users})`;
  const exact = `arrayMap(one -> ${nearestDoubleSql('one', 'count')}, sums)[1]`;
  const mean = `multiIf(count = 0, NULL, empty(sums), sum / count, ${exact}) AS number`;
  const means = `SELECT ${by}, ${mean}${isWeighed ? ', is_first' : ''} FROM (${sums})`;
  return exactSumsSql(by, means, isWeighed ? { weight: ['countIf', 'is_first'] } : {});
}
