// The buckets of a question: whole minutes, hours, days, weeks from Monday or months of a time zone. They are computed
// here alone and given to the engine as a list, so that answer and statement cannot differ, and a day without a
// midnight or an hour that comes twice needs no care elsewhere.

import { DateTime, type DateTimeUnit, IANAZone } from 'luxon';
import { dayMs } from '../../../platform/clock.ts';
import { setBounded } from '../../../platform/memory/bounded-map.ts';
import { remembered } from '../../../platform/memory/remembered.ts';
import { Granularity } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { invalidArgument } from '../../invalid-argument.ts';

interface Length {
  unit: DateTimeUnit;
  /** The longest range, without the hour to spare for daylight saving. */
  maxRangeMs: number;
  /** Names that range in errors. */
  maxRange: string;
}

const hourMs = 3_600_000;
/** The grain of the tables of sums: all zones are off by whole quarters of an hour. */
export const quarterMs = 900_000;
/** The longest range of a question without buckets. */
export const maxRangeMs = 3_653 * dayMs + hourMs;
/** No zone's name is longer than America/Argentina/ComodRivadavia, 32 characters. */
const maxZoneCharacters = 64;

const lengths: Readonly<Record<Granularity, Length>> = {
  [Granularity.UNSPECIFIED]: { unit: 'day', maxRangeMs: 365 * dayMs, maxRange: '365 days' },
  [Granularity.MINUTE]: { unit: 'minute', maxRangeMs: 6 * hourMs, maxRange: '6 hours' },
  [Granularity.HOUR]: { unit: 'hour', maxRangeMs: 14 * dayMs, maxRange: '14 days' },
  [Granularity.DAY]: { unit: 'day', maxRangeMs: 365 * dayMs, maxRange: '365 days' },
  [Granularity.WEEK]: { unit: 'week', maxRangeMs: 1_461 * dayMs, maxRange: '4 years' },
  [Granularity.MONTH]: { unit: 'month', maxRangeMs: 3_653 * dayMs, maxRange: '10 years' },
};

/** A question of a month takes luxon more than a millisecond, and boards ask for the same days again and again. */
const nextStarts = new Map<string, number>();
const maxNextStarts = 20_000;

/**
 * Returns the zone's one name, UTC for an empty one: luxon keeps each name that it was ever given, and upper and lower
 * case are alike in names. Throws invalid_argument for a name that is no zone of the IANA's.
 */
export function readTimezone(timezone: string): string {
  if (timezone === '') return 'UTC';
  // Node also takes offsets, such as +01:00, for zones.
  if (timezone.length <= maxZoneCharacters && /^[A-Za-z]/.test(timezone)) {
    const name = zoneName(timezone);
    if (name !== undefined) return name;
  }
  throw invalidArgument('timezone', 'must be the IANA name of a time zone');
}

const maxZoneNames = 2_000;
/** Undefined for what is no zone. To find out takes half a millisecond, and nearly all who ask use few names. */
const zoneName = remembered(maxZoneNames, (text) =>
  IANAZone.isValidZone(text)
    ? new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone
    : undefined,
);

/** Throws invalid_argument for a number that no granularity has: JSON and binary requests both can hold one. */
export function readGranularity(granularity: Granularity): Granularity {
  if (granularity in lengths) return granularity;
  throw invalidArgument('granularity', `${Number(granularity)} is not a granularity`);
}

/**
 * When the buckets of the range begin, in milliseconds, ascending; the first may begin before `fromMs`. Throws
 * invalid_argument for a range that is too long for the granularity.
 */
export function timeBuckets(
  granularity: Granularity,
  timezone: string,
  fromMs: number,
  toMs: number,
): number[] {
  const { maxRangeMs: maxMs, maxRange } = lengths[granularity];
  if (toMs - fromMs > maxMs + hourMs) {
    const name = Granularity[granularity === 0 ? Granularity.DAY : granularity];
    throw invalidArgument('timeRange', `is at most ${maxRange} for the granularity ${name}`);
  }
  return bucketStarts(granularity, timezone, fromMs, toMs);
}

/** The same for any range. */
export function bucketStarts(
  granularity: Granularity,
  timezone: string,
  fromMs: number,
  toMs: number,
): number[] {
  const { unit } = lengths[granularity];
  const starts = [bucketStart(granularity, timezone, fromMs)];
  for (;;) {
    const next = nextBucket(unit, timezone, starts.at(-1) ?? fromMs);
    if (next >= toMs) return starts;
    starts.push(next);
  }
}

/** When the bucket of that moment begins. */
export function bucketStart(granularity: Granularity, timezone: string, ms: number): number {
  const { unit } = lengths[granularity];
  if (unit === 'hour') return clockHour(timezone, ms).startMs;
  const startOf = (moment: number): number =>
    DateTime.fromMillis(moment, { zone: timezone }).startOf(unit).toMillis();
  if (unit === 'minute') return startOf(ms);
  // Where midnight comes twice, luxon begins a day at either: from the bucket before, the first is found.
  let start = startOf(startOf(ms) - 3 * hourMs);
  for (let next = nextBucket(unit, timezone, start); next <= ms; ) {
    start = next;
    next = nextBucket(unit, timezone, start);
  }
  return start;
}

function nextBucket(unit: DateTimeUnit, timezone: string, startMs: number): number {
  if (unit === 'minute') return startMs + 60_000;
  const key = `${unit} ${timezone} ${startMs}`;
  const known = nextStarts.get(key);
  if (known !== undefined) return known;
  const next =
    unit === 'hour'
      ? clockHour(timezone, startMs).endMs
      : nextStart(unit, DateTime.fromMillis(startMs, { zone: timezone }));
  setBounded(nextStarts, key, next, maxNextStarts);
  return next;
}

/**
 * The moments of the hour on the clock of `ms` that have its distance from UTC, half-open. Clocks change at any minute,
 * by any number of minutes: at 2:45 in Pacific/Chatham, by half an hour in Australia/Lord_Howe.
 */
function clockHour(timezone: string, ms: number): { startMs: number; endMs: number } {
  const offsetMs = (moment: number): number =>
    DateTime.fromMillis(moment, { zone: timezone }).offset * 60_000;
  const own = offsetMs(ms);
  const startMs = Math.floor((ms + own) / hourMs) * hourMs - own;
  const lastMs = startMs + hourMs - 1;
  return {
    startMs: offsetMs(startMs) === own ? startMs : changeBetween(startMs, ms, offsetMs),
    endMs: offsetMs(lastMs) === own ? lastMs + 1 : changeBetween(ms, lastMs, offsetMs),
  };
}

/** The first moment with the offset of `laterMs`, which is not that of `earlierMs`. */
function changeBetween(
  earlierMs: number,
  laterMs: number,
  offsetMs: (moment: number) => number,
): number {
  let [before, after] = [earlierMs, laterMs];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (offsetMs(middle) === offsetMs(laterMs)) after = middle;
    else before = middle;
  }
  return after;
}

function nextStart(unit: DateTimeUnit, start: DateTime): number {
  const next = start
    .plus({ [unit]: 1 })
    .startOf(unit)
    .toMillis();
  // A zone may have left out a day.
  return next > start.toMillis()
    ? next
    : start
        .plus({ [unit]: 2 })
        .startOf(unit)
        .toMillis();
}
