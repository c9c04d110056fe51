// Calendar days in an IANA time zone: which day a moment is in, and when a day begins.

import { setBounded } from '../../platform/memory/bounded-map.ts';

/** A day of the calendar. `month` counts from 1. */
export interface Day {
  year: number;
  month: number;
  day: number;
}

const dayMs = 86_400_000;
const maxZones = 100;
const formats = new Map<string, Intl.DateTimeFormat>();

/** The moment's day. Throws RangeError for a zone that Node does not know. */
export function dayOf(timeMs: number, timezone: string): Day {
  const { year, month, day } = clockOf(timeMs, timezone);
  return { year, month, day };
}

/** The same day of the calendar so many days and months later; days beyond a month's end run on. */
export function addDays({ year, month, day }: Day, days: number, months = 0): Day {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1 + months, day + days);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
  };
}

/** The first moment of the day: midnight, or where the clock skips it, the moment when it does. */
export function startOfDay(day: Day, timezone: string): number {
  const midnight = utc(day);
  // A day's offset is one of those around it. The clock changes at midnight in some zones, so each is tried.
  const candidates = [midnight - dayMs, midnight + dayMs]
    .map((near) => midnight - offsetAt(near, timezone))
    .sort((a, b) => a - b);
  const found = candidates.find((timeMs) => utc(dayOf(timeMs, timezone)) === midnight);
  return found ?? midnight;
}

function utc({ year, month, day }: Day): number {
  const date = new Date(0);
  return date.setUTCFullYear(year, month - 1, day);
}

/** What the zone's clock shows more than UTC, in ms. */
function offsetAt(timeMs: number, timezone: string): number {
  const shown = clockOf(timeMs, timezone);
  const seconds = (shown.hour * 60 + shown.minute) * 60 + shown.second;
  return utc(shown) + seconds * 1_000 - Math.floor(timeMs / 1_000) * 1_000;
}

function clockOf(timeMs: number, timezone: string) {
  const parts = new Map<string, number>();
  for (const { type, value } of formatOf(timezone).formatToParts(timeMs)) {
    parts.set(type, Number(value));
  }
  const part = (name: string): number => parts.get(name) ?? 0;
  return {
    year: part('year'),
    month: part('month'),
    day: part('day'),
    hour: part('hour'),
    minute: part('minute'),
    second: part('second'),
  };
}

function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  setBounded(formats, timezone, format, maxZones);
  return format;
}
