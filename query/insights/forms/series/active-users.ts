// Cells of a series that counts users: from days of profiles, or from the buckets in which each profile was active.

import { Granularity } from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { both, type EventCondition } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { quarterMs } from '../../read/time-buckets.ts';
import { type Activity, userBitsSql } from '../../sources/activity.ts';
import { keptProfiles } from '../../sources/kept-profiles.ts';
import { sourceOf } from '../../sources/ladder.ts';
import { bitColumns, placesSql, userCountsSql } from '../../sql/bucket-bits.ts';
import { bucketPlaceSql } from '../../sql/bucket-place.ts';
import { personJoinSql, userKeySql } from '../../sql/persons.ts';
import {
  groupColumns,
  oneBucketSql,
  readEventsSql,
  senderColumns,
  withKeyGroups,
} from '../../sql/read-events.ts';

/** SELECT of the cells, as ranked-groups.ts takes them. */
export function activeUserCellsSql(
  question: Question,
  condition: EventCondition,
  buckets: readonly number[],
): string {
  const { bindings } = question;
  const isOne = buckets.length === 1;
  const kept = isOne ? undefined : keptUserCellsSql(question, condition, buckets);
  if (kept !== undefined) return kept;
  const activity = activityOf(question, condition, buckets);
  const words = bitColumns(activity.buckets.length);
  const users = userCountsSql(userBitsSql(question, activity), [{ part: 0, words }]);
  const bucket = isOne ? '0' : `${bindings.bind('Array(Int64)', buckets.map(BigInt))}[place + 1]`;
  return `SELECT toInt64(${bucket}) AS bucket, toFloat64(number) AS a, toFloat64(0) AS b, number AS weight FROM (${users})`;
}

/**
 * The same of groups that a user's key tells: no look at a user's first event, and the sources of users without groups.
 * `weight` counts each user once, in the first of their buckets.
 */
export function keyGroupCellsSql(
  question: Question,
  condition: EventCondition,
  groups: readonly string[],
): string {
  const { buckets, bindings } = question;
  const activity = activityOf(question, condition, buckets);
  const users = withKeyGroups(question, groups, userBitsSql(question, activity));
  const names = groupColumns(groups.length).join(', ');
  if (buckets.length === 1) {
    return `SELECT ${names}, ${oneBucketSql} AS bucket, toFloat64(count()) AS a, toFloat64(0) AS b, count() AS weight
      FROM (${users}) GROUP BY ${names}`;
  }
  const bucket = `${bindings.bind('Array(Int64)', buckets.map(BigInt))}[place + 1]`;
  return `SELECT ${names}, toInt64(${bucket}) AS bucket, toFloat64(count()) AS a, toFloat64(0) AS b, countIf(place = places[1]) AS weight
    FROM (SELECT ${names}, ${placesSql(bitColumns(buckets.length))} AS places FROM (${users})) ARRAY JOIN places AS place
    GROUP BY ${names}, place`;
}

/** A bucket that is the whole range need not begin with it. */
function activityOf(
  { fromMs, toMs }: Question,
  condition: EventCondition,
  buckets: readonly number[],
): Activity {
  const starts = buckets.length === 1 ? [Math.floor(fromMs / quarterMs) * quarterMs] : buckets;
  return { condition, buckets: starts, ranges: [{ fromMs, toMs }] };
}

/** Kept days have the number of their profiles: only those that are merged or deleted are looked up. */
function keptUserCellsSql(
  question: Question,
  condition: EventCondition,
  buckets: readonly number[],
): string | undefined {
  const { bindings, spec, granularity } = question;
  if (granularity !== Granularity.DAY) return undefined;
  const need = { count: 'users a day', of: condition } as const;
  if (sourceOf(question, need) !== 'kept_active_profiles') return undefined;
  const kept = keptProfiles(question, condition);
  const place = bucketPlaceSql(question, buckets);
  const columns = { place, ...senderColumns };
  const read = { condition: both(condition, kept.isOther), columns };
  const starts = bindings.bind('Array(Int64)', buckets.map(BigInt));
  const active = `SELECT bucket, profile_key, false AS cookieless, true AS is_kept FROM (${kept.changed})
    UNION ALL SELECT ${starts}[place + 1], sender_key, is_cookieless, false FROM (${readEventsSql(question, read)})`;
  const users = `SELECT bucket, profile_key, is_kept, ${userKeySql(question, spec.includeCookieless)} AS user_key
    FROM (${active}) AS active ${personJoinSql(question.project)}`;
  const counts = `SELECT bucket, uniqExactIf(user_key, user_key != 0) - toFloat64(uniqExactIf(profile_key, is_kept)) AS users
    FROM (${users}) GROUP BY bucket`;
  return `SELECT toInt64(bucket) AS bucket, sum(users) AS a, toFloat64(0) AS b, toUInt64(1) AS weight
    FROM (SELECT bucket, profiles AS users FROM (${kept.counts}) UNION ALL ${counts}) GROUP BY bucket`;
}
