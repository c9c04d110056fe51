// LIFECYCLE: users who are new, returning, resurrecting or dormant, bucket by bucket. The statement counts those who
// were active, those who were in the bucket before, too, and those who are new; the others are what is left of these.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { LifecycleResultSchema } from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { EventCondition } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { bucketStart } from '../../read/time-buckets.ts';
import { type Activity, activitySql, ofUsersSql, streamsSql } from '../../sources/activity.ts';
import { firstEventsSql, olderProfilesSql } from '../../sources/first-events.ts';
import { needOf, refusesFirstSeen } from '../../sources/ladder.ts';
import {
  alikeSql,
  allBits,
  bitColumns,
  bitsBelow,
  bitsOfPlace,
  isSetSql,
  userCountsSql,
} from '../../sql/bucket-bits.ts';
import { bucketPlaceSql } from '../../sql/bucket-place.ts';
import type { Plan } from '../plan.ts';
import {
  maxLeftOutRows,
  onlyEvent,
  type Places,
  placesPlanSql,
  readPlaces,
} from './counted-places.ts';

/** The parts of the rows: what users are in a bucket. */
const [active, activeTwice, born] = [0, 1, 2];

/** Throws invalid_argument. */
export function planLifecycle(question: Question): Plan {
  const condition = onlyEvent(question);
  const { buckets } = question;
  return {
    sql: placesPlanSql(question, condition, numbersSql(question, condition)),
    maxRows: 3 * (buckets.length + 1) + maxLeftOutRows,
    read: (rows) => {
      const places = readPlaces(rows);
      const value = create(LifecycleResultSchema, resultOf(buckets, places));
      return { result: { case: 'lifecycle', value }, leftOut: places.leftOut };
    },
  };
}

/** The place 0 is the bucket before the first one. */
function numbersSql(question: Question, condition: EventCondition): string {
  const { fromMs, toMs } = question;
  const { firstMs, beforeMs } = bucketBefore(question);
  const buckets = [beforeMs, ...question.buckets];
  const ranges =
    firstMs === fromMs
      ? [{ fromMs: beforeMs, toMs }]
      : [
          { fromMs: beforeMs, toMs: firstMs },
          { fromMs, toMs },
        ];
  const activity = { condition, buckets, ranges };
  const words = bitColumns(buckets.length);
  const users = hasEveryEvent(question, condition)
    ? usersByFirstBit(question, activity, words)
    : usersByFirstEvent(question, activity, words);
  const twice = words.map(
    (column, word) => `${twiceSql(column, words[word - 1])} AS ${twiceColumn(word)}`,
  );
  const bornBits = words.map((_, word) => bornColumn(word));
  const bits = `SELECT ${[...words, ...bornBits, ...twice].join(', ')}, alike FROM (${users})`;
  return userCountsSql(bits, [
    { part: active, words },
    { part: activeTwice, words: words.map((_, word) => twiceColumn(word)) },
    { part: born, words: bornBits },
  ]);
}

/** When the bucket before the first one begins, and when it ends. */
function bucketBefore({ granularity, timezone, buckets, fromMs }: Question) {
  const firstMs = buckets[0] ?? fromMs;
  return { firstMs, beforeMs: bucketStart(granularity, timezone, firstMs - 1) };
}

/** Whether the activity that counts is all that the table of older profiles knows of. */
function hasEveryEvent(question: Question, condition: EventCondition): boolean {
  return refusesFirstSeen(needOf(question, condition, { count: 'first events' })) === undefined;
}

/**
 * SELECT of `words` and bornColumn, in which only bits of buckets in the range count, and of `alike`, the number of
 * users that the row stands for.
 */
type UsersSql = (question: Question, activity: Activity, words: readonly string[]) => string;

/**
 * Every event counts as activity: who had none before is new in the first bucket with any. Nobody's first event has to
 * be carried to the user. Two bits beside those of the buckets tell what a user did before the range, because one
 * column is grouped faster than two.
 */
const usersByFirstBit: UsersSql = (question, activity, words) => {
  const { fromMs } = question;
  const count = activity.buckets.length;
  const firstMs = activity.buckets[1] ?? fromMs;
  const [inFirstBucket, earlier] = [count, count + 1];
  const columns = bitColumns(count + 2);
  // Named as the first of the reads names them for all.
  const none = columns.slice(words.length).map((column) => `toUInt64(0) AS ${column}`);
  const flag = (place: number) => bitsOfPlace(count + 2, `toUInt16(${place})`).join(', ');
  const reads = [
    `SELECT profile_key, cookieless, ${[...words, ...none].join(', ')} FROM (${activitySql(question, activity)})`,
    `SELECT profile_key, cookieless, ${flag(earlier)} FROM (${olderProfilesSql(question, firstMs)})`,
  ];
  if (firstMs < fromMs) {
    const before = activitySql(question, {
      ...activity,
      ranges: [{ fromMs: firstMs, toMs: fromMs }],
    });
    reads.push(`SELECT profile_key, cookieless, ${flag(inFirstBucket)} FROM (${before})`);
  }
  const bornBits = words.map((column, word) => {
    const before = words.slice(0, word).map((other) => ` OR ${other} != 0`);
    const lowest = `toUInt64(bitXor(${column}, bitAnd(${column}, ${column} - 1)))`;
    // The first bucket has the place 1.
    const first = word === 0 ? `bitAnd(${column}, toUInt64(2))` : 'toUInt64(0)';
    return `multiIf(was_earlier${before.join('')}, toUInt64(0), was_in_first_bucket, ${first}, ${lowest}) AS ${bornColumn(word)}`;
  });
  const grouped = columns.map((column) => `all_${column}`);
  const own = bitsBelow(grouped.slice(0, words.length), count);
  const profiles = reads.join(' UNION ALL ');
  const ofEach = `SELECT ${columns.map((column, word) => `groupBitOr(${column}) AS ${grouped[word]}`).join(', ')}
      FROM (${ofUsersSql(question, profiles, columns)}) GROUP BY user_key ${streamsSql(profiles)}`;
  return `SELECT ${words.join(', ')}, ${bornBits.join(', ')}, alike FROM (
    SELECT ${own.map((sql, word) => `${sql} AS ${words[word]}`).join(', ')}, alike,
      ${isSetSql(grouped, earlier)} AS was_earlier, ${isSetSql(grouped, inFirstBucket)} AS was_in_first_bucket
    FROM (${alikeSql(ofEach, grouped)})
  ) WHERE ${hasAnySql(words)}`;
};

const usersByFirstEvent: UsersSql = (question, activity, words) => {
  const { buckets } = activity;
  const firstMs = buckets[1] ?? question.fromMs;
  const place = `if(occur_time < fromUnixTimestamp64Milli(${question.bindings.bind('Int64', firstMs)}, 'UTC'),
    toUInt16(0), ${bucketPlaceSql(question, buckets)})`;
  const profiles = `SELECT profile_key, cookieless, ${words.join(', ')}, toUInt16(${unborn}) AS born
      FROM (${activitySql(question, activity)})
    UNION ALL
    SELECT profile_key, cookieless, ${words.map(() => 'toUInt64(0)').join(', ')}, ${place} AS born
      FROM (${firstEventsSql(question, firstMs)})`;
  const bornBits = bitsOfPlace(buckets.length, 'born').map(
    (bit, word) =>
      `if(born < ${buckets.length}, bitAnd(${words[word]}, ${bit}), toUInt64(0)) AS ${bornColumn(word)}`,
  );
  return `SELECT ${words.join(', ')}, ${bornBits.join(', ')}, 1 AS alike FROM (
    SELECT ${allBits(words)}, min(born) AS born FROM (${ofUsersSql(question, profiles, [...words, 'born'])})
    GROUP BY user_key HAVING ${hasAnySql(words)} ${streamsSql(profiles)})`;
};

/** The place of nobody's bucket. */
const unborn = 65_535;

function hasAnySql(words: readonly string[]): string {
  return words.map((column) => `${column} != 0`).join(' OR ');
}

const bornColumn = (word: number): string => `born_${word}`;
const twiceColumn = (word: number): string => `twice_${word}`;

/** The bits whose place before is set, too. */
function twiceSql(word: string, wordBefore: string | undefined): string {
  const carried = wordBefore === undefined ? '' : ` + bitShiftRight(${wordBefore}, 63)`;
  return `bitAnd(${word}, bitShiftLeft(${word}, 1)${carried})`;
}

function resultOf(buckets: readonly number[], { at }: Places) {
  const points = (valueAt: (place: number) => number) =>
    buckets.map((startMs, index) => ({
      time: timestampFromMs(startMs),
      value: valueAt(index + 1),
    }));
  // Nobody who is new was active before.
  return {
    newUsers: points((place) => at(born, place)),
    returningUsers: points((place) => at(activeTwice, place)),
    resurrectingUsers: points(
      (place) => at(active, place) - at(activeTwice, place) - at(born, place),
    ),
    dormantUsers: points((place) => at(active, place - 1) - at(activeTwice, place)),
  };
}
