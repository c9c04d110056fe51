// The parts of a statement that all questions share: the events that are there, the range, users, buckets of time.

import { dayMs } from '../../../../../platform/clock.ts';
import type { Question } from '../../questions/question.ts';
import { text } from './literals.ts';

/** Milliseconds; a finer moment is rounded up. */
export function rangeMs({ fromMs, fromNanos = 0, toMs, toNanos = 0 }: Question): {
  from: number;
  to: number;
} {
  return { from: fromMs + (fromNanos > 0 ? 1 : 0), to: toMs + (toNanos > 0 ? 1 : 0) };
}

export function isInRange(question: Question, ts = 'ts'): string {
  const { from, to } = rangeMs(question);
  return `(${ts} >= ${from} AND ${ts} < ${to})`;
}

export function receivedInTime({ asOfMs }: Question): string {
  return asOfMs === undefined ? 'true' : `received <= ${asOfMs}`;
}

/** The common table `ev`: the events that are there, with `usr`, NULL for an event without a user. */
export function presentEvents(question: Question): string {
  const isUser = question.includeCookieless ? 'NOT deleted' : 'NOT deleted AND NOT cookieless';
  return `ev AS (SELECT *, CASE WHEN ${isUser} THEN person END AS usr FROM events WHERE ${receivedInTime(question)})`;
}

const minuteMs = 60_000;
/**
 * A bucket is known by the clock on the wall, and below a day by the zone's distance from UTC too, because an hour may
 * come twice.
 */
export function bucketKey(question: Question, ts: string): string {
  const unit = unitOf(question);
  const local = `timezone(${text(zoneOf(question))}, timezone('UTC', epoch_ms(CAST(${ts} AS BIGINT))))`;
  // Weeks of DuckDB begin on Monday: the day is moved there, and the Monday stands for the week.
  const moved = unit === 'week' ? `(${local} - to_days(${(question.weekStart ?? 1) - 1}))` : local;
  const key = `date_trunc(${text(unit)}, ${moved})::VARCHAR`;
  return unit === 'minute' || unit === 'hour'
    ? `(${key} || '@' || (epoch_ms(${local}) - ${ts})::VARCHAR)`
    : key;
}

const zoneOf = ({ timezone = '' }: Question): string => (timezone === '' ? 'UTC' : timezone);
const unitOf = ({ granularity = 'DAY' }: Question): string => granularity.toLowerCase();

/**
 * The common tables `all_buckets`, two before the range included, or as many `days` and `moreMs`, and `buckets`: n from
 * 1, key, start and the first moment after it. All clocks since 2000 change at a quarter of an hour.
 */
export function bucketTables(question: Question, days = 1, moreMs = 0): string {
  const { from, to } = rangeMs(question);
  const unit = unitOf(question);
  const step = unit === 'minute' ? minuteMs : 15 * minuteMs;
  const before: Record<string, number> = {
    minute: 5 * minuteMs,
    hour: 300 * minuteMs,
    day: (3 + days) * dayMs,
    week: 22 * dayMs,
    month: 100 * dayMs,
  };
  const after: Record<string, number> = {
    minute: 5 * minuteMs,
    hour: 300 * minuteMs,
    day: 2 * dayMs,
    week: 8 * dayMs,
    month: 33 * dayMs,
  };
  const start = Math.floor((from - (before[unit] ?? 0) - moreMs) / step) * step;
  return `
    slots AS (SELECT unnest(range(${start}, ${to + (after[unit] ?? 0)}, ${step})) AS slot),
    keyed AS (SELECT slot, ${bucketKey(question, 'slot')} AS key FROM slots),
    all_buckets AS (SELECT key, min(slot) AS start, max(slot) + ${step} AS stop FROM keyed GROUP BY key),
    buckets AS (SELECT row_number() OVER (ORDER BY start) AS n, * FROM all_buckets
      WHERE stop > ${from} AND start < ${to})`;
}
