// The parameters that tell a statement which days it finds kept, and which it has to keep.

import { dayMs, utcDateOf } from '../../../../platform/clock.ts';
import { editionOf, type QuestionDays } from '../../sources/day-cells.ts';

/** Days that are kept, since the epoch and ascending, and their versions. */
export type Found = readonly { day: number; version: number }[];

/** The parameters of a statement that finds these days. */
export function paramsOf(range: QuestionDays, found: Found, reachDays: number) {
  const kept = found.map(({ day }) => day);
  const whole = wholeZoneDaysOf(range, kept);
  return {
    kept: kept.map(utcDateOf),
    kept_reach: String(reachDays),
    days_apart: daysApartOf(range, kept).map(utcDateOf),
    whole_zone_days: whole.map(BigInt),
    days_of_whole_zone_days: daysOfWhole(range, whole, kept).map(utcDateOf),
    kept_versions: found.map(({ version }) => version),
    kept_editions: found.map(editionOf),
  };
}

/** The parameters of the statements that keep these days. */
export function paramsToKeep({ buckets, dayStarts }: QuestionDays, found: Found) {
  const days = found.map(({ day }) => day);
  const around = new Set(days.flatMap((day) => [Math.max(0, day - 1), day, day + 1]));
  return {
    days_to_keep: days.map(utcDateOf),
    days_around: [...around].map(utcDateOf),
    versions_to_keep: found.map(({ version }) => version),
    editions_to_keep: found.map(editionOf),
    kept_buckets: buckets,
    day_starts: dayStarts.map(BigInt),
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

/** When the days of the zone begin that lie whole in the range, and begin on a day that is kept. */
function wholeZoneDaysOf(
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
function daysOfWhole(
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
