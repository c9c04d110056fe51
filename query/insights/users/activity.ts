// SQL for the buckets in which profiles were active, from days of profiles where these answer the question, and from
// raw events where they do not; and for the users that the profiles are.

import { bucketPlaceSql } from '../events/bucket-place.ts';
import type { EventCondition } from '../events/event-condition.ts';
import { personJoinSql, userKeySql } from '../events/persons.ts';
import { readEventsSql } from '../events/read-events.ts';
import type { Question } from '../question/question.ts';
import { bitColumns, bitsOfPlace } from './bucket-bits.ts';
import { type ByDays, daysSql, partByDays, type Range } from './profile-days.ts';

export interface Activity {
  condition: EventCondition;
  /** When the buckets begin, in milliseconds. */
  buckets: readonly number[];
  /** The ranges that are looked at; none begins before the first bucket. */
  ranges: readonly Range[];
}

/** SELECT of profile_key, cookieless and bitColumns; a profile may have many rows. */
export function activitySql(question: Question, activity: Activity): string {
  const { condition, buckets, ranges } = activity;
  const reads = ranges.flatMap((range) => {
    const parts = partsOfDays(question, condition, range, buckets);
    if (parts === undefined) return [rawSql(question, activity, range)];
    return [
      ...parts.days.map((days) => daysSql(question, days, buckets)),
      ...parts.rest.map((rest) => rawSql(question, activity, rest)),
    ];
  });
  return reads.join(' UNION ALL ');
}

/** Whether days of profiles answer the most of it. */
export function isOfDays(
  question: Question,
  condition: EventCondition,
  range: Range,
  buckets: readonly number[],
): boolean {
  return partsOfDays(question, condition, range, buckets) !== undefined;
}

/** Days know no kinds, no properties, and not when an event was received. */
function partsOfDays(
  { everyEvent, asOfMs }: Question,
  condition: EventCondition,
  range: Range,
  buckets: readonly number[],
): ByDays | undefined {
  const isEvery = condition.kind === 'every' && everyEvent.kind === 'every';
  return isEvery && asOfMs === undefined ? partByDays(range, buckets) : undefined;
}

function rawSql(question: Question, { condition, buckets }: Activity, range: Range): string {
  const columns = bitColumns(buckets.length);
  const bits = bitsOfPlace(buckets.length).map((sql, word) => `${sql} AS ${columns[word]}`);
  const events = readEventsSql(question, {
    condition,
    columns: {
      place: bucketPlaceSql(question, buckets),
      sender_key: 'profile_key',
      is_cookieless: 'cookieless',
    },
    ...range,
  });
  return `SELECT sender_key AS profile_key, is_cookieless AS cookieless, ${bits.join(', ')} FROM (${events})`;
}

/**
 * SELECT of user_key, never 0, and `columns` of `profiles`, a SELECT of profile_key, cookieless and these. Merges are
 * looked up once for all of its parts.
 */
export function ofUsersSql(
  question: Question,
  profiles: string,
  columns: readonly string[],
): string {
  return `SELECT * FROM (
    SELECT ${userKeySql(question.spec.includeCookieless)} AS user_key, ${columns.join(', ')}
    FROM (${profiles}) AS active ${personJoinSql(question.project)}) WHERE user_key != 0`;
}
