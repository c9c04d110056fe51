// In which order a newest-first read looks through time. The table is sorted by day, so a read that is content with the
// newest day costs that day and no more; one that is not goes further back in ever wider steps.

import { dayMs } from '../../platform/clock.ts';

/** A step that would be wider takes all that is left. */
const widestDays = 1_000;

/** Half-open, in milliseconds since the epoch. */
export interface TimeWindow {
  fromMs: number;
  toMs: number;
}

/**
 * Windows that touch, newest first, and together are `range`. The first ends with the range and starts with a UTC day,
 * `firstDays` back from `nowMs` or from the range's end, whichever is earlier: events of the future are within it. Each
 * further one is `growth` times as wide.
 */
export function* newestFirst(
  range: TimeWindow,
  nowMs: number,
  firstDays: number,
  growth: number,
): Generator<TimeWindow> {
  let toMs = range.toMs;
  let days = firstDays;
  const newestDay = Math.floor((Math.min(range.toMs, nowMs) - 1) / dayMs);
  let fromMs = (newestDay - days + 1) * dayMs;
  while (toMs > range.fromMs) {
    if (days > widestDays || fromMs < range.fromMs) fromMs = range.fromMs;
    yield { fromMs, toMs };
    toMs = fromMs;
    days *= growth;
    fromMs = toMs - days * dayMs;
  }
}
