// The totals of the last minute, oldest first. The oldest only tells from when on the others count: what it counts
// itself came before.

import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { WatchTotals } from '../../proto/gen/shared/activity/v1/activity_pb.js';

const minuteMs = 60_000;
/** One comes each second, and one more tells where they begin. */
const maxTotals = 62;

/** By the service's clock. */
export function totalsMs({ time }: Pick<WatchTotals, 'time'>): number {
  return time ? timestampMs(time) : 0;
}

export function withTotals<T extends Pick<WatchTotals, 'time'>>(
  before: readonly T[],
  next: T,
): readonly T[] {
  const all = [...before, next].slice(-maxTotals);
  const fromMs = totalsMs(next) - minuteMs;
  const begins = all.findIndex((one) => totalsMs(one) > fromMs);
  return all.slice(Math.max(0, begins - 1));
}
