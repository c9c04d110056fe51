// Scans RFC 3339 moments as protobuf JSON writes them: upper-case T and Z or a numeric offset, up to nine digits of a
// second, years 1 to 9999. Takes no date that no calendar has.

import { dot, isDigit, minus, plus, zero } from './characters.ts';

/** The result of `scanTime` for a text that is no moment. */
export const noTime: i64 = i64.MIN_VALUE;

const minMs: i64 = -62_135_596_800_000; // 0001-01-01T00:00:00Z
const maxMs: i64 = 253_402_300_799_999; // 9999-12-31T23:59:59.999Z
const shortest: usize = 20; // 2026-01-02T03:04:05Z
const longest: usize = 35; // 2026-01-02T03:04:05.123456789+00:00

/** Milliseconds since the epoch, without the digits beyond the millisecond; `noTime` where the text is no moment. */
export function scanTime(start: usize, end: usize): i64 {
  if (end - start < shortest || end - start > longest) return noTime;
  // The first 16 characters minus 0000-00-00T00:00: digits become 0 to 9, separators 0.
  const pattern = i8x16(
    0x30,
    0x30,
    0x30,
    0x30,
    0x2d,
    0x30,
    0x30,
    0x2d,
    0x30,
    0x30,
    0x54,
    0x30,
    0x30,
    0x3a,
    0x30,
    0x30,
  );
  const most = i8x16(9, 9, 9, 9, 0, 9, 9, 0, 9, 9, 0, 9, 9, 0, 9, 9);
  const digits = i8x16.sub(v128.load(start), pattern);
  if (v128.any_true(i8x16.gt_u(digits, most))) return noTime;
  if (load<u8>(start + 16) !== 0x3a) return noTime;
  const second = twoDigits(start + 17);
  const year =
    <i32>i8x16.extract_lane_u(digits, 0) * 1_000 +
    <i32>i8x16.extract_lane_u(digits, 1) * 100 +
    <i32>i8x16.extract_lane_u(digits, 2) * 10 +
    <i32>i8x16.extract_lane_u(digits, 3);
  const month = <i32>i8x16.extract_lane_u(digits, 5) * 10 + <i32>i8x16.extract_lane_u(digits, 6);
  const day = <i32>i8x16.extract_lane_u(digits, 8) * 10 + <i32>i8x16.extract_lane_u(digits, 9);
  const hour = <i32>i8x16.extract_lane_u(digits, 11) * 10 + <i32>i8x16.extract_lane_u(digits, 12);
  const minute = <i32>i8x16.extract_lane_u(digits, 14) * 10 + <i32>i8x16.extract_lane_u(digits, 15);
  if (month < 1 || month > 12 || day < 1 || day > daysOfMonth(year, month)) return noTime;
  if (hour > 23 || minute > 59 || second < 0 || second > 59) return noTime;
  const whole =
    <i64>daysSinceEpoch(year, month, day) * 86_400_000 +
    <i64>(((hour * 60 + minute) * 60 + second) * 1_000);
  return withFraction(whole, start + 19, end);
}

/** Adds the text after the seconds: a fraction, then `Z` or an offset, then the end. */
function withFraction(whole: i64, p: usize, end: usize): i64 {
  if (load<u8>(p) === dot) {
    p++;
    let digits: i32 = 0;
    let scale: i32 = 100;
    for (; isDigit(load<u8>(p)); p++) {
      whole += (<i32>load<u8>(p) - zero) * scale;
      scale /= 10;
      digits++;
    }
    if (digits < 1 || digits > 9) return noTime;
  }
  const sign = load<u8>(p);
  if (sign === 0x5a) {
    if (p + 1 !== end) return noTime;
  } else {
    if (sign !== plus && sign !== minus) return noTime;
    const hours = twoDigits(p + 1);
    const minutes = twoDigits(p + 4);
    if (p + 6 !== end || load<u8>(p + 3) !== 0x3a) return noTime;
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return noTime;
    const offset = <i64>(hours * 60 + minutes) * 60_000;
    whole += sign === plus ? -offset : offset;
  }
  return whole >= minMs && whole <= maxMs ? whole : noTime;
}

/** The value of two digits at `p`, or -1. */
function twoDigits(p: usize): i32 {
  const tens = load<u8>(p);
  const ones = load<u8>(p + 1);
  if (!isDigit(tens) || !isDigit(ones)) return -1;
  return <i32>(tens - zero) * 10 + <i32>(ones - zero);
}

function daysOfMonth(year: i32, month: i32): i32 {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

/** Gregorian calendar. Years are counted from March, which puts the leap day at the end of a year. */
function daysSinceEpoch(year: i32, month: i32, day: i32): i32 {
  const fromMarch = month > 2 ? year : year - 1;
  const leapDays = fromMarch / 4 - fromMarch / 100 + fromMarch / 400;
  const dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
  return fromMarch * 365 + leapDays + dayOfYear - 719_468;
}
