// Cells of a series that counts users: from days of profiles, or from the buckets in which each profile was active.

import type { EventCondition } from '../events/event-condition.ts';
import type { Question } from '../question/question.ts';
import { quarterMs } from '../question/time-buckets.ts';
import { type Activity, activePlacesSql, activitySql, ofUsersSql } from './activity.ts';
import { allBits, bitColumns, userCountsSql, wordCount } from './bucket-bits.ts';

/** SELECT of the cells, as ranked-groups.ts takes them; undefined where neither way is quicker than counting events. */
export function activeUserCellsSql(
  question: Question,
  condition: EventCondition,
  buckets: readonly number[],
): string | undefined {
  const { fromMs, toMs, bindings } = question;
  const isOne = buckets.length === 1;
  // A bucket that is the whole range need not begin with it.
  const starts = isOne ? [Math.floor(fromMs / quarterMs) * quarterMs] : buckets;
  const activity = { condition, buckets: starts, ranges: [{ fromMs, toMs }] };
  const bucket = isOne ? '0' : `${bindings.bind('Array(Int64)', buckets.map(BigInt))}[place + 1]`;
  const places = activePlacesSql(question, activity);
  if (places === undefined) {
    const counts = rawCountsSql(question, activity);
    return (
      counts &&
      `SELECT toInt64(${bucket}) AS bucket, toFloat64(number) AS a, toFloat64(0) AS b, number AS weight FROM (${counts})`
    );
  }
  const users = ofUsersSql(question, places, ['place']);
  return `SELECT toInt64(${bucket}) AS bucket, toFloat64(uniqExact(user_key)) AS a, toFloat64(0) AS b, count() AS weight
    FROM (${users}) GROUP BY place`;
}

/**
 * SELECT of place and number, from raw events. Undefined beyond 64 buckets, whose bits would have to be taken apart
 * user by user.
 */
function rawCountsSql(question: Question, activity: Activity): string | undefined {
  const { length } = activity.buckets;
  if (wordCount(length) > 1) return undefined;
  const words = bitColumns(length);
  const profiles = ofUsersSql(question, activitySql(question, activity), words);
  const users = `SELECT ${allBits(words)} FROM (${profiles}) GROUP BY user_key`;
  return userCountsSql(users, length, [{ part: 0, words }]);
}
