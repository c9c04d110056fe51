// The users of every kind in the buckets of several questions, from one pass over the days of profiles: each user's
// activity is a bit for each stretch of time that no bucket parts.

import { every } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { quarterMs } from '../../read/time-buckets.ts';
import { activitySql, isFromDays, ofUsersSql, streamsSql } from '../../sources/activity.ts';
import type { Range } from '../../sources/cut.ts';
import { allBits, bitColumns } from '../../sql/bucket-bits.ts';

/** Half-open, in milliseconds. */
export interface UserBuckets extends Range {
  /** When the buckets begin, ascending; the first one not after the range does. */
  buckets: readonly number[];
}

/** Ranges that have no moment in common, by their starts, and when each stretch of time begins. */
export interface JointPlaces {
  ranges: readonly Range[];
  /** A stretch ends with the next, or its range. */
  starts: readonly number[];
}

/** The bits of one number: more numbers make each user dearer than another pass. */
const maxPlaces = 64;

/** Undefined for ranges that overlap, or begin within a quarter of an hour, and for too many places. */
export function jointPlaces(asked: readonly UserBuckets[]): JointPlaces | undefined {
  const unlike = new Map(asked.map(({ fromMs, toMs }) => [`${fromMs} ${toMs}`, { fromMs, toMs }]));
  const ranges = [...unlike.values()].sort((one, other) => one.fromMs - other.fromMs);
  const areApart = ranges.every(({ toMs }, index) => toMs <= (ranges[index + 1]?.fromMs ?? toMs));
  const areWhole = ranges.every(({ fromMs }) => fromMs % quarterMs === 0);
  const starts = [...new Set(asked.flatMap(startsOf))].sort((one, other) => one - other);
  return areApart && areWhole && starts.length <= maxPlaces ? { ranges, starts } : undefined;
}

/** When each bucket begins within the range. */
function startsOf({ fromMs, buckets }: UserBuckets): number[] {
  return buckets.map((startMs) => Math.max(startMs, fromMs));
}

/**
 * SELECT of the rows of grouped-rows.ts: one for each of `asked`, with its `part`. A cell has no user only where nobody
 * was active. Undefined where only raw events can tell.
 */
export function jointUsersSql(
  question: Question,
  { ranges, starts }: JointPlaces,
  asked: readonly (UserBuckets & { part: number })[],
): string | undefined {
  const activity = { condition: every, buckets: starts, ranges };
  if (!isFromDays(question, activity)) return undefined;
  const columns = bitColumns(starts.length);
  const profiles = activitySql(question, activity);
  const users = `SELECT ${allBits(columns)} FROM (${ofUsersSql(question, profiles, columns)})
    GROUP BY user_key ${streamsSql(profiles)}`;
  const parts = asked.map((one) => {
    const cells = cellsOf(one, starts);
    const counts = cells.map(({ places }) => {
      const bits = places.reduce((mask, place) => mask | (1n << BigInt(place)), 0n);
      return `sum(bitAnd(${columns.join()}, ${bits}) != 0)`;
    });
    const buckets = cells.map(({ bucket }) => bucket);
    return `(toInt32(${one.part}), [${buckets.join(', ')}], [${counts.join(', ')}])`;
  });
  // Few terms for each bucket: the engine takes a tenth of a millisecond to plan one.
  const cells = `arrayMap((bucket, users) -> (toInt64(bucket), toFloat64(users), toFloat64(0)), one.2, one.3)`;
  return `SELECT one.1 AS part, toUInt64(1) AS place, emptyArrayString() AS values, ${cells} AS cells, toUInt64(1) AS folded
    FROM (SELECT arrayJoin([${parts.join(', ')}]) AS one FROM (${users}))`;
}

/** The buckets of one question, and the stretches that each has. */
function cellsOf(
  one: UserBuckets,
  starts: readonly number[],
): { bucket: number; places: number[] }[] {
  const begins = startsOf(one);
  return begins.map((startMs, index) => {
    const endMs = begins[index + 1] ?? one.toMs;
    const places = starts.flatMap((at, place) => (at >= startMs && at < endMs ? [place] : []));
    return { bucket: begins.length === 1 ? 0 : (one.buckets[index] ?? startMs), places };
  });
}
