// Cells of a series that counts the users of every kind of event, from days of profiles.

import type { EventCondition } from '../events/event-condition.ts';
import type { Question } from '../question/question.ts';
import { activitySql, isOfDays, ofUsersSql } from './activity.ts';
import { bitColumns, placesSql } from './bucket-bits.ts';

const quarterMs = 900_000;

/** SELECT of the cells, as ranked-groups.ts takes them; undefined where only raw events can tell. */
export function activeUserCellsSql(
  question: Question,
  condition: EventCondition,
  buckets: readonly number[],
): string | undefined {
  const { fromMs, toMs, bindings } = question;
  const isOne = buckets.length === 1;
  // A bucket that is the whole range need not begin with it.
  const starts = isOne ? [Math.floor(fromMs / quarterMs) * quarterMs] : buckets;
  const range = { fromMs, toMs };
  if (!isOfDays(question, condition, range, starts)) return undefined;
  const columns = bitColumns(starts.length);
  const activity = activitySql(question, { condition, buckets: starts, ranges: [range] });
  const users = ofUsersSql(question, activity, columns);
  const bucket = isOne ? '0' : `${bindings.bind('Array(Int64)', buckets.map(BigInt))}[place + 1]`;
  return `SELECT toInt64(${bucket}) AS bucket, toFloat64(uniqExact(user_key)) AS a, toFloat64(0) AS b, count() AS weight
    FROM (${users}) ARRAY JOIN ${placesSql(columns)} AS place GROUP BY place`;
}
