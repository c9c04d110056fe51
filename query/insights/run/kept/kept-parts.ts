// Which days of a range a statement need not look at, where some of its days are kept.

import { dayMs } from '../../../../platform/clock.ts';
import type { Range } from '../../read/plan-notes.ts';
import type { QuestionDays } from '../../sources/day-cells.ts';

/** The UTC days of the range that are not among these. */
export function daysBeside(
  { firstOfRange, lastOfRange }: QuestionDays,
  days: readonly number[],
): number[] {
  const known = new Set(days);
  const length = lastOfRange - firstOfRange + 1;
  const all = Array.from({ length }, (_, index) => firstOfRange + index);
  return all.filter((day) => !known.has(day));
}

/** These, and the day before and the day after each. */
export function daysAround(days: readonly number[]): number[] {
  const around = new Set(days.flatMap((day) => [Math.max(0, day - 1), day, day + 1]));
  return [...around];
}

/**
 * The longest stretch of days of the zone, one after the other, that lie whole in the range and begin on days that are
 * kept; empty where there is none. A time is told from it by two comparisons, where days one by one would be a list.
 */
export function keptStretch(
  { fromMs, toMs, dayStarts }: QuestionDays,
  kept: readonly number[],
): Range {
  const isKept = new Set(kept);
  let longest = { fromMs, toMs: fromMs };
  let last = longest;
  for (const [index, startMs] of dayStarts.entries()) {
    const endMs = dayStarts[index + 1] ?? Number.POSITIVE_INFINITY;
    if (startMs < fromMs || endMs > toMs || !isKept.has(Math.floor(startMs / dayMs))) continue;
    last = { fromMs: last.toMs === startMs ? last.fromMs : startMs, toMs: endMs };
    if (last.toMs - last.fromMs > longest.toMs - longest.fromMs) longest = last;
  }
  return longest;
}
