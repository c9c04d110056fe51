// Cells of a series that counts users of more than their bucket: of the days that end with it, or of the range until
// then. A user's buckets are bits; each one covers buckets from its own to the next one's or to its window's end, so
// that a running sum of those who begin and end to be covered counts each user once.

import type { EventCondition } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { bucketStart } from '../../read/time-buckets.ts';
import { userBitsSql } from '../../sources/activity.ts';
import { bitColumns, placesSql } from '../../sql/bucket-bits.ts';
import { activeUserCellsSql } from './active-users.ts';

/** `days` that end with each bucket, or all until its end. */
export type Window = { days: number } | 'cumulative';

/** More than any question has. */
const noPlace = 65_535;

/** SELECT of the cells, as ranked-groups.ts takes them. */
export function windowUserCellsSql(
  question: Question,
  condition: EventCondition,
  window: Window,
): string {
  const { buckets, fromMs, toMs, bindings } = question;
  const earlier = window === 'cumulative' ? [] : daysBefore(question, window.days - 1, buckets[0]);
  const all = [...earlier, ...buckets];
  if (all.length === 1) return activeUserCellsSql(question, condition, buckets);
  const range = { fromMs: earlier[0] ?? fromMs, toMs };
  const users = userBitsSql(question, { condition, buckets: all, ranges: [range] });
  const length = window === 'cumulative' ? noPlace : window.days;
  const starts = bindings.bind('Array(Int64)', buckets.length === 1 ? [0n] : buckets.map(BigInt));
  return `SELECT cell.1 AS bucket, toFloat64(cell.2) AS a, toFloat64(0) AS b, toUInt64(1) AS weight FROM (
    SELECT arrayJoin(arrayZip(${starts}, arraySlice(arrayCumSum(
      arrayMap(place -> changes[toUInt32(place)], range(toUInt32(${all.length})))), ${earlier.length + 1}))) AS cell
    FROM (SELECT mapFromArrays(groupArray(at), groupArray(number)) AS changes FROM (${changesSql(users, bitColumns(all.length), length)})))`;
}

/** SELECT of (at, number): how many more users are covered from that place on. */
function changesSql(users: string, words: readonly string[], length: number): string {
  const first = `toUInt32(${placesSql(words)}[1])`;
  if (length === noPlace)
    return `SELECT ${first} AS at, toInt64(count()) AS number FROM (${users}) GROUP BY at`;
  const ends = `arrayMap((place, next) -> least(place + ${length}, next), places, arrayPushBack(arrayPopFront(places), ${noPlace}))`;
  return `SELECT change.1 AS at, sum(change.2) AS number FROM (
    SELECT arrayMap(place -> toUInt32(place), ${placesSql(words)}) AS places FROM (${users}))
    ARRAY JOIN arrayConcat(arrayMap(place -> (toUInt32(place), toInt64(1)), places),
      arrayMap(place -> (toUInt32(place), toInt64(-1)), ${ends})) AS change GROUP BY at`;
}

/** When the window of the bucket that begins with `startMs` begins. */
export function windowStart(question: Question, window: Window, startMs: number): number {
  if (window === 'cumulative') return question.fromMs;
  return daysBefore(question, window.days - 1, startMs)[0] ?? startMs;
}

/** When so many days before a bucket begin, ascending. */
function daysBefore(question: Question, count: number, startMs: number | undefined): number[] {
  const { granularity } = question;
  const days = startMs === undefined ? [] : [startMs];
  while (days.length <= count) {
    const [firstMs = 0] = days;
    days.unshift(bucketStart(granularity, question, firstMs - 1));
  }
  return days.slice(0, -1);
}
