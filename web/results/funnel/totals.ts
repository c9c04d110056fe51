// What the steps of a funnel's group come to.

import type { FunnelSeries } from '../../../proto/gen/shared/insights/v1/insights_pb.js';

/** The users who reached a step, from 0. */
export function total({ steps }: FunnelSeries, step: number): number {
  return steps[step]?.total ?? 0;
}

/** Those of them who took the step `of`, as a part of 1; 0 where nobody did. */
export function share(series: FunnelSeries, step: number, of: number): number {
  const base = total(series, of);
  return base === 0 ? 0 : total(series, step) / base;
}

export function isOptional(series: FunnelSeries | undefined, step: number): boolean {
  return series?.steps[step]?.isOptional === true;
}

/** The last step that is not optional, from 0. */
export function lastStep({ steps }: FunnelSeries): number {
  return Math.max(
    0,
    steps.findLastIndex(({ isOptional: isSkipped }) => !isSkipped),
  );
}

/** The nearest step before it that is not optional, from 0; of the first one itself. */
export function stepBefore({ steps }: FunnelSeries, step: number): number {
  return Math.max(
    0,
    steps.findLastIndex(({ isOptional: isSkipped }, at) => at < step && !isSkipped),
  );
}
