// The values of a series over time as one of the whole range, for series whose values add up.

import type { TrendSeries } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Named } from './numbers.tsx';

export function sumsOf(
  series: readonly TrendSeries[],
  before: readonly TrendSeries[] | undefined,
  nameOf: (series: TrendSeries) => string,
): (Named & { isRest: boolean })[] {
  const former = new Map(before?.map((one) => [nameOf(one), sumOf(one)]));
  return series.map((one) => {
    const name = nameOf(one);
    const then = before && { before: former.get(name) ?? 0 };
    return { name, value: sumOf(one), ...then, isRest: one.isOthers };
  });
}

function sumOf({ points }: TrendSeries): number {
  return points.reduce((sum, { value = 0 }) => sum + value, 0);
}
