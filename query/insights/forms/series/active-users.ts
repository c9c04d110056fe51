// Cells of a series that counts users: from days of profiles, or from the buckets in which each profile was active.

import type { EventCondition } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { quarterMs } from '../../read/time-buckets.ts';
import { activePlacesSql, ofUsersSql } from '../../sources/activity.ts';

/** SELECT of the cells, as ranked-groups.ts takes them; undefined where that is slower than counting events. */
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
  if (places === undefined) return undefined;
  const users = ofUsersSql(question, places, ['place']);
  return `SELECT toInt64(${bucket}) AS bucket, toFloat64(uniqExact(user_key)) AS a, toFloat64(0) AS b, count() AS weight
    FROM (${users}) GROUP BY place`;
}
