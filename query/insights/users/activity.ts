// SQL for the buckets in which users were active, from days of profiles where these answer the question, and from raw
// events where they do not.

import { bucketPlaceSql } from '../events/bucket-place.ts';
import type { EventCondition } from '../events/event-condition.ts';
import { readEventsSql } from '../events/read-events.ts';
import type { Question } from '../question/question.ts';
import { bitColumns, bitsOfPlace } from './bucket-bits.ts';
import { daysSql, partByDays, type Range } from './profile-days.ts';

export interface Activity {
  condition: EventCondition;
  /** When the buckets begin, in milliseconds. */
  buckets: readonly number[];
  /** The ranges that are looked at; none begins before the first bucket. */
  ranges: readonly Range[];
}

/** SELECT of user_key, never 0, and bitColumns; a user may have many rows. */
export function activitySql(question: Question, activity: Activity): string {
  const { condition, buckets, ranges } = activity;
  // Days know no kinds, no properties, and not when an event was received.
  const isOfDays =
    condition.kind === 'every' &&
    question.everyEvent.kind === 'every' &&
    question.asOfMs === undefined;
  const reads = ranges.flatMap((range) => {
    const parts = isOfDays ? partByDays(range, buckets) : undefined;
    if (parts === undefined) return [rawSql(question, activity, range)];
    return [
      daysSql(question, parts.days, buckets),
      ...parts.rest.map((rest) => rawSql(question, activity, rest)),
    ];
  });
  return reads.join(' UNION ALL ');
}

function rawSql(question: Question, { condition, buckets }: Activity, range: Range): string {
  const columns = bitColumns(buckets.length);
  const bits = bitsOfPlace(buckets.length).map((sql, word) => `${sql} AS ${columns[word]}`);
  const events = readEventsSql(question, {
    ...{ condition, columns: { place: bucketPlaceSql(question, buckets) }, withUser: true },
    ...range,
  });
  return `SELECT user_key, ${bits.join(', ')} FROM (${events}) WHERE user_key != 0`;
}
