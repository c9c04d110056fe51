// Scans JSON numbers, and int64 in decimal: their end, their value.

import { stopAt } from '../faults.ts';
import { dot, isDigit, minus, plus, zero } from './characters.ts';

/**
 * JavaScript's Number() of the ASCII text between two addresses, for numbers that fast arithmetic would round wrongly.
 */
declare function slowDouble(start: usize, end: usize): f64;

let exponent: bool = false;

/** The position after the JSON number at `p`; 0 where there is none. */
export function scanNumber(p: usize): usize {
  exponent = false;
  if (load<u8>(p) === minus) p++;
  if (load<u8>(p) === zero) p++;
  else {
    if (!isDigit(load<u8>(p))) return stopAt(p);
    p = skipDigits(p + 1);
  }
  if (load<u8>(p) === dot) {
    if (!isDigit(load<u8>(p + 1))) return stopAt(p + 1);
    p = skipDigits(p + 2);
  }
  if ((load<u8>(p) | 0x20) !== 0x65) return p;
  exponent = true;
  p++;
  if (load<u8>(p) === plus || load<u8>(p) === minus) p++;
  if (!isDigit(load<u8>(p))) return stopAt(p);
  return skipDigits(p + 1);
}

function skipDigits(p: usize): usize {
  while (isDigit(load<u8>(p))) p++;
  return p;
}

/** Whether the number that `scanNumber` found last, between these addresses, fits a double. */
export function isFiniteNumber(start: usize, end: usize): bool {
  // 10^299 fits, and nearly all numbers are shorter.
  if (!exponent && end - start < 300) return true;
  return isFinite<f64>(slowDouble(start, end));
}

/** The nearest double of a JSON number. */
export function doubleOf(start: usize, end: usize): f64 {
  let p = start;
  const negative = load<u8>(p) === minus;
  if (negative) p++;
  // Nineteen digits fit 64 bits, and 10^18 leaves room for the bits of a division.
  if (end - p > 20) return slowDouble(start, end);
  let digits: u64 = 0;
  let count: i32 = 0;
  let fraction: i32 = 0;
  let seenDot: i32 = 0;
  for (; p < end; p++) {
    const byte = load<u8>(p);
    if (isDigit(byte)) {
      digits = digits * 10 + (byte - zero);
      fraction += seenDot;
      count++;
    } else if (byte === dot) seenDot = 1;
    else return slowDouble(start, end);
  }
  if (count > 19 || fraction > 18) return slowDouble(start, end);
  const power = load<u64>(powers + ((<usize>fraction) << 3));
  // The quotient of two exact doubles is rounded once, and so is a whole number.
  const isExact = fraction === 0 || (digits <= maxExact && power <= maxExact);
  const value = isExact ? <f64>digits / <f64>power : quotient(digits, power);
  return negative ? -value : value;
}

/** Every whole number up to this one is a double. */
const maxExact: u64 = 0x1f_ffff_ffff_ffff;

const powers = memory.data<u64>([
  1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000,
  10_000_000_000, 100_000_000_000, 1_000_000_000_000, 10_000_000_000_000, 100_000_000_000_000,
  1_000_000_000_000_000, 10_000_000_000_000_000, 100_000_000_000_000_000, 1_000_000_000_000_000_000,
]);

/** `dividend / divisor` rounded once, to the nearest double, by long division. `divisor` is less than 2^60. */
function quotient(dividend: u64, divisor: u64): f64 {
  if (dividend === 0) return 0;
  let bits = dividend / divisor;
  let rest = dividend % divisor;
  let exponent: i32 = 0;
  if (bits === 0) {
    // The first bit is at the doubling after which the rest is no longer below the divisor.
    let shift = <i32>(clz(rest) - clz(divisor));
    if (rest << (<u64>shift) < divisor) shift++;
    rest = (rest << (<u64>shift)) - divisor;
    bits = 1;
    exponent = -shift;
  }
  if (clz(bits) < 10) return <f64>(bits | (rest !== 0 ? 1 : 0));
  // One bit more than a double has: it decides the rounding where the rest is zero.
  while (clz(bits) > 10) {
    rest <<= 1;
    bits <<= 1;
    exponent--;
    if (rest >= divisor) {
      rest -= divisor;
      bits |= 1;
    }
  }
  const up = (bits & 1) !== 0 && (rest !== 0 || (bits & 2) !== 0);
  const whole = (bits >> 1) + (up ? 1 : 0);
  return <f64>whole * powerOfTwo(exponent + 1);
}

/** 2 to a power in the range of normal doubles. */
function powerOfTwo(power: i32): f64 {
  return reinterpret<f64>((<u64>(1023 + power)) << 52);
}

/** Whether the text is an int64 in decimal without a plus sign, spaces or needless zeros. */
export function isInt64(start: usize, end: usize): bool {
  const negative = load<u8>(start) === minus;
  const first = negative ? start + 1 : start;
  const digits = end - first;
  if (start >= end || digits < 1 || digits > 19) return false;
  if (digits > 1 && load<u8>(first) === zero) return false;
  let magnitude: u64 = 0;
  for (let p = first; p < end; p++) {
    const byte = load<u8>(p);
    if (!isDigit(byte)) return false;
    magnitude = magnitude * 10 + (byte - zero);
  }
  // Nineteen digits fit 64 bits without sign.
  return magnitude <= (negative ? <u64>0x8000_0000_0000_0000 : <u64>0x7fff_ffff_ffff_ffff);
}

/** The value of a text that passes `isInt64`. */
export function int64Of(start: usize, end: usize): i64 {
  const negative = load<u8>(start) === minus;
  let magnitude: i64 = 0;
  for (let p = negative ? start + 1 : start; p < end; p++) {
    magnitude = magnitude * 10 + (load<u8>(p) - zero);
  }
  return negative ? -magnitude : magnitude;
}

/** Whether a JSON number, rounded to a double, is an integer of at most 2^53 - 1 in magnitude. */
export function isSafeInteger(start: usize, end: usize): bool {
  const value = doubleOf(start, end);
  return trunc(value) === value && abs(value) <= 9_007_199_254_740_991;
}

/** Whether a JSON number as written, with all its digits, is whole. */
export function isWrittenWhole(start: usize, end: usize): bool {
  let zeros: i64 = 0;
  let fraction: i64 = 0;
  let seenDot: i64 = 0;
  let nonZero = false;
  let p = load<u8>(start) === minus ? start + 1 : start;
  for (; p < end; p++) {
    const byte = load<u8>(p);
    if (byte === dot) seenDot = 1;
    else if (!isDigit(byte)) break;
    else {
      fraction += seenDot;
      zeros = byte === zero ? zeros + 1 : 0;
      if (byte !== zero) nonZero = true;
    }
  }
  if (!nonZero) return true;
  return exponentOf(p, end) - fraction + zeros >= 0;
}

/** The exponent from its "e" at `p` to `end`. A huge one is cut short, still far beyond any count of digits. */
function exponentOf(p: usize, end: usize): i64 {
  if (p >= end) return 0;
  p++;
  const negative = load<u8>(p) === minus;
  if (negative || load<u8>(p) === plus) p++;
  let value: i64 = 0;
  for (; p < end && value < 1_000_000_000_000; p++) value = value * 10 + (load<u8>(p) - zero);
  return negative ? -value : value;
}
