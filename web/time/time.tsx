// Moments in the project's time zone, or in one that is named. The title of each has its full form, with the zone's
// name.

import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { currentProject } from '../workspace.ts';
import { shownMs } from './labels.ts';
import { wallMs, zoneFormat } from './zone.ts';

/** The zone of the current project, else the browser's. */
export function currentZone(): string {
  return currentProject.value?.timezone || Intl.DateTimeFormat().resolvedOptions().timeZone;
}

export function toDate(time: Timestamp): Date {
  return new Date(Number(time.seconds) * 1000 + time.nanos / 1e6);
}

const styles = {
  /** 23 Nov, 14:05 */
  short: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
  /** 23 Nov, 14:05:09 */
  moment: {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  },
  /** 14:05:09 */
  clock: { hour: '2-digit', minute: '2-digit', second: '2-digit' },
  /** 23 Nov 2026 */
  day: { day: 'numeric', month: 'short', year: 'numeric' },
  /** 23 Nov */
  date: { day: 'numeric', month: 'short' },
  full: { dateStyle: 'full', timeStyle: 'medium' },
} satisfies Record<string, Intl.DateTimeFormatOptions>;

export type TimeStyle = Exclude<keyof typeof styles, 'full'>;

export function formatTime(moment: Date, style: TimeStyle, zone = currentZone()): string {
  return zoneFormat('UTC', styles[style]).format(wallMs(moment.getTime(), zone));
}

/** A bucket's label, the zone's own date and time, in a style. The browser's rules of zones have no part in it. */
export function formatLabel(label: string, style: TimeStyle): string {
  return zoneFormat('UTC', styles[style]).format(shownMs(label));
}

/** A day such as 2026-11-01. */
export function formatDay(day: string): string {
  return formatLabel(`${day}T00:00:00+00:00`, 'day');
}

/** A moment as a `<time>`; a dash for none. */
export function Time(props: {
  at: Timestamp | Date | undefined;
  as?: TimeStyle;
  zone?: string | undefined;
}) {
  const { at, as = 'short', zone = currentZone() } = props;
  if (!at) return <span>–</span>;
  const moment = at instanceof Date ? at : toDate(at);
  return (
    <time dateTime={moment.toISOString()} title={fullText(moment, zone)}>
      {formatTime(moment, as, zone)}
    </time>
  );
}

function fullText(moment: Date, zone: string): string {
  return `${zoneFormat('UTC', styles.full).format(wallMs(moment.getTime(), zone))}, ${zone}`;
}

const steps: [number, string][] = [
  [60, 'second'],
  [60, 'minute'],
  [24, 'hour'],
  [365, 'day'],
];

/** "5 minutes ago"; "just now" within ten seconds. */
export function ago(moment: Date, now = Date.now()): string {
  let value = Math.max(0, Math.floor((now - moment.getTime()) / 1000));
  if (value < 10) return 'just now';
  for (const [size, unit] of steps) {
    if (value < size) return `${value} ${unit}${value === 1 ? '' : 's'} ago`;
    value = Math.floor(value / size);
  }
  return `${value} year${value === 1 ? '' : 's'} ago`;
}
