// The parameters that tell a statement which days it finds kept, and which it has to keep.

import { utcDateOf } from '../../../../platform/clock.ts';
import { editionOf, type QuestionDays } from '../../sources/day-cells.ts';

/** Days that are kept, since the epoch and ascending, and their versions. */
export type Found = readonly { day: number; version: number }[];

/** The parameters of a statement that finds these days. */
export function paramsOf(range: QuestionDays, found: Found) {
  const kept = found.map(({ day }) => day);
  return {
    kept: kept.map(utcDateOf),
    days_apart: daysApartOf(range, kept).map(utcDateOf),
    kept_versions: found.map(({ version }) => version),
    kept_editions: found.map(editionOf),
  };
}

/** The parameters of the statements that keep these days. */
export function paramsToKeep({ buckets }: QuestionDays, found: Found) {
  const days = found.map(({ day }) => day);
  const around = new Set(days.flatMap((day) => [Math.max(0, day - 1), day, day + 1]));
  return {
    days_to_keep: days.map(utcDateOf),
    days_around: [...around].map(utcDateOf),
    versions_to_keep: found.map(({ version }) => version),
    editions_to_keep: found.map(editionOf),
    kept_buckets: buckets,
  };
}

/** From the day before the range to the day after it: those that are not beside a day that has to be counted. */
function daysApartOf(
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
