// When a report is due, and which period it is about: days of a zone's calendar, numbered from 1970-01-01 = 0.

import {
  ReportFrequency,
  type ReportSchedule,
} from '../../proto/gen/dashboard/reports/v1/reports_pb.js';
import { dayMs, hourMs } from '../clock.ts';
import { dayAt, dayStart, firstMoment } from '../zones/wall-clock.ts';
import { type Calendar, firstDayOfWeek, weekdayOf } from '../zones/weeks.ts';

export type DueSchedule = Pick<ReportSchedule, 'frequency' | 'weekday' | 'dayOfMonth' | 'hour'>;

/** One occasion of a schedule. */
export interface DueReport {
  /** The zone's day on which it is due. */
  day: number;
  dueMs: number;
}

/** Half-open, in ms since the epoch; both are whole days of the zone. */
export interface ReportPeriod {
  fromMs: number;
  toMs: number;
  /** Where the period of the same kind before it begins; it ends where this one begins. */
  previousFromMs: number;
}

/** Further than the distance of two occasions: a schedule of the 31st is due on the last day of a short month. */
const maxDistanceDays = 62;
const daysOfWeek = 7;

/** The newest occasion that is not after `nowMs`. Schedules as they are stored: none is unspecified. */
export function lastDue(schedule: DueSchedule, timezone: string, nowMs: number): DueReport {
  const today = dayAt(timezone, nowMs);
  // A day's hour may come with the next day's first moment, where the clock leaves midnight out.
  for (let day = today; day > today - maxDistanceDays; day -= 1) {
    const due = dueOn(schedule, timezone, day);
    if (due !== undefined && due.dueMs <= nowMs) return due;
  }
  throw new RangeError('the schedule has no day');
}

/** The first occasion after `nowMs`. */
export function nextDue(schedule: DueSchedule, timezone: string, nowMs: number): DueReport {
  const today = dayAt(timezone, nowMs);
  for (let day = today; day < today + maxDistanceDays; day += 1) {
    const due = dueOn(schedule, timezone, day);
    if (due !== undefined && due.dueMs > nowMs) return due;
  }
  throw new RangeError('the schedule has no day');
}

/** How many occasions lie between two moments, both not included; at most `max`. */
export function countDue(
  schedule: DueSchedule,
  timezone: string,
  { afterMs, beforeMs, max }: { afterMs: number; beforeMs: number; max: number },
): number {
  let count = 0;
  let { dueMs } = nextDue(schedule, timezone, afterMs);
  while (dueMs < beforeMs && count < max) {
    count += 1;
    ({ dueMs } = nextDue(schedule, timezone, dueMs));
  }
  return count;
}

/** The last whole day, week or month before the day on which the report is due. */
export function periodOf(
  schedule: Pick<DueSchedule, 'frequency'>,
  { timezone, weekStart }: Calendar,
  day: number,
): ReportPeriod {
  const [before, first, end] = periodDays(schedule.frequency, weekStart, day);
  return {
    fromMs: dayStart(timezone, first),
    toMs: dayStart(timezone, end),
    previousFromMs: dayStart(timezone, before),
  };
}

/** The first day of the period before, that of the period, and the day after its last. */
function periodDays(
  frequency: ReportFrequency,
  weekStart: number,
  day: number,
): [number, number, number] {
  switch (frequency) {
    case ReportFrequency.WEEKLY: {
      const end = firstDayOfWeek(day, weekStart);
      return [end - 2 * daysOfWeek, end - daysOfWeek, end];
    }
    case ReportFrequency.MONTHLY:
      return [monthStart(day, -2), monthStart(day, -1), monthStart(day, 0)];
    case ReportFrequency.DAILY:
    case ReportFrequency.UNSPECIFIED:
      return [day - 2, day - 1, day];
    default:
      return frequency satisfies never;
  }
}

/**
 * Undefined where the schedule skips the day, and for a day that the zone's calendar leaves out. The hour is the
 * clock's first moment of it, or the change over it.
 */
function dueOn(schedule: DueSchedule, timezone: string, day: number): DueReport | undefined {
  if (!isDueOn(schedule, day)) return undefined;
  const isLeftOut = dayStart(timezone, day) === dayStart(timezone, day + 1);
  if (isLeftOut && schedule.frequency === ReportFrequency.DAILY) return undefined;
  const dueMs = firstMoment(timezone, day * dayMs + (schedule.hour ?? 0) * hourMs);
  return { day, dueMs };
}

function isDueOn({ frequency, weekday, dayOfMonth }: DueSchedule, day: number): boolean {
  switch (frequency) {
    case ReportFrequency.WEEKLY:
      return weekdayOf(day) === (weekday || 1);
    case ReportFrequency.MONTHLY: {
      const lastOfMonth = monthStart(day, 1) - 1;
      const wanted = monthStart(day, 0) + (dayOfMonth || 1) - 1;
      return day === Math.min(wanted, lastOfMonth);
    }
    case ReportFrequency.DAILY:
    case ReportFrequency.UNSPECIFIED:
      return true;
    default:
      return frequency satisfies never;
  }
}

/** The first day of the month that comes `months` after a day's. */
function monthStart(day: number, months: number): number {
  const date = new Date(day * dayMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months) / dayMs;
}
