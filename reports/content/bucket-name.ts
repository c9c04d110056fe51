// Moments and days as a mail names them: by the clock of the report's time zone.

import { dayMs } from '../../platform/clock.ts';
import { wallMs } from '../../platform/zones/wall-clock.ts';
import { ReportFrequency } from '../../proto/gen/dashboard/reports/v1/reports_pb.js';

// Written here: the formats of languages differ between versions of Node.
const weekdays = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');
const months = [
  ...'January February March April May June July'.split(' '),
  ...'August September October November December'.split(' '),
];

/** "Sat 28 Nov", or "14:00" where the buckets are hours. `labels`: RFC 3339 with the zone's own date and time. */
export function bucketNames(labels: readonly string[]): string[] {
  const days = labels.map((label) => label.slice(0, 10));
  const areDays = new Set(days).size === days.length;
  return labels.map((label) => {
    const shown = Date.parse(`${label.slice(0, 10)}T00:00:00Z`);
    return areDays ? shortDay(shown) : label.slice(11, 16);
  });
}

/** "Saturday 28 November 2026", "16 November 2026 to 22 November 2026", "October 2026". */
export function periodName(
  frequency: ReportFrequency,
  timezone: string,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): string {
  const first = wallMs(timezone, fromMs);
  const last = Math.floor((wallMs(timezone, toMs) - 1) / dayMs) * dayMs;
  switch (frequency) {
    case ReportFrequency.WEEKLY:
      return `${longDay(first)} to ${longDay(last)}`;
    case ReportFrequency.MONTHLY:
      return monthAndYear(first);
    case ReportFrequency.DAILY:
    case ReportFrequency.UNSPECIFIED:
      return `${weekdays[new Date(last).getUTCDay()]} ${longDay(last)}`;
    default:
      return frequency satisfies never;
  }
}

function shortDay(ms: number): string {
  const date = new Date(ms);
  const weekday = weekdays[date.getUTCDay()]?.slice(0, 3);
  return `${weekday} ${date.getUTCDate()} ${months[date.getUTCMonth()]?.slice(0, 3)}`;
}

function longDay(ms: number): string {
  return `${new Date(ms).getUTCDate()} ${monthAndYear(ms)}`;
}

function monthAndYear(ms: number): string {
  const date = new Date(ms);
  return `${months[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}
