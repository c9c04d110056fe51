// Which parts of a question's range are kept, for statements that need to know more than the days themselves.

import { dayMs } from '../../../platform/clock.ts';
import type { QuestionDays } from './day-cells.ts';

/** From the day before the range to the day after it: those that are not beside a day that has to be counted. */
export function daysApartOf(
  { firstOfRange, lastOfRange }: QuestionDays,
  kept: readonly number[],
): number[] {
  const isKept = new Set(kept);
  const isCounted = (day: number): boolean =>
    day >= firstOfRange && day <= lastOfRange && !isKept.has(day);
  const length = lastOfRange - firstOfRange + 3;
  const days = Array.from({ length }, (_, index) => firstOfRange - 1 + index);
  return days.filter((day) => day >= 0 && ![day - 1, day, day + 1].some(isCounted));
}

/** When the buckets begin that lie whole in the range, and begin on a day that is kept. */
export function wholeBucketsOf(
  { fromMs, toMs, starts }: QuestionDays,
  kept: readonly number[],
): number[] {
  const isKept = new Set(kept);
  return starts.filter((startMs, index) => {
    const endMs = starts[index + 1] ?? Number.POSITIVE_INFINITY;
    return startMs >= fromMs && endMs <= toMs && isKept.has(Math.floor(startMs / dayMs));
  });
}

/** Of days that are kept, those of which no other bucket has a moment in the range. */
export function daysOfWholeBuckets(
  { fromMs, toMs, starts }: QuestionDays,
  whole: readonly number[],
  kept: readonly number[],
): number[] {
  const isWhole = new Set(whole);
  const others = starts.flatMap((startMs, index) => {
    if (isWhole.has(startMs)) return [];
    const [first, end] = [Math.max(startMs, fromMs), Math.min(starts[index + 1] ?? toMs, toMs)];
    return first < end ? [Math.floor(first / dayMs), Math.floor((end - 1) / dayMs)] : [];
  });
  const ofOthers = new Set(others);
  return kept.filter((day) => !ofOthers.has(day));
}
