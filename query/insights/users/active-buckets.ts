// SQL for the buckets in which users were active: a bit for each, in as few numbers of 64 bits as hold them all.

import { bucketPlaceSql } from '../events/bucket-place.ts';
import type { EventCondition } from '../events/event-condition.ts';
import { readEventsSql } from '../events/read-events.ts';
import type { Question } from '../question/question.ts';

const wordBits = 64;

/** The numbers that hold the bits of so many buckets. */
export function wordCount(buckets: number): number {
  return Math.ceil(buckets / wordBits);
}

/** The columns of the bits of so many buckets: bits_0, bits_1, … */
export function bitColumns(buckets: number): string[] {
  return Array.from({ length: wordCount(buckets) }, (_, word) => `bits_${word}`);
}

/** The numbers that have the one bit of the bucket whose place is the column `place`; one for each of bitColumns. */
export function bitsOfPlace(buckets: number): string[] {
  const words = wordCount(buckets);
  if (words === 1) return ['bitShiftLeft(toUInt64(1), place)'];
  return Array.from(
    { length: words },
    (_, word) =>
      `if(intDiv(place, ${wordBits}) = ${word}, bitShiftLeft(toUInt64(1), place % ${wordBits}), toUInt64(0))`,
  );
}

/** An array of the places whose bits are set, ascending. */
export function placesSql(words: readonly string[]): string {
  const arrays = words.map((word, index) =>
    index === 0
      ? `bitPositionsToArray(${word})`
      : `arrayMap(bit -> bit + ${index * wordBits}, bitPositionsToArray(${word}))`,
  );
  return arrays.length === 1 ? arrays.join() : `arrayConcat(${arrays.join(', ')})`;
}

export interface Activity {
  condition: EventCondition;
  /** When the buckets begin, in milliseconds. */
  buckets: readonly number[];
  /** The ranges that are looked at, in milliseconds, half-open; none begins before the first bucket. */
  ranges: readonly { fromMs: number; toMs: number }[];
}

/** SELECT of user_key, never 0, and bitColumns; a user may have many rows. */
export function activitySql(question: Question, { condition, buckets, ranges }: Activity): string {
  const columns = bitColumns(buckets.length);
  const bits = bitsOfPlace(buckets.length).map((sql, word) => `${sql} AS ${columns[word]}`);
  const place = bucketPlaceSql(question, buckets);
  const reads = ranges.map((range) => {
    const events = readEventsSql(question, {
      ...{ condition, columns: { place }, withUser: true },
      ...range,
    });
    return `SELECT user_key, ${bits.join(', ')} FROM (${events}) WHERE user_key != 0`;
  });
  return reads.join(' UNION ALL ');
}

/** SQL for bitColumns over the rows of one user. */
export function allBits(columns: readonly string[]): string {
  return columns.map((column) => `groupBitOr(${column}) AS ${column}`).join(', ');
}
