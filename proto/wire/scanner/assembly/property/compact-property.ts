// The fast path for a PropertyValue as JSON.stringify writes it: `{"stringValue":"…"}` and the like, without spaces or
// a second member. Recognises it by its first bytes, read as little-endian numbers. property.ts reads all other values.

import { closeBrace, isDigit, minus, quote, zero } from '../text/characters.ts';
import { variantBool, variantDouble, variantInt } from '../codes.ts';
import { hold, holdString } from './held-value.ts';
import { isFiniteNumber, scanNumber } from '../text/scan-number.ts';
import { clearEscapes, scanString } from '../text/scan-string.ts';

/** The position after the value at `p`; 0 where property.ts must read it, for its form or for a fault. */
@inline
export function scanCompact(p: usize): usize {
  // {"string, then Value":"
  if (load<u64>(p) === 0x676e_6972_7473_227b && load<u64>(p + 8) === 0x223a_2265_756c_6156) {
    clearEscapes();
    const end = scanString(p + 16);
    if (end === 0 || load<u8>(end + 1) !== closeBrace) return 0;
    holdString(p + 16, end);
    return end + 2;
  }
  return scanCompactScalar(p);
}

function scanCompactScalar(p: usize): usize {
  switch (load<u64>(p)) {
    case 0x6c61_5674_6e69_227b: // {"intVal, then Value":"
      return load<u64>(p + 5) === 0x223a_2265_756c_6156 ? scanInt(p + 13) : 0;
    case 0x656c_6275_6f64_227b: // {"double, then eValue":
      return load<u64>(p + 7) === 0x3a22_6575_6c61_5665 ? scanDouble(p + 15) : 0;
    case 0x6156_6c6f_6f62_227b: // {"boolVa, then lValue":
      return load<u64>(p + 5) === 0x3a22_6575_6c61_566c ? scanBool(p + 13) : 0;
    default:
      return 0;
  }
}

/** Takes at most 18 digits, which always fit an int64. */
function scanInt(start: usize): usize {
  const first = load<u8>(start) === minus ? start + 1 : start;
  let p = first;
  while (isDigit(load<u8>(p))) p++;
  const digits = p - first;
  if (digits < 1 || digits > 18 || (digits > 1 && load<u8>(first) === zero)) return 0;
  if (load<u8>(p) !== quote || load<u8>(p + 1) !== closeBrace) return 0;
  hold(variantInt, start, p);
  return p + 2;
}

function scanDouble(start: usize): usize {
  const end = scanNumber(start);
  if (end === 0 || load<u8>(end) !== closeBrace || !isFiniteNumber(start, end)) return 0;
  hold(variantDouble, start, end);
  return end + 1;
}

function scanBool(start: usize): usize {
  const word = load<u32>(start);
  let end = start + 4;
  if (word !== 0x65757274) {
    if (word !== 0x736c6166 || load<u8>(end) !== 0x65) return 0;
    end++;
  }
  if (load<u8>(end) !== closeBrace) return 0;
  hold(variantBool, start, end);
  return end + 1;
}
