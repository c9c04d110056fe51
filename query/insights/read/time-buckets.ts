// The buckets of a question: whole minutes, hours, days, weeks or months of a time zone. They are computed here
// alone, by the zone's offsets (platform/zones), and given to the engine as a list, so that answer and statement
// cannot differ, and a day without a midnight or an hour that comes twice needs no care elsewhere.

import { dayMs, hourMs, minuteMs } from '../../../platform/clock.ts';
import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import { firstMoment, offsetMs, wallMs, wallText } from '../../../platform/zones/wall-clock.ts';
import { type Calendar, firstDayOfWeek, isWeekday, monday } from '../../../platform/zones/weeks.ts';
import { firstWhere, zones } from '../../../platform/zones/zones.ts';
import { Granularity } from '../../../proto/gen/shared/insights/v1/insights_pb.js';

interface Length {
  unit: Unit;
  /** The longest range, without the hour to spare for daylight saving. */
  maxRangeMs: number;
  /** Names that range in errors. */
  maxRange: string;
}

type Unit = 'minute' | 'hour' | 'day' | 'week' | 'month';

/** The grain of the tables of sums: all zones are off by whole quarters of an hour. */
export const quarterMs = 900_000;
/** The longest range of a question without buckets. */
export const maxRangeMs = 3_653 * dayMs + hourMs;

const lengths: Readonly<Record<Granularity, Length>> = {
  [Granularity.UNSPECIFIED]: { unit: 'day', maxRangeMs: 365 * dayMs, maxRange: '365 days' },
  [Granularity.MINUTE]: { unit: 'minute', maxRangeMs: 6 * hourMs, maxRange: '6 hours' },
  [Granularity.HOUR]: { unit: 'hour', maxRangeMs: 14 * dayMs, maxRange: '14 days' },
  [Granularity.DAY]: { unit: 'day', maxRangeMs: 365 * dayMs, maxRange: '365 days' },
  [Granularity.WEEK]: { unit: 'week', maxRangeMs: 1_461 * dayMs, maxRange: '4 years' },
  [Granularity.MONTH]: { unit: 'month', maxRangeMs: 3_653 * dayMs, maxRange: '10 years' },
};

/** Returns the IANA's spelling, UTC for an empty one. Throws invalid_argument for a name that is no zone. */
export function readTimezone(timezone: string): string {
  const name = timezone === '' ? 'UTC' : zones.nameOf(timezone);
  if (name !== undefined) return name;
  throw invalidArgument('timezone', 'must be the IANA name of a time zone');
}

/** Monday for 0. Throws invalid_argument for what is no weekday. */
export function readWeekStart(weekStart: number): number {
  if (weekStart === 0) return monday;
  if (isWeekday(weekStart)) return weekStart;
  throw invalidArgument('weekStart', 'must be 1 (Monday) to 7 (Sunday)');
}

/** `usual` unless given. Throws invalid_argument for a number that none has: JSON and binary requests can hold one. */
export function readGranularity(granularity: Granularity, usual = Granularity.DAY): Granularity {
  if (granularity === Granularity.UNSPECIFIED) return usual;
  if (granularity in lengths) return granularity;
  throw invalidArgument('granularity', `${Number(granularity)} is not a granularity`);
}

/**
 * When the buckets of the range begin, in milliseconds, ascending; the first may begin before `fromMs`. Throws
 * invalid_argument for a range that is too long for the granularity.
 */
export function timeBuckets(
  granularity: Granularity,
  calendar: Calendar,
  fromMs: number,
  toMs: number,
): number[] {
  const { maxRangeMs: maxMs, maxRange } = lengths[granularity];
  if (toMs - fromMs > maxMs + hourMs) {
    const rule = `is at most ${maxRange} for the granularity ${Granularity[granularity]}`;
    throw invalidArgument('timeRange', rule);
  }
  return bucketStarts(granularity, calendar, fromMs, toMs);
}

/** The same for any range. */
export function bucketStarts(
  granularity: Granularity,
  calendar: Calendar,
  fromMs: number,
  toMs: number,
): number[] {
  const starts = [bucketStart(granularity, calendar, fromMs)];
  for (;;) {
    const nextMs = nextStart(granularity, calendar, starts.at(-1) ?? fromMs);
    if (nextMs >= toMs) return starts;
    starts.push(nextMs);
  }
}

/** When the bucket of that moment ends. */
export function bucketEnd(granularity: Granularity, calendar: Calendar, ms: number): number {
  return nextStart(granularity, calendar, bucketStart(granularity, calendar, ms));
}

/** When the bucket after the one that begins at that moment begins. */
function nextStart(
  granularity: Granularity,
  { timezone, weekStart }: Calendar,
  startMs: number,
): number {
  const { unit } = lengths[granularity];
  if (unit === 'minute') return startMs + minuteMs;
  if (unit === 'hour') return clockHour(timezone, startMs).endMs;
  // A zone may have left out a day, and its clock may show one again.
  for (let place = placeAt(unit, weekStart, wallMs(timezone, startMs)) + 1; ; place += 1) {
    const nextMs = firstMoment(timezone, shownFrom(unit, weekStart, place));
    if (nextMs > startMs) return nextMs;
  }
}

/** When the bucket of that moment begins. */
export function bucketStart(
  granularity: Granularity,
  { timezone, weekStart }: Calendar,
  ms: number,
): number {
  const { unit } = lengths[granularity];
  const wall = wallMs(timezone, ms);
  if (unit === 'minute') return ms - (((wall % minuteMs) + minuteMs) % minuteMs);
  if (unit === 'hour') return clockHour(timezone, ms).startMs;
  // Where the clock went back over midnight, the next day has begun before.
  for (let place = placeAt(unit, weekStart, wall) + 1; ; place -= 1) {
    const startMs = firstMoment(timezone, shownFrom(unit, weekStart, place));
    if (startMs <= ms) return startMs;
  }
}

/** Names the beginning of each bucket, with the date and time of the zone's own clock. */
export function bucketLabels(timezone: string, buckets: readonly number[]): string[] {
  return buckets.map((startMs) => wallText(timezone, startMs));
}

/** The number of the day, week or month on the clock, from that of 1 January 1970. */
function placeAt(unit: Unit, weekStart: number, wall: number): number {
  const day = Math.floor(wall / dayMs);
  if (unit === 'week') {
    return (firstDayOfWeek(day, weekStart) - firstDayOfWeek(0, weekStart)) / daysOfWeek;
  }
  if (unit !== 'month') return day;
  const date = new Date(wall);
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
}

/** The date and time at which a day, week or month begins on the clock, as if it were UTC. */
function shownFrom(unit: Unit, weekStart: number, place: number): number {
  if (unit === 'month') return Date.UTC(1970, place);
  const day = unit === 'week' ? firstDayOfWeek(0, weekStart) + place * daysOfWeek : place;
  return day * dayMs;
}

const daysOfWeek = 7;

/**
 * The moments of the hour on the clock of `ms` that have its distance from UTC, half-open. Clocks change at any minute,
 * by any number of minutes: at 2:45 in Pacific/Chatham, by half an hour in Australia/Lord_Howe.
 */
function clockHour(timezone: string, ms: number): { startMs: number; endMs: number } {
  const own = offsetMs(timezone, ms);
  const startMs = Math.floor((ms + own) / hourMs) * hourMs - own;
  const endMs = startMs + hourMs;
  const isOwn = (moment: number): boolean => offsetMs(timezone, moment) === own;
  return {
    startMs: isOwn(startMs) ? startMs : firstWhere(isOwn, startMs, ms),
    endMs: isOwn(endMs - 1) ? endMs : firstWhere((moment) => !isOwn(moment), ms, endMs - 1),
  };
}
