// Checks the texts of an event's own fields: UUIDs, kind, distinct id. Takes texts whose escapes are written out.

import {
  ruleDistinctIdLength,
  ruleDistinctIdPrefix,
  ruleKindLength,
  ruleKindPattern,
  ruleKindPrefix,
  ruleNone,
  ruleUuid,
} from '../rule-codes.ts';
import { limitDistinctIdCodePoints, limitKindCharacters } from '../layout.ts';
import { startsCookieless, startsReserved } from './names.ts';
import { isLongerThan, utf16Units } from '../text/scan-string.ts';
import { isUuid } from '../text/scan-uuid.ts';

export function uuidRule(start: usize, end: usize): i32 {
  return end - start === 36 && isUuid(start) ? ruleNone : ruleUuid;
}

export function distinctIdRule(start: usize, end: usize): i32 {
  if (startsCookieless(start, end - start)) return ruleDistinctIdPrefix;
  const most = load<i32>(limitDistinctIdCodePoints);
  return isLongerThan(start, end, most) ? ruleDistinctIdLength : ruleNone;
}

/** A kind's length is counted in UTF-16 units; that matters only for texts that the pattern refuses next. */
export function kindRule(start: usize, end: usize): i32 {
  const most = load<i32>(limitKindCharacters);
  if (<i32>(end - start) > most && utf16Units(start, end) > most) return ruleKindLength;
  for (let p = start; p < end; p += 16) {
    const outside = ~kindCharacters(v128.load(p)) & 0xffff;
    const rest = end - p;
    if (rest >= 16 ? outside !== 0 : (outside & ((1 << (<i32>rest)) - 1)) !== 0) {
      return ruleKindPattern;
    }
  }
  return startsReserved(start, end - start) ? ruleKindPrefix : ruleNone;
}

/** A bit for each of 16 bytes that is a letter, a digit, or one of `_.-`. */
function kindCharacters(bytes: v128): i32 {
  const lower = v128.or(bytes, i8x16.splat(0x20));
  const letter = i8x16.lt_u(i8x16.sub(lower, i8x16.splat(0x61)), i8x16.splat(26));
  const digit = i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(0x30)), i8x16.splat(10));
  const underscore = i8x16.eq(bytes, i8x16.splat(0x5f));
  // "-" and "." are neighbours in ASCII.
  const mark = i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(0x2d)), i8x16.splat(2));
  return i8x16.bitmask(v128.or(v128.or(letter, digit), v128.or(underscore, mark)));
}
