// Which bucket of a chart an annotation belongs to.

import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Note } from './known-annotations.ts';

/** The annotations of each bucket that has some, by the labels of the buckets, ascending; the oldest first. */
export function annotationsByBucket(
  labels: readonly string[],
  annotations: readonly Note[],
): Map<number, readonly Note[]> {
  const starts = labels.map((label) => Date.parse(label));
  const last = starts.at(-1) ?? 0;
  const end = last + Math.max(1, last - (starts.at(-2) ?? last));
  const found = new Map<number, readonly Note[]>();
  for (const one of annotations.toReversed()) {
    const ms = one.time ? timestampMs(one.time) : 0;
    const bucket = ms < end ? starts.findLastIndex((start) => start <= ms) : -1;
    if (bucket !== -1) found.set(bucket, [...(found.get(bucket) ?? []), one]);
  }
  return found;
}
