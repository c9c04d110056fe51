// Moments in the project's time zone. The full form, with the zone's name, is in the title of each.

import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { currentProject } from '../workspace.ts';
import { zoneFormat } from './zone.ts';

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
  full: { dateStyle: 'full', timeStyle: 'long' },
} satisfies Record<string, Intl.DateTimeFormatOptions>;

export type TimeStyle = Exclude<keyof typeof styles, 'full'>;

export function formatTime(moment: Date, style: TimeStyle, zone = currentZone()): string {
  return zoneFormat(zone, styles[style]).format(moment);
}

/** A moment as a `<time>`; a dash for none. */
export function Time({ at, as = 'short' }: { at: Timestamp | Date | undefined; as?: TimeStyle }) {
  if (!at) return <span>–</span>;
  const moment = at instanceof Date ? at : toDate(at);
  const zone = currentZone();
  return (
    <time dateTime={moment.toISOString()} title={zoneFormat(zone, styles.full).format(moment)}>
      {formatTime(moment, as, zone)}
    </time>
  );
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
