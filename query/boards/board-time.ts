// The time that a dashboard's questions are asked for: a preset becomes a range by the clock and the time zone, with
// the range before it and a length of buckets that fits.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { dayMs, hourMs, minuteMs } from '../../platform/clock.ts';
import { invalidArgument } from '../../platform/http/answers/invalid-argument.ts';
import { maxQuestionMs, minQuestionMs } from '../../platform/limits.ts';
import { clockMessage } from '../../platform/zones/clock-message.ts';
import { dayAt, dayStart, wallText } from '../../platform/zones/wall-clock.ts';
import { type Calendar, firstDayOfWeek } from '../../platform/zones/weeks.ts';
import type { TimeRangeSchema } from '../../proto/gen/common/v1/filter_pb.js';
import {
  type DashboardTimeRange,
  type RenderedTime,
  RenderedTimeSchema,
  TimeRangePreset,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { Granularity } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { startBefore } from '../insights/read/compared-range.ts';
import { readGranularity, readTimezone } from '../insights/read/time-buckets.ts';
import { momentMs } from '../moment.ts';

/** Half-open, in ms since the epoch. */
export interface Range {
  fromMs: number;
  toMs: number;
}

export interface BoardTime {
  range: Range;
  /** The period before: where the range has come so far, as far as that. */
  previous: Range;
  granularity: Granularity;
  /** IANA name. */
  timezone: string;
  /** The day that weeks begin on: 1 is Monday, 7 Sunday. */
  weekStart: number;
}

interface TimeFields {
  timeRange: DashboardTimeRange | undefined;
  /** UNSPECIFIED: one that fits. */
  granularity: Granularity;
  timezone: string;
  weekStart: number;
}

/** Of 2026-11-01. */
const dayCharacters = 10;

/** Throws invalid_argument for a range, a zone or buckets that cannot be. */
export function boardTime(fields: TimeFields, nowMs: number): BoardTime {
  const { timeRange, weekStart } = fields;
  const calendar = { timezone: readTimezone(fields.timezone), weekStart };
  const { range, previous } = rangesOf(timeRange, calendar, nowMs);
  const granularity = readGranularity(fields.granularity, fittingGranularity(range));
  return { range, previous, granularity, ...calendar };
}

/** Whether a question may ask for the range. The range before another one may begin before 1970. */
export function isAskable({ fromMs }: Range): boolean {
  return fromMs >= minQuestionMs;
}

export function rangeMessage({ fromMs, toMs }: Range): MessageInitShape<typeof TimeRangeSchema> {
  return { from: timestampFromMs(fromMs), to: timestampFromMs(toMs) };
}

export function timeMessage(time: BoardTime): RenderedTime {
  const { range, previous, granularity, timezone, weekStart } = time;
  return create(RenderedTimeSchema, {
    range: rangeMessage(range),
    previous: rangeMessage(previous),
    granularity,
    timezone,
    firstDay: wallText(timezone, range.fromMs).slice(0, dayCharacters),
    lastDay: wallText(timezone, range.toMs - 1).slice(0, dayCharacters),
    clock: clockMessage(timezone),
    weekStart,
  });
}

type Ranges = Pick<BoardTime, 'range' | 'previous'>;

function rangesOf(
  timeRange: DashboardTimeRange | undefined,
  calendar: Calendar,
  nowMs: number,
): Ranges {
  if (timeRange === undefined) return presetRanges(TimeRangePreset.LAST_30_DAYS, calendar, nowMs);
  const { range } = timeRange;
  switch (range.case) {
    case 'fixed': {
      const fromMs = momentMs('timeRange.fixed.from', range.value.from);
      const toMs = momentMs('timeRange.fixed.to', range.value.to);
      if (fromMs === undefined || toMs === undefined || fromMs >= toMs) {
        throw invalidArgument('timeRange.fixed', 'must have a from before its to');
      }
      // The answer names the range before it too, and must be able to write that.
      if (fromMs < minQuestionMs || toMs > maxQuestionMs) {
        throw invalidArgument('timeRange.fixed', 'must lie between 1970 and 2200');
      }
      return before({ fromMs, toMs }, calendar.timezone);
    }
    case 'preset':
      return presetRanges(range.value, calendar, nowMs);
    case undefined:
      throw invalidArgument('timeRange', 'must have a preset or a fixed range');
    default:
      return range satisfies never;
  }
}

function presetRanges(
  preset: TimeRangePreset,
  { timezone, weekStart }: Calendar,
  nowMs: number,
): Ranges {
  // Whole minutes, so that questions of the same minute are the same.
  const toMs = Math.ceil(nowMs / minuteMs) * minuteMs;
  const today = dayAt(timezone, nowMs);
  const lastDays = (count: number): Ranges => {
    const first = today - count + 1;
    return soFar(timezone, { first, before: first - count }, toMs);
  };
  const months = (first: number, length: number): Period => {
    return { first: monthDay(today, first), before: monthDay(today, first - length) };
  };
  switch (preset) {
    case TimeRangePreset.TODAY:
      return lastDays(1);
    case TimeRangePreset.YESTERDAY:
      return whole(timezone, { first: today - 1, before: today - 2 }, today);
    case TimeRangePreset.LAST_24_HOURS:
      return sameLength({ fromMs: toMs - dayMs, toMs });
    case TimeRangePreset.LAST_7_DAYS:
      return lastDays(7);
    case TimeRangePreset.LAST_30_DAYS:
      return lastDays(30);
    case TimeRangePreset.LAST_90_DAYS:
      return lastDays(90);
    case TimeRangePreset.LAST_12_MONTHS:
      return soFar(timezone, months(-11, 12), toMs);
    case TimeRangePreset.THIS_WEEK: {
      const first = firstDayOfWeek(today, weekStart);
      return soFar(timezone, { first, before: first - 7 }, toMs);
    }
    case TimeRangePreset.LAST_WEEK: {
      const next = firstDayOfWeek(today, weekStart);
      return whole(timezone, { first: next - 7, before: next - 14 }, next);
    }
    case TimeRangePreset.THIS_MONTH:
      return soFar(timezone, months(0, 1), toMs);
    case TimeRangePreset.LAST_MONTH:
      return whole(timezone, months(-1, 1), monthDay(today, 0));
    case TimeRangePreset.THIS_YEAR: {
      const month = new Date(today * dayMs).getUTCMonth();
      return soFar(timezone, months(-month, 12), toMs);
    }
    case TimeRangePreset.UNSPECIFIED:
      throw invalidArgument('timeRange.preset', 'is not one that is known');
    default: {
      const unknown: never = preset;
      throw invalidArgument('timeRange.preset', `${String(unknown)} is not one that is known`);
    }
  }
}

/** Days of a calendar, numbered from 1970-01-01 = 0: the first one of a period, and of the period before. */
interface Period {
  first: number;
  before: number;
}

/** The first day of the month that comes `months` after a day's. */
function monthDay(day: number, months: number): number {
  const date = new Date(day * dayMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months) / dayMs;
}

/** A period that has begun and goes on; the one before ends as far as this has come. */
function soFar(timezone: string, { first, before }: Period, toMs: number): Ranges {
  const fromMs = dayStart(timezone, first);
  const previousMs = dayStart(timezone, before);
  // In the first minute of the period.
  const range = { fromMs, toMs: Math.max(toMs, fromMs + minuteMs) };
  const previousToMs = Math.min(previousMs + (range.toMs - fromMs), fromMs);
  return { range, previous: { fromMs: previousMs, toMs: previousToMs } };
}

/** A whole period, up to the day `next`, and the one before it. */
function whole(timezone: string, { first, before }: Period, next: number): Ranges {
  const fromMs = dayStart(timezone, first);
  return {
    range: { fromMs, toMs: dayStart(timezone, next) },
    previous: { fromMs: dayStart(timezone, before), toMs: fromMs },
  };
}

/** Whole days of the zone and as many before them, whatever their hours; else a range of the same length. */
function before(range: Range, timezone: string): Ranges {
  return { range, previous: { fromMs: startBefore(range, timezone), toMs: range.fromMs } };
}

/** A range and the one of the same length before it. */
function sameLength(range: Range): Ranges {
  const { fromMs, toMs } = range;
  return { range, previous: { fromMs: fromMs - (toMs - fromMs), toMs: fromMs } };
}

/** Some twenty to a hundred buckets. */
function fittingGranularity({ fromMs, toMs }: Range): Granularity {
  const lengthMs = toMs - fromMs;
  if (lengthMs <= 2 * hourMs) return Granularity.MINUTE;
  if (lengthMs <= 2 * dayMs) return Granularity.HOUR;
  if (lengthMs <= 100 * dayMs) return Granularity.DAY;
  return lengthMs <= 210 * dayMs ? Granularity.WEEK : Granularity.MONTH;
}
