// LIFECYCLE: users who are new, returning, resurrecting or dormant, bucket by bucket. The statement counts those who
// were active, those who were in the bucket before, too, and those who are new; the others are what is left of these.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { LifecycleResultSchema } from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { type EventCondition, onlyEvent } from '../../read/event-condition.ts';
import { incompleteFrom } from '../../read/incomplete.ts';
import type { Question } from '../../read/question.ts';
import { bucketStart } from '../../read/time-buckets.ts';
import { type Activity, activitySql, ofUsersSql, streamsSql } from '../../sources/activity.ts';
import { firstEventsSql } from '../../sources/first-events.ts';
import { allBits, bitColumns, bitsOfPlace, userCountsSql } from '../../sql/bucket-bits.ts';
import { bucketPlaceSql } from '../../sql/bucket-place.ts';
import { groupedRowsSql, numberRowsSql, readGroups, readLeftOut } from '../grouped-rows.ts';
import { leftOutSql, maxReasons } from '../left-out.ts';
import type { Plan } from '../plan.ts';

/** Of that part and place; 0 where there is none. */
type NumberAt = (part: number, place: number) => number;

/** The parts of the rows: what users are in a bucket. */
const [active, activeTwice, born] = [0, 1, 2];

/** Throws invalid_argument. */
export function planLifecycle(question: Question): Plan {
  const condition = onlyEvent(question.spec.events, question);
  const { buckets } = question;
  const rows = numberRowsSql(numbersSql(question, condition));
  return {
    sql: groupedRowsSql([rows], leftOutSql(question, [{ condition, countsUsers: true }])),
    maxRows: 3 * (buckets.length + 1) + maxReasons,
    read: (rows, untilMs) => {
      const parts = [active, activeTwice, born].map((part) => readGroups(question, rows, part)[0]);
      const at: NumberAt = (part, place) => parts[part]?.cells.get(place)?.[0] ?? 0;
      const value = create(LifecycleResultSchema, {
        ...{ ...resultOf(buckets, at), ...incompleteFrom(question, untilMs) },
      });
      return { result: { case: 'lifecycle', value }, leftOut: readLeftOut(rows, []) };
    },
  };
}

/** The place 0 is the bucket before the first one. */
function numbersSql(question: Question, condition: EventCondition): string {
  const { fromMs, toMs } = question;
  const { firstMs, beforeMs } = bucketBefore(question);
  const buckets = [beforeMs, ...question.buckets];
  const ranges = [
    { fromMs: beforeMs, toMs: firstMs },
    { fromMs, toMs },
  ];
  const activity = { condition, buckets, ranges };
  const words = bitColumns(buckets.length);
  const users = usersSql(question, activity, words);
  const twice = words.map(
    (column, word) => `${twiceSql(column, words[word - 1])} AS ${twiceColumn(word)}`,
  );
  const bornBits = words.map((_, word) => bornColumn(word));
  const bits = `SELECT ${[...words, ...bornBits, ...twice].join(', ')} FROM (${users})`;
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

/** SELECT of `words` and bornColumn, in which only bits of buckets in the range count. */
function usersSql(question: Question, activity: Activity, words: readonly string[]): string {
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
  return `SELECT ${words.join(', ')}, ${bornBits.join(', ')} FROM (
    SELECT ${allBits(words)}, min(born) AS born FROM (${ofUsersSql(question, profiles, [...words, 'born'])})
    GROUP BY user_key HAVING ${words.map((column) => `${column} != 0`).join(' OR ')} ${streamsSql(profiles)})`;
}

/** The place of nobody's bucket. */
const unborn = 65_535;

const bornColumn = (word: number): string => `born_${word}`;
const twiceColumn = (word: number): string => `twice_${word}`;

/** The bits whose place before is set, too. */
function twiceSql(word: string, wordBefore: string | undefined): string {
  const carried = wordBefore === undefined ? '' : ` + bitShiftRight(${wordBefore}, 63)`;
  return `bitAnd(${word}, bitShiftLeft(${word}, 1)${carried})`;
}

function resultOf(buckets: readonly number[], at: NumberAt) {
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
