// SQL for the place of an event's bucket among the buckets of a question. A user's buckets then fit into the bits of a
// few numbers, which one pass over the events adds up.

import type { Question } from '../read/question.ts';

/** Buckets of one length that follow one another. */
interface Stretch {
  startMs: number;
  lengthMs: number;
  place: number;
}

/** More stretches than these cost more than a search in the list of all starts. */
const maxStretches = 6;

/**
 * The place of a moment in `buckets`, from 0, of an event's unless given; it must not be before the first. Days are of
 * one length but for those on which clocks change: a division finds them in half the time of a search.
 */
export function bucketPlaceSql(
  { bindings }: Question,
  buckets: readonly number[],
  ms = 'toUnixTimestamp64Milli(occur_time)',
): string {
  if (buckets.length === 1) return 'toUInt16(0)';
  const stretches = stretchesOf(buckets);
  if (stretches.length > maxStretches) {
    const starts = bindings.bind('Array(Int64)', buckets.map(BigInt));
    return `toUInt16(transform(roundDown(${ms}, ${starts}), ${starts}, range(toUInt64(${buckets.length})), 0))`;
  }
  const int = (value: number): string => bindings.bind('Int64', value);
  const branches = stretches.map(({ startMs, lengthMs, place }, index) => {
    const within = `intDiv(${ms} - ${int(startMs)}, ${int(lengthMs)}) + ${place}`;
    const next = stretches[index + 1];
    // The last bucket may be longer than those before it.
    return next === undefined
      ? `least(${within}, ${buckets.length - 1})`
      : `${ms} < ${int(next.startMs)}, ${within}`;
  });
  return `toUInt16(${branches.length === 1 ? branches.join() : `multiIf(${branches.join(', ')})`})`;
}

function stretchesOf(buckets: readonly number[]): Stretch[] {
  const stretches: Stretch[] = [];
  for (const [place, startMs] of buckets.entries()) {
    const next = buckets[place + 1];
    const last = stretches.at(-1);
    const lengthMs = next === undefined ? last?.lengthMs : next - startMs;
    if (lengthMs !== undefined && lengthMs !== last?.lengthMs) {
      stretches.push({ startMs, lengthMs, place });
    }
  }
  return stretches;
}
