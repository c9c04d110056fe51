// The time windows that a newest-first read looks through. The table is sorted by day, so that a read whose page the
// newest day fills costs that day only; a read that needs more goes back in ever wider windows. It reads nothing
// itself.

import { dayMs } from '../../platform/clock.ts';

/** A window that would be wider takes the rest of the range. */
const widestDays = 1_000;

/** Half-open, in milliseconds since the epoch. */
export interface TimeWindow {
  fromMs: number;
  toMs: number;
}

/**
 * Windows without gap or overlap that cover `range`, newest first. The first starts with a UTC day, `firstDays` before
 * the earlier of `nowMs` and the range's end, and reaches to the range's end: it holds events of the future. Each next
 * window is `growth` times as wide.
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
