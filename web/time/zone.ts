// Days in a time zone, half-hour zones and days of 23 or 25 hours included: by the clock that the service tells of the
// zone of a project or a board, and by the browser's own rules of any other.

import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { ClockOffset } from '../../proto/gen/dashboard/projects/v1/projects_pb.js';

const formats = new Map<string, Intl.DateTimeFormat>();

/** A format of one zone and style, made once: making one costs more than using it a thousand times. */
export function zoneFormat(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = zone + JSON.stringify(options);
  const format =
    formats.get(key) ??
    new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone, hourCycle: 'h23' });
  formats.set(key, format);
  return format;
}

const clocks = new Map<string, readonly { fromMs: number; minutes: number }[]>();

/** Takes a zone's clock from the service, ascending: from its first moment on the browser's rules do not count. */
export function learnClock(
  zone: string,
  clock: readonly Pick<ClockOffset, 'from' | 'minutes'>[],
): void {
  const offsets = clock.map(({ from, minutes = 0 }) => ({
    ...{ fromMs: from ? timestampMs(from) : 0, minutes },
  }));
  clocks.set(zone, offsets);
}

const wallStyle: Intl.DateTimeFormatOptions = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
};

/** What the clocks of the zone show at a moment, as if it were UTC. */
export function wallMs(ms: number, zone: string): number {
  const known = clocks.get(zone)?.findLast(({ fromMs }) => fromMs <= ms);
  if (known) return ms + known.minutes * 60_000;
  const part: Record<string, number> = {};
  for (const { type, value } of zoneFormat(zone, wallStyle).formatToParts(ms))
    part[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** The moment at which a zone's clocks show a day's midnight; the day's first moment where midnight is left out. */
export function startOfDay(year: number, month: number, day: number, zone: string): Date {
  return momentAt(Date.UTC(year, month - 1, day), zone);
}

/** The moment at which a zone's clocks show `wanted`, as if it were UTC; the first moment after a gap that holds it. */
function momentAt(wanted: number, zone: string): Date {
  let guess = wanted;
  // The offset at the guess, then at the corrected guess: the second is right unless the hour does not exist.
  for (let round = 0; round < 2; round += 1) guess = wanted - (wallMs(guess, zone) - guess);
  const shown = wallMs(guess, zone);
  return new Date(shown < wanted ? guess + (wanted - shown) : guess);
}

/** 2026-11-23T14:05: the form that fields of day and time take. */
export function wallText(moment: Date, zone: string): string {
  return new Date(wallMs(moment.getTime(), zone)).toISOString().slice(0, 16);
}

/** A moment as the service labels a bucket that begins with it: 2026-11-01T00:00:00-07:00. */
export function labelAt(moment: Date, zone: string): string {
  const wall = wallMs(moment.getTime(), zone);
  const minutes = Math.round((wall - moment.getTime()) / 60_000);
  const two = (number: number): string => String(number).padStart(2, '0');
  const distance = `${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
  return `${new Date(wall).toISOString().slice(0, 19)}${minutes < 0 ? '-' : '+'}${distance}`;
}

/** The moment of a text of wallText; undefined where it is none. */
export function momentOfText(text: string, zone: string): Date | undefined {
  const wanted = /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) ? Date.parse(`${text}Z`) : Number.NaN;
  return Number.isNaN(wanted) ? undefined : momentAt(wanted, zone);
}

export const dayMs = 86_400_000;

/** The calendar day of a moment in a zone; `addDays` moves it by whole days of the calendar. */
export function dayOf(
  moment: Date,
  zone: string,
  addDays = 0,
): { year: number; month: number; day: number } {
  const wall = new Date(Math.floor(wallMs(moment.getTime(), zone) / dayMs) * dayMs);
  wall.setUTCDate(wall.getUTCDate() + addDays);
  return { year: wall.getUTCFullYear(), month: wall.getUTCMonth() + 1, day: wall.getUTCDate() };
}

/** The first moment of the day that lies `addDays` after a moment's day. */
export function startOfDayAt(moment: Date, zone: string, addDays = 0): Date {
  const { year, month, day } = dayOf(moment, zone, addDays);
  return startOfDay(year, month, day, zone);
}

/** The beginning of a moment's week; `weekStart`: the day that weeks begin on, 1 (Monday) to 7. */
export function startOfWeekAt(moment: Date, zone: string, weekStart: number): Date {
  const { year, month, day } = dayOf(moment, zone);
  const weekday = new Date(Date.UTC(year, month - 1, day)).getUTCDay();
  return startOfDayAt(moment, zone, -((weekday - weekStart + 7) % 7));
}

/** How many days of the calendar lie between the days of two moments: one of them may have 23 or 25 hours. */
export function daysBetween(from: Date, to: Date, zone: string): number {
  const dayNumber = (moment: Date): number => Math.floor(wallMs(moment.getTime(), zone) / dayMs);
  return dayNumber(to) - dayNumber(from);
}

/** 2026-11-23: the form that date fields and addresses take. */
export function dayText(moment: Date, zone: string): string {
  const { year, month, day } = dayOf(moment, zone);
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

/** The first moment of a day written so; undefined where it is no day. */
export function parseDay(text: string, zone: string): Date | undefined {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!found) return undefined;
  const [, year = '', month = '', day = ''] = found;
  const start = startOfDay(Number(year), Number(month), Number(day), zone);
  return dayText(start, zone) === text ? start : undefined;
}
