// Which days of a range a statement need not look at, where some of its days are kept.

import { dayMs } from '../../../../platform/clock.ts';
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

/** When the days of the zone begin that lie whole in the range, and begin on a day that is kept. */
export function wholeZoneDaysOf(
  { fromMs, toMs, dayStarts: starts }: QuestionDays,
  kept: readonly number[],
): number[] {
  const isKept = new Set(kept);
  return starts.filter((startMs, index) => {
    const endMs = starts[index + 1] ?? Number.POSITIVE_INFINITY;
    return startMs >= fromMs && endMs <= toMs && isKept.has(Math.floor(startMs / dayMs));
  });
}

/** Kept days whose events in the range all lie in `whole` days of the zone. */
export function daysOfWhole(
  { fromMs, toMs, dayStarts }: QuestionDays,
  whole: readonly number[],
  kept: readonly number[],
): number[] {
  const isWhole = new Set(whole);
  const others = dayStarts.flatMap((startMs, index) =>
    isWhole.has(startMs)
      ? []
      : [[Math.max(startMs, fromMs), Math.min(dayStarts[index + 1] ?? toMs, toMs)]],
  );
  return kept.filter((day) =>
    others.every(([startMs = 0, endMs = 0]) => {
      const isApart = startMs >= (day + 1) * dayMs || endMs <= day * dayMs;
      return isApart || startMs >= endMs;
    }),
  );
}
