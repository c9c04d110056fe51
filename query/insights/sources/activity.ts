// SQL for the buckets in which profiles were active, from days of profiles where these answer the question, and from
// raw events where they do not; and for the users that the profiles are.

import { dayMs } from '../../../platform/clock.ts';
import { both, type EventCondition } from '../read/event-condition.ts';
import type { Question } from '../read/question.ts';
import { quarterMs } from '../read/time-buckets.ts';
import { bitColumns, bitsOfPlace, placesSql, wordCount } from '../sql/bucket-bits.ts';
import { bucketPlaceSql } from '../sql/bucket-place.ts';
import { personJoinSql, userKeySql } from '../sql/persons.ts';
import { readEventsSql, withinRanges } from '../sql/read-events.ts';
import { cutBy, type Range } from './cut.ts';
import { notKept } from './day-cells.ts';
import { keptProfileDays } from './kept-profile-days.ts';
import { needOf, refusesProfileDays, sourceOf } from './ladder.ts';
import { dayEventsSql, dayPlacesSql, daysSql } from './profile-days.ts';

export interface Activity {
  condition: EventCondition;
  /** When the buckets begin, in milliseconds. */
  buckets: readonly number[];
  /** The ranges that are looked at; none begins before the first bucket. */
  ranges: readonly Range[];
}

/** Whether days of profiles answer the most of each range. */
export function isFromDays(question: Question, { condition, buckets, ranges }: Activity): boolean {
  return ranges.every((range) => {
    const need = needOf(question, condition, { count: 'users', ...range, buckets });
    return refusesProfileDays(need) === undefined;
  });
}

/** SELECT of profile_key, cookieless and bitColumns; a profile may have many rows. */
export function activitySql(question: Question, activity: Activity): string {
  const reads = activity.ranges.flatMap((range) => {
    const days = daysOf(question, activity, range);
    if (days === undefined) return [rawSql(question, activity, range)];
    const { whole, rows, rest, others } = days;
    return [
      daysSql(question, whole, activity.buckets, rows),
      ...rest.map((part) => rawSql(question, others, part)),
    ];
  });
  return reads.join(' UNION ALL ');
}

/**
 * SELECT of profile_key, cookieless and place, the place of a bucket in which the profile was active; undefined beyond
 * 64 buckets, whose bits are dear to take apart, unless days of profiles, kept ones too, answer the most of it.
 */
export function activePlacesSql(question: Question, activity: Activity): string | undefined {
  const { buckets, ranges } = activity;
  const reads: string[] = [];
  for (const range of ranges) {
    const days = daysOf(question, activity, range);
    if (days === undefined) {
      if (wordCount(buckets.length) > 1) return undefined;
      reads.push(eventPlacesSql(question, activity, range));
      continue;
    }
    const { whole, rows, rest, others } = days;
    const readRest = rows === undefined ? eventRowsSql : eventPlacesSql;
    reads.push(dayPlacesSql(question, whole, buckets, rows));
    for (const part of rest) reads.push(readRest(question, others, part));
  }
  return reads.join(' UNION ALL ');
}

/**
 * SELECT of profile_key, cookieless and events, the number of a profile's events in the range; a profile may have many
 * rows. Undefined where days of profiles do not answer the most of it.
 */
export function profileEventsSql(
  question: Question,
  condition: EventCondition,
): string | undefined {
  const { fromMs, toMs } = question;
  const source = sourceOf(question, needOf(question, condition, { count: 'events a user' }));
  const parts = source === 'profile_days' ? cutBy(dayMs, { fromMs, toMs }) : undefined;
  if (parts === undefined) return undefined;
  const whole = dayEventsSql(question, parts.whole);
  if (parts.rest.length === 0) return whole;
  // Not added up here: the days would wait for it, which takes longer than it saves.
  const edges = readEventsSql(question, {
    condition: both(condition, withinRanges(parts.rest, question.bindings)),
    columns: { sender_key: 'profile_key', is_cookieless: 'cookieless' },
  });
  return `${whole} UNION ALL SELECT sender_key AS profile_key, is_cookieless AS cookieless, toUInt64(1) AS events
    FROM (${edges})`;
}

interface Days {
  whole: Range;
  /** FROM and PREWHERE of kept days; the table's own unless given. */
  rows?: string;
  /** What is left for rows of events, and the activity that they tell. */
  rest: readonly Range[];
  others: Activity;
}

/** What days of profiles tell of a range; undefined where they tell nothing. */
function daysOf(question: Question, activity: Activity, range: Range): Days | undefined {
  const { condition, buckets } = activity;
  const source = sourceOf(
    question,
    needOf(question, condition, { count: 'users', ...range, buckets }),
  );
  const cut = cutBy(quarterMs, range);
  if (cut === undefined) return undefined;
  if (source === 'profile_days') return { ...cut, others: activity };
  if (source !== 'kept_profile_days') return undefined;
  return {
    ...{ whole: cut.whole, rows: keptProfileDays(question, condition), rest: [range] },
    others: { ...activity, condition: both(condition, notKept) },
  };
}

/**
 * SELECT of profile_key, cookieless and place, from events: each once up to 64 buckets, and for each event beyond,
 * where the bits of buckets are dear to take apart.
 */
export function eventPlacesSql(question: Question, activity: Activity, range: Range): string {
  if (wordCount(activity.buckets.length) > 1) return eventRowsSql(question, activity, range);
  const places = placesSql(bitColumns(activity.buckets.length));
  return `SELECT profile_key, cookieless, toUInt16(arrayJoin(${places})) AS place FROM (${rawSql(question, activity, range)})`;
}

/** The same for each event. */
function eventRowsSql(question: Question, activity: Activity, range: Range): string {
  const events = readPlacesSql(question, activity, range);
  return `SELECT sender_key AS profile_key, is_cookieless AS cookieless, place FROM (${events})`;
}

function rawSql(question: Question, activity: Activity, range: Range): string {
  const columns = bitColumns(activity.buckets.length);
  const bits = bitsOfPlace(activity.buckets.length).map(
    (sql, word) => `groupBitOr(${sql}) AS ${columns[word]}`,
  );
  const events = readPlacesSql(question, activity, range);
  // Added up first, merges are looked up for each profile and not for each event: a third less.
  return `SELECT sender_key AS profile_key, max(is_cookieless) AS cookieless, ${bits.join(', ')}
    FROM (${events}) GROUP BY sender_key`;
}

/** SELECT of sender_key, is_cookieless and place. */
function readPlacesSql(question: Question, { condition, buckets }: Activity, range: Range): string {
  return readEventsSql(question, {
    condition,
    columns: {
      place: bucketPlaceSql(question, buckets),
      sender_key: 'profile_key',
      is_cookieless: 'cookieless',
    },
    ...range,
  });
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
 * SELECT of user_key, never 0, and `columns` of `profiles`, a SELECT of profile_key, cookieless and these. Merges are
 * looked up once for all of its parts.
 */
export function ofUsersSql(
  question: Question,
  profiles: string,
  columns: readonly string[],
): string {
  return `SELECT * FROM (
    SELECT ${userKeySql(question, question.spec.includeCookieless)} AS user_key, ${columns.join(', ')}
    FROM (${profiles}) AS active ${personJoinSql(question.project)}) WHERE user_key != 0`;
}
