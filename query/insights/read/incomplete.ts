// Which buckets of an answer are not over yet: what it says of them may still change when more happens.

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Question } from './question.ts';
import { bucketEnd } from './time-buckets.ts';

/** When each bucket ends; the last one may end after the range. */
export function bucketEnds(question: Question): number[] {
  const { granularity, buckets } = question;
  const last = buckets.at(-1);
  if (last === undefined) return [];
  return [...buckets.slice(1), bucketEnd(granularity, question, last)];
}

/**
 * The member of a message that says when the first bucket begins that was not over at `untilMs`, where one was not.
 * `overMs` tells when all is known of a bucket that ends at `endMs`: at that moment, unless given.
 */
export function incompleteFrom(
  question: Question,
  untilMs: number,
  overMs: (endMs: number) => number = (endMs) => endMs,
) {
  const { buckets, earlierBuckets = 0 } = question;
  const place = bucketEnds(question).findIndex((endMs) => overMs(endMs) > untilMs);
  // The first mean that is shown depends on all buckets before it.
  return incompleteSince(buckets[place < 0 ? place : Math.max(place, earlierBuckets)]);
}

/** The same from its moment. */
export function incompleteSince(ms: number | undefined) {
  return ms === undefined ? {} : { incompleteFrom: timestampFromMs(ms) };
}
