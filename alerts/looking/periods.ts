// The periods that an alert is looked at for: five minutes, hours and days of a time zone.

import { hourMs } from '../../platform/clock.ts';
import { dayAt, dayStart, offsetMs } from '../../platform/zones/wall-clock.ts';
import { AlertInterval } from '../../proto/gen/dashboard/alerts/v1/alerts_pb.js';

/** Half-open, in ms since the epoch. */
export interface Period {
  fromMs: number;
  toMs: number;
}

const fiveMinutesMs = 300_000;

/** The newest period that has ended by `nowMs`. */
export function lastPeriod(interval: AlertInterval, timezone: string, nowMs: number): Period {
  switch (interval) {
    case AlertInterval.DAY: {
      const today = dayAt(timezone, nowMs);
      return { fromMs: dayStart(timezone, today - 1), toMs: dayStart(timezone, today) };
    }
    case AlertInterval.HOUR: {
      // The zone's clock may be off by a part of an hour.
      const shiftMs = offsetMs(timezone, nowMs) % hourMs;
      const toMs = Math.floor((nowMs + shiftMs) / hourMs) * hourMs - shiftMs;
      return { fromMs: toMs - hourMs, toMs };
    }
    case AlertInterval.FIVE_MINUTES:
    case AlertInterval.UNSPECIFIED: {
      const toMs = Math.floor(nowMs / fiveMinutesMs) * fiveMinutesMs;
      return { fromMs: toMs - fiveMinutesMs, toMs };
    }
    default:
      return interval satisfies never;
  }
}

/** The period before. */
export function periodBefore(
  interval: AlertInterval,
  timezone: string,
  { fromMs }: Period,
): Period {
  return lastPeriod(interval, timezone, fromMs);
}

/** The moment at which the period that runs at `nowMs` ends. */
export function nextEnd(interval: AlertInterval, timezone: string, nowMs: number): number {
  const { toMs } = lastPeriod(interval, timezone, nowMs);
  if (interval === AlertInterval.DAY) return dayStart(timezone, dayAt(timezone, nowMs) + 1);
  return toMs + (interval === AlertInterval.HOUR ? hourMs : fiveMinutesMs);
}

/** How long an alert waits for a period to be complete before it says that it knows nothing. */
export function patienceMs(interval: AlertInterval): number {
  const quarterMs = 900_000;
  switch (interval) {
    case AlertInterval.DAY:
      return 2 * hourMs;
    case AlertInterval.HOUR:
    case AlertInterval.FIVE_MINUTES:
    case AlertInterval.UNSPECIFIED:
      return quarterMs;
    default:
      return interval satisfies never;
  }
}
