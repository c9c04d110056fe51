// Cells of a series that counts users: from days of profiles, or from the buckets in which each profile was active.

import { both, type EventCondition } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { quarterMs } from '../../read/time-buckets.ts';
import { activePlacesSql, eventPlacesSql, ofUsersSql } from '../../sources/activity.ts';
import { keptActiveProfiles } from '../../sources/kept-active-profiles.ts';
import { personJoinSql, userKeySql } from '../../sql/persons.ts';

/** SELECT of the cells, as ranked-groups.ts takes them; undefined where that is slower than counting events. */
export function activeUserCellsSql(
  question: Question,
  condition: EventCondition,
  buckets: readonly number[],
): string | undefined {
  const { fromMs, toMs, bindings } = question;
  const isOne = buckets.length === 1;
  const kept = isOne ? undefined : keptUserCellsSql(question, condition, buckets);
  if (kept !== undefined) return kept;
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

/** Kept days have the number of their profiles: only those that are merged or deleted are looked up. */
function keptUserCellsSql(
  question: Question,
  condition: EventCondition,
  buckets: readonly number[],
): string | undefined {
  const kept = keptActiveProfiles(question, condition);
  if (kept === undefined) return undefined;
  const { fromMs, toMs, bindings, spec } = question;
  const activity = { condition: both(condition, kept.mayBeOther), buckets, ranges: [] };
  const others = eventPlacesSql(question, activity, { fromMs, toMs });
  const starts = bindings.bind('Array(Int64)', buckets.map(BigInt));
  const active = `SELECT bucket, profile_key, false AS cookieless, true AS is_kept FROM (${kept.changed})
    UNION ALL SELECT ${starts}[place + 1] AS bucket, profile_key, cookieless, false FROM (${others}) WHERE ${kept.isOther('bucket')}`;
  const users = `SELECT bucket, profile_key, is_kept, ${userKeySql(question, spec.includeCookieless)} AS user_key
    FROM (${active}) AS active ${personJoinSql(question.project)}`;
  const counts = `SELECT bucket, uniqExactIf(user_key, user_key != 0) - toFloat64(uniqExactIf(profile_key, is_kept)) AS users
    FROM (${users}) GROUP BY bucket`;
  return `SELECT toInt64(bucket) AS bucket, sum(users) AS a, toFloat64(0) AS b, toUInt64(1) AS weight
    FROM (SELECT bucket, profiles AS users FROM (${kept.counts}) UNION ALL ${counts}) GROUP BY bucket`;
}
