// Parses moments as protobuf JSON writes them: RFC 3339 with an upper-case T and Z or a numeric offset. Stricter than
// libraries: it takes no date that no calendar has (30 February, 24:00, a leap second).

import { dayMs } from '../../../platform/clock.ts';

const zero = 48;
const daysBeforeEpoch = 719_468;
const minTimestampMs = -62_135_596_800_000; // 0001-01-01T00:00:00Z
const maxTimestampMs = 253_402_300_799_999; // 9999-12-31T23:59:59.999Z
const shortest = '2026-01-02T03:04:05Z'.length;
const longest = '2026-01-02T03:04:05.123456789+00:00'.length;

/**
 * Milliseconds since the epoch, without the digits beyond the millisecond; NaN where `text` is no moment from
 * 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z. Runs at least once per event: no regular expression, no Date.
 */
export function parseTimestamp(text: string): number {
  if (text.length < shortest || text.length > longest) return Number.NaN;
  const century = twoDigits(text, 0);
  const yearOfCentury = twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  const isWritten =
    text[4] === '-' && text[7] === '-' && text[10] === 'T' && text[13] === ':' && text[16] === ':';
  if (!isWritten || century < 0 || yearOfCentury < 0) return Number.NaN;
  const year = century * 100 + yearOfCentury;
  if (month < 1 || month > 12 || day < 1 || day > daysOfMonth(year, month)) return Number.NaN;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return Number.NaN;
  if (second < 0 || second > 59) return Number.NaN;

  const zoneAt = text[19] === '.' ? endOfDigits(text, 20) : 19;
  if (zoneAt === 20 || zoneAt > 29) return Number.NaN;
  const millisecond = zoneAt === 19 ? 0 : firstMilliseconds(text, zoneAt);
  const offsetMs = zoneOffsetMs(text, zoneAt);
  const ms =
    daysSinceEpoch(year, month, day) * dayMs +
    ((hour * 60 + minute) * 60 + second) * 1_000 +
    millisecond -
    offsetMs;
  return ms >= minTimestampMs && ms <= maxTimestampMs ? ms : Number.NaN;
}

/** The value of the two digits at `at`, or -1. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - zero;
  const ones = text.charCodeAt(at + 1) - zero;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1;
}

function endOfDigits(text: string, at: number): number {
  while (text.charCodeAt(at) >= zero && text.charCodeAt(at) <= zero + 9) at++;
  return at;
}

/** The value of the first three digits from 20 to `end`, missing ones read as 0. */
function firstMilliseconds(text: string, end: number): number {
  let milliseconds = 0;
  for (let at = 20; at < 23; at++) {
    milliseconds = milliseconds * 10 + (at < end ? text.charCodeAt(at) - zero : 0);
  }
  return milliseconds;
}

/** The offset from UTC that `Z`, `+hh:mm` or `-hh:mm` writes from `at` to the end; NaN for anything else. */
function zoneOffsetMs(text: string, at: number): number {
  if (text[at] === 'Z') return text.length === at + 1 ? 0 : Number.NaN;
  const hours = twoDigits(text, at + 1);
  const minutes = twoDigits(text, at + 4);
  if (text.length !== at + 6 || text[at + 3] !== ':') return Number.NaN;
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return Number.NaN;
  const offsetMs = (hours * 60 + minutes) * 60_000;
  if (text[at] === '+') return offsetMs;
  return text[at] === '-' ? -offsetMs : Number.NaN;
}

function daysOfMonth(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

/** Gregorian calendar. Years are counted from March, which puts the leap day at the end of a year. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const fromMarch = month > 2 ? year : year - 1;
  const leapDays =
    Math.floor(fromMarch / 4) - Math.floor(fromMarch / 100) + Math.floor(fromMarch / 400);
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  return fromMarch * 365 + leapDays + dayOfYear - daysBeforeEpoch;
}
