// The days that a part of a chart stands for.

import { labelDay } from '../../time/labels.ts';

const dayMs = 86_400_000;

/**
 * The first and the last day of the buckets from one place to another, in any order, as the address has them. Nothing
 * lies after `today`, unless a bucket begins later.
 */
export function daysBetween(
  labels: readonly string[],
  one: number,
  other: number,
  today: string,
): { from: string; to: string } | undefined {
  const first = labels[Math.min(one, other)];
  const last = labels[Math.max(one, other)];
  if (first === undefined || last === undefined) return undefined;
  const next = labels[Math.max(one, other) + 1];
  const day = labelDay(last);
  const end = next === undefined ? lastDayOf(day, bucketDays(labels)) : dayBefore(next, day);
  const to = end > today && day <= today ? today : end;
  return { from: labelDay(first), to };
}

/** Buckets of hours and minutes are parts of their day. */
function dayBefore(next: string, day: string): string {
  const nextDay = labelDay(next);
  return nextDay <= day ? day : shifted(nextDay, -1);
}

function lastDayOf(day: string, days: number): string {
  if (days < 2) return day;
  if (days <= 7) return shifted(day, days - 1);
  const [year = 0, month = 0] = day.split('-').map(Number);
  return dayOf(Date.UTC(year, month, 0));
}

/** Of the longest bucket: the first one may be cut by its range. */
function bucketDays(labels: readonly string[]): number {
  const days = labels.map((label) => Date.parse(`${labelDay(label)}T00:00:00Z`) / dayMs);
  return Math.max(0, ...days.slice(1).map((day, index) => day - (days[index] ?? day)));
}

function shifted(day: string, days: number): string {
  return dayOf(Date.parse(`${day}T00:00:00Z`) + days * dayMs);
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
