// Writes moments as Date's toISOString does. Nearly all events that follow each other are of one day, whose text is
// remembered.

import { dayMs } from '../../../platform/clock.ts';

const digits = Array.from({ length: 100 }, (_, value) => String(value).padStart(2, '0'));

let fromMs = 0;
/** `2026-03-04T` */
let day = '1970-01-01T';

/** `ms`: from 1970 to the year 9999; parts of a millisecond are left out. */
export function timestampText(ms: number): string {
  let left = ms - fromMs;
  if (!(left >= 0 && left < dayMs)) {
    day = new Date(ms).toISOString().slice(0, 'YYYY-MM-DDT'.length);
    fromMs = Math.floor(ms / dayMs) * dayMs;
    left = ms - fromMs;
  }
  const seconds = Math.floor(left / 1_000);
  const minutes = Math.floor(seconds / 60);
  const hour = digits[Math.floor(minutes / 60)];
  const rest = Math.floor(left - seconds * 1_000);
  const milliseconds = `${digits[Math.floor(rest / 10)]}${rest % 10}`;
  return `${day}${hour}:${digits[minutes % 60]}:${digits[seconds % 60]}.${milliseconds}Z`;
}
