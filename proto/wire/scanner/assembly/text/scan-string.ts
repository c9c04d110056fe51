// Scans JSON strings: their end, their text. Does not check UTF-8: the module's caller does.

import { backslash, quote } from './characters.ts';
import { ruleBodyUnicode } from '../rule-codes.ts';
import { noteText, stopAt } from '../faults.ts';

let escapes: bool = false;
let textEnd: usize = 0;

/** Starts anew for `hasEscapes`. */
export function clearEscapes(): void {
  escapes = false;
}

/** Whether a string since `clearEscapes` had escapes. */
export function hasEscapes(): bool {
  return escapes;
}

/** A bit for each of the 16 bytes at `p` that is a quote, a backslash or a control character. */
@inline
function stops(p: usize): i32 {
  const bytes = v128.load(p);
  return i8x16.bitmask(
    v128.or(
      v128.or(i8x16.eq(bytes, i8x16.splat(0x22)), i8x16.eq(bytes, i8x16.splat(0x5c))),
      i8x16.lt_u(bytes, i8x16.splat(0x20)),
    ),
  );
}

/**
 * The position of the closing quote of the string whose first byte is at `p`; 0 where it is no JSON string.
 * Sixteen bytes a step; a zero byte, such as those after the body, ends it.
 */
@inline
export function scanString(p: usize): usize {
  const mask = stops(p);
  const end = p + ctz(mask);
  return mask !== 0 && load<u8>(end) === quote ? end : scanOn(p);
}

function scanOn(p: usize): usize {
  while (true) {
    const mask = stops(p);
    if (mask === 0) {
      p += 16;
      continue;
    }
    p += ctz(mask);
    const byte = load<u8>(p);
    if (byte === quote) return p;
    if (byte !== backslash) return stopAt(p);
    escapes = true;
    p = skipEscape(p);
    if (p === 0) return 0;
  }
}

/** The position after the escape at `p`, or after the two of a surrogate pair; 0 where it is none. */
function skipEscape(p: usize): usize {
  switch (load<u8>(p + 1)) {
    case 0x22: // "
    case 0x5c: // \
    case 0x2f: // /
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return p + 2;
    case 0x75: // u
      break;
    default:
      return stopAt(p + 1);
  }
  const unit = hexUnit(p + 2);
  if (unit < 0) return stopAt(firstNotHex(p + 2));
  if ((unit & 0xf800) === 0xd800) {
    if (isLowSurrogate(unit, p + 6)) return p + 12;
    noteText(ruleBodyUnicode, p);
  }
  return p + 6;
}

/** Whether `high` is the first half of a pair whose second half is escaped at `p`. */
function isLowSurrogate(high: i32, p: usize): bool {
  if (high >= 0xdc00 || load<u16>(p) !== 0x755c) return false;
  return (hexUnit(p + 2) & ~0x3ff) === 0xdc00;
}

/** The value of four hexadecimal digits at `p`; negative where they are none. */
function hexUnit(p: usize): i32 {
  return (
    (hexDigit(load<u8>(p)) << 12) |
    (hexDigit(load<u8>(p + 1)) << 8) |
    (hexDigit(load<u8>(p + 2)) << 4) |
    hexDigit(load<u8>(p + 3))
  );
}

function firstNotHex(p: usize): usize {
  while (hexDigit(load<u8>(p)) >= 0) p++;
  return p;
}

/** The value of a hexadecimal digit; -1 where it is none, which stays negative after any shift. */
function hexDigit(byte: u8): i32 {
  const decimal = <u32>byte - 0x30;
  if (decimal < 10) return <i32>decimal;
  const letter = (<u32>byte | 0x20) - 0x61;
  return letter < 6 ? <i32>letter + 10 : -1;
}

/**
 * Replaces the escapes of a scanned string in place and returns its new end: text is never longer than its escapes.
 * Half of a surrogate pair becomes three bytes that are no UTF-8. Its body is refused anyway, and the text only has to
 * stay distinct.
 */
export function writeOut(start: usize, end: usize): usize {
  let from = start;
  let to = start;
  while (from < end) {
    const byte = load<u8>(from);
    if (byte !== backslash) {
      store<u8>(to++, byte);
      from++;
      continue;
    }
    const name = load<u8>(from + 1);
    if (name !== 0x75) {
      store<u8>(to++, escaped(name));
      from += 2;
      continue;
    }
    let code = hexUnit(from + 2);
    from += 6;
    if ((code & 0xfc00) === 0xd800 && from < end && isLowSurrogate(code, from)) {
      code = 0x10000 + ((code & 0x3ff) << 10) + (hexUnit(from + 2) & 0x3ff);
      from += 6;
    }
    to = putCodePoint(to, code);
  }
  return to;
}

function escaped(name: u8): u8 {
  switch (name) {
    case 0x62:
      return 0x08;
    case 0x66:
      return 0x0c;
    case 0x6e:
      return 0x0a;
    case 0x72:
      return 0x0d;
    case 0x74:
      return 0x09;
    default:
      return name;
  }
}

function putCodePoint(to: usize, code: i32): usize {
  if (code < 0x80) {
    store<u8>(to, <u8>code);
    return to + 1;
  }
  if (code < 0x800) {
    store<u8>(to, <u8>(0xc0 | (code >> 6)));
    store<u8>(to + 1, <u8>(0x80 | (code & 0x3f)));
    return to + 2;
  }
  if (code < 0x10000) {
    store<u8>(to, <u8>(0xe0 | (code >> 12)));
    store<u8>(to + 1, <u8>(0x80 | ((code >> 6) & 0x3f)));
    store<u8>(to + 2, <u8>(0x80 | (code & 0x3f)));
    return to + 3;
  }
  store<u8>(to, <u8>(0xf0 | (code >> 18)));
  store<u8>(to + 1, <u8>(0x80 | ((code >> 12) & 0x3f)));
  store<u8>(to + 2, <u8>(0x80 | ((code >> 6) & 0x3f)));
  store<u8>(to + 3, <u8>(0x80 | (code & 0x3f)));
  return to + 4;
}

/**
 * Reads the string whose first byte is at `p` and writes its escapes out in place. Returns the position of its closing
 * quote; 0 where it is no JSON string. The text ends at `lastTextEnd`, where a quote follows it.
 */
@inline
export function scanText(p: usize): usize {
  const mask = stops(p);
  const end = p + ctz(mask);
  if (mask === 0 || load<u8>(end) !== quote) return scanLongText(p);
  textEnd = end;
  return end;
}

function scanLongText(p: usize): usize {
  escapes = false;
  const end = scanOn(p);
  textEnd = end;
  if (end !== 0 && escapes) {
    textEnd = writeOut(p, end);
    store<u8>(textEnd, quote);
  }
  return end;
}

/** The end of the text that `scanText` read last. */
export function lastTextEnd(): usize {
  return textEnd;
}

/** The number of code points of valid UTF-8 without escapes. */
export function codePoints(start: usize, end: usize): i32 {
  let count = 0;
  for (let p = start; p < end; p++) {
    if ((load<u8>(p) & 0xc0) !== 0x80) count++;
  }
  return count;
}

/** The number of UTF-16 units of valid UTF-8 without escapes. */
export function utf16Units(start: usize, end: usize): i32 {
  let count = 0;
  for (let p = start; p < end; p++) {
    const byte = load<u8>(p);
    if ((byte & 0xc0) !== 0x80) count += byte >= 0xf0 ? 2 : 1;
  }
  return count;
}

/** Whether valid UTF-8 without escapes has more than `most` code points. */
export function isLongerThan(start: usize, end: usize, most: i32): bool {
  return <i32>(end - start) > most && codePoints(start, end) > most;
}
