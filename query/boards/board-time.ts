// The time that a dashboard's questions are asked for: a preset becomes a range by the clock and the time zone, with
// the range before it and a length of buckets that fits. Calendar days are zone-days.ts's.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { TimeRangeSchema } from '../../proto/gen/common/v1/filter_pb.js';
import {
  type DashboardTimeRange,
  type RenderedTime,
  RenderedTimeSchema,
  TimeRangePreset,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { Granularity } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { invalidArgument } from '../invalid-argument.ts';
import { addDays, type Day, dayOf, startOfDay } from './zone-days.ts';

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
}

interface TimeFields {
  timeRange: DashboardTimeRange | undefined;
  /** UNSPECIFIED: one that fits. */
  granularity: Granularity;
  timezone: string;
}

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Throws invalid_argument for a range or a zone that cannot be. */
export function boardTime(
  { timeRange, granularity, timezone }: TimeFields,
  nowMs: number,
): BoardTime {
  checkZone(timezone);
  const { range, previous } = rangesOf(timeRange, timezone, nowMs);
  const fitting = granularity === Granularity.UNSPECIFIED ? fittingGranularity(range) : granularity;
  return { range, previous, granularity: fitting, timezone };
}

export function rangeMessage({ fromMs, toMs }: Range): MessageInitShape<typeof TimeRangeSchema> {
  return { from: timestampFromMs(fromMs), to: timestampFromMs(toMs) };
}

export function timeMessage({ range, previous, granularity, timezone }: BoardTime): RenderedTime {
  return create(RenderedTimeSchema, {
    range: rangeMessage(range),
    previous: rangeMessage(previous),
    granularity,
    timezone,
  });
}

type Ranges = Pick<BoardTime, 'range' | 'previous'>;

function rangesOf(
  timeRange: DashboardTimeRange | undefined,
  timezone: string,
  nowMs: number,
): Ranges {
  const range = timeRange?.range;
  switch (range?.case) {
    case 'fixed': {
      const { from, to } = range.value;
      if (from === undefined || to === undefined || timestampMs(from) >= timestampMs(to)) {
        throw invalidArgument('timeRange.fixed', 'must have a from before its to');
      }
      return before({ fromMs: timestampMs(from), toMs: timestampMs(to) });
    }
    case 'preset':
      return presetRanges(range.value, timezone, nowMs);
    case undefined:
      return presetRanges(TimeRangePreset.LAST_30_DAYS, timezone, nowMs);
    default:
      return range satisfies never;
  }
}

function presetRanges(preset: TimeRangePreset, timezone: string, nowMs: number): Ranges {
  // Whole minutes, so that questions of the same minute are the same.
  const toMs = Math.ceil(nowMs / minuteMs) * minuteMs;
  const today = dayOf(nowMs, timezone);
  const month = { ...today, day: 1 };
  const since = (day: Day, days: number, months = 0) => soFar(day, days, months, timezone, toMs);
  const whole = (day: Day, days: number, months = 0) => period(day, days, months, timezone);
  switch (preset) {
    case TimeRangePreset.TODAY:
      return since(today, 1);
    case TimeRangePreset.YESTERDAY:
      return whole(addDays(today, -1), 1);
    case TimeRangePreset.LAST_24_HOURS:
      return before({ fromMs: toMs - dayMs, toMs });
    case TimeRangePreset.LAST_7_DAYS:
      return since(addDays(today, -6), 7);
    case TimeRangePreset.LAST_30_DAYS:
      return since(addDays(today, -29), 30);
    case TimeRangePreset.LAST_90_DAYS:
      return since(addDays(today, -89), 90);
    case TimeRangePreset.LAST_12_MONTHS:
      return since(addDays(month, 0, -11), 0, 12);
    case TimeRangePreset.THIS_WEEK:
      return since(addDays(today, -daysSinceMonday(today)), 7);
    case TimeRangePreset.THIS_MONTH:
      return since(month, 0, 1);
    case TimeRangePreset.LAST_MONTH:
      return whole(addDays(month, 0, -1), 0, 1);
    case TimeRangePreset.THIS_YEAR:
      return since({ ...month, month: 1 }, 0, 12);
    case TimeRangePreset.UNSPECIFIED:
      throw invalidArgument('timeRange.preset', 'is not one that is known');
    default: {
      const unknown: never = preset;
      throw invalidArgument('timeRange.preset', `${String(unknown)} is not one that is known`);
    }
  }
}

/** A period of so many days and months that has begun and goes on; the one before ends as far as this has come. */
function soFar(first: Day, days: number, months: number, timezone: string, toMs: number): Ranges {
  const fromMs = startOfDay(first, timezone);
  const range = { fromMs, toMs: Math.max(toMs, fromMs + minuteMs) };
  const previousMs = startOfDay(addDays(first, -days, -months), timezone);
  const previousToMs = Math.min(previousMs + (range.toMs - fromMs), fromMs);
  return { range, previous: { fromMs: previousMs, toMs: previousToMs } };
}

/** A whole period and the one before it. */
function period(first: Day, days: number, months: number, timezone: string): Ranges {
  const startMs = (times: number): number =>
    startOfDay(addDays(first, times * days, times * months), timezone);
  const fromMs = startMs(0);
  return {
    range: { fromMs, toMs: startMs(1) },
    previous: { fromMs: startMs(-1), toMs: fromMs },
  };
}

/** A range and the one of the same length before it. */
function before(range: Range): Ranges {
  const { fromMs, toMs } = range;
  return { range, previous: { fromMs: fromMs - (toMs - fromMs), toMs: fromMs } };
}

function daysSinceMonday({ year, month, day }: Day): number {
  return (new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 6) % 7;
}

/** Some twenty to a hundred buckets. */
function fittingGranularity({ fromMs, toMs }: Range): Granularity {
  const lengthMs = toMs - fromMs;
  if (lengthMs <= 2 * hourMs) return Granularity.MINUTE;
  if (lengthMs <= 2 * dayMs) return Granularity.HOUR;
  if (lengthMs <= 100 * dayMs) return Granularity.DAY;
  return lengthMs <= 210 * dayMs ? Granularity.WEEK : Granularity.MONTH;
}

function checkZone(timezone: string): void {
  try {
    dayOf(0, timezone);
  } catch {
    throw invalidArgument('timezone', 'must be an IANA time zone such as Europe/Berlin');
  }
}
