// SQL for the buckets in which profiles were active, from days of profiles where these answer the question, and from
// raw events where they do not; and for the users that the profiles are.

import { dayMs } from '../../../platform/clock.ts';
import { both, type EventCondition } from '../read/event-condition.ts';
import type { Range } from '../read/plan-notes.ts';
import type { Question } from '../read/question.ts';
import { quarterMs } from '../read/time-buckets.ts';
import { allBits, bitColumns, placeBits } from '../sql/bucket-bits.ts';
import { bucketPlaceSql } from '../sql/bucket-place.ts';
import { inSegments, personJoinSql, userKeySql } from '../sql/persons.ts';
import { readEventsSql, senderColumns, withinRanges } from '../sql/read-events.ts';
import { cutBy } from './cut.ts';
import { keptProfiles } from './kept-profiles.ts';
import { sourceOf } from './ladder.ts';
import { dayEventsSql, daysSql } from './profile-days.ts';

export interface Activity {
  condition: EventCondition;
  /** When the buckets begin, in milliseconds. */
  buckets: readonly number[];
  /** The ranges that are looked at; none begins before the first bucket. */
  ranges: readonly Range[];
}

/** SELECT of user_key and bitColumns for each user who was active. */
export function userBitsSql(question: Question, activity: Activity): string {
  const columns = bitColumns(activity.buckets.length);
  const profiles = activitySql(question, activity);
  return `SELECT user_key, ${allBits(columns)} FROM (${ofUsersSql(question, profiles, columns)})
    GROUP BY user_key ${streamsSql(profiles)}`;
}

/** SELECT of profile_key, cookieless and bitColumns for ofUsersSql; a profile may have many rows. */
export function activitySql(question: Question, activity: Activity): string {
  const ofProfiles = beforeSegments(question);
  const reads = activity.ranges.flatMap((range) => readsOf(ofProfiles, activity, range));
  return reads.join(' UNION ALL ');
}

function readsOf(question: Question, { condition, buckets }: Activity, range: Range): string[] {
  const raw = (part: Range, more = condition): string => {
    const place = bucketPlaceSql(question, buckets);
    const columns = { place, ...senderColumns };
    // Not added up here: groups of all profiles, and then of all users, cost more than to look up each event's merge.
    return `SELECT sender_key AS profile_key, is_cookieless AS cookieless, ${placeBits(buckets.length)}
      FROM (${readEventsSql(question, { condition: more, columns, ...part })})`;
  };
  const source = sourceOf(question, { count: 'users', of: condition, range, buckets });
  if (source === 'kept_active_profiles') {
    const { activity, isOther } = keptProfiles(question, condition);
    return [activity(buckets), raw(range, both(condition, isOther))];
  }
  if (source !== 'profile_days') return [raw(range)];
  const cut = cutBy(quarterMs, range);
  return [daysSql(question, cut.whole, buckets), ...cut.rest.map((part) => raw(part))];
}

/** The question without its segments, which ofUsersSql asks for where a profile's user is known. */
function beforeSegments(question: Question): Question {
  return { ...question, everyEvent: question.filterGroups };
}

/**
 * SELECT of profile_key, cookieless and events for ofUsersSql, the number of a profile's events in the range; a profile
 * may have many rows. Undefined where days of profiles do not answer the most of it.
 */
export function profileEventsSql(asked: Question, condition: EventCondition): string | undefined {
  const question = beforeSegments(asked);
  const source = sourceOf(question, { count: 'events a user', of: condition });
  if (source !== 'profile_days') return undefined;
  const cut = cutBy(dayMs, question);
  const whole = dayEventsSql(question, cut.whole);
  if (cut.rest.length === 0) return whole;
  // Not added up here: the days would wait for it, which takes longer than it saves.
  const edges = readEventsSql(question, {
    condition: both(condition, withinRanges(cut.rest, question.bindings)),
    columns: senderColumns,
  });
  return `${whole} UNION ALL SELECT sender_key AS profile_key, is_cookieless AS cookieless, toUInt64(1) AS events
    FROM (${edges})`;
}

/** The same from whatever source answers it; from rows of events, one row for each event. */
export function countedProfilesSql(asked: Question, condition: EventCondition): string {
  const stored = profileEventsSql(asked, condition);
  if (stored !== undefined) return stored;
  const events = readEventsSql(beforeSegments(asked), { condition, columns: senderColumns });
  return `SELECT sender_key AS profile_key, is_cookieless AS cookieless, toUInt64(1) AS events FROM (${events})`;
}

/**
 * The end of a SELECT that groups the users of ofUsersSql. Each read in `profiles` has as many streams as the statement
 * has threads, and the groups of all streams of all reads are put together at the end. Of several reads one stream each
 * is enough, and takes a sixth to a fifth less; of a single one it takes a third more.
 */
export function streamsSql(profiles: string): string {
  const hasSeveral = profiles.includes(' UNION ALL ');
  return hasSeveral ? 'SETTINGS max_streams_to_max_threads_ratio = 0.5' : '';
}

/**
 * SELECT of user_key, never 0, and `columns` of `profiles`, a SELECT of profile_key, cookieless and these, of users in
 * the question's segments. Merges are looked up once for all of its parts.
 */
export function ofUsersSql(
  question: Question,
  profiles: string,
  columns: readonly string[],
): string {
  const names = columns.join(', ');
  const { sql, kind } = inSegments(question);
  return `SELECT user_key, ${names} FROM (
    SELECT ${userKeySql(question, question.spec.includeCookieless)} AS user_key, cookieless, ${names}
    FROM (${profiles}) AS active ${personJoinSql(question.project)}) WHERE user_key != 0${kind === 'every' ? '' : ` AND ${sql}`}`;
}
