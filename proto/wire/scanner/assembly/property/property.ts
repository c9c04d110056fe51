// Scans one PropertyValue: an object with exactly one variant set, in any form of JSON.

import {
  closeBrace,
  colon,
  comma,
  isDigit,
  minus,
  openBrace,
  quote,
  skipSpace,
} from '../text/characters.ts';
import {
  variantBool,
  variantDouble,
  variantInt,
  variantNone,
  variantString,
  variantTimestamp,
} from '../codes.ts';
import {
  ruleFiniteDouble,
  ruleInt64,
  ruleInt64Number,
  ruleMustBeBoolean,
  ruleMustBeString,
  rulePropertyValue,
  ruleTimestamp,
} from '../rule-codes.ts';
import { scanCompact } from './compact-property.ts';
import { noteText, putTextHolder, putTextName, stopAt } from '../faults.ts';
import { breakRule, hold, holdString, resetHeld } from './held-value.ts';
import { noteIp } from '../event/ip-ranges.ts';
import {
  flagNumericInt,
  flagStringDouble,
  resultFlags,
  resultTextVariant,
} from '../layout.ts';
import { isIp, nameMask, propertyMember } from '../event/names.ts';
import {
  checkNamesOnce,
  dropNames,
  lastLength,
  lastStart,
  namesTop,
  pushName,
} from '../text/open-names.ts';
import {
  isFiniteNumber,
  isInt64,
  isSafeInteger,
  isWrittenWhole,
  scanNumber,
} from '../text/scan-number.ts';
import { clearEscapes, lastTextEnd, scanString, scanText } from '../text/scan-string.ts';
import { noTime, scanTime } from '../text/scan-time.ts';
import { skipValue } from '../text/skip-value.ts';

/** Open objects and arrays around the members of a value. */
const depth: usize = 5;

/** The position after the PropertyValue at `p`; 0 where it is no JSON. */
@inline
export function scanProperty(p: usize): usize {
  resetHeld();
  const end = scanCompact(p);
  return end === 0 ? scanMembers(p) : end;
}

function scanMembers(p: usize): usize {
  resetHeld();
  if (load<u8>(p) !== openBrace) {
    breakRule(rulePropertyValue, variantNone);
    return skipValue(p, depth - 1);
  }
  const base = namesTop();
  const object = p;
  let variants = 0;
  p = skipSpace(p + 1);
  if (load<u8>(p) !== closeBrace) {
    while (true) {
      if (load<u8>(p) !== quote) return stopAt(p);
      const name = p;
      p = pushName(p + 1);
      if (p === 0) return 0;
      p = skipSpace(p);
      if (load<u8>(p) !== colon) return stopAt(p);
      p = skipSpace(p + 1);
      const variant = propertyMember(lastStart(), lastLength()) & nameMask;
      if (variant === variantNone) p = skipUnknown(p);
      else if (load<u32>(p) === 0x6c6c756e) p += 4;
      else {
        p = scanVariant(p, variant);
        variants++;
      }
      if (p === 0) return 0;
      putTextHolder(resultTextVariant, name);
      p = skipSpace(p);
      if (load<u8>(p) !== comma) break;
      p = skipSpace(p + 1);
    }
    if (load<u8>(p) !== closeBrace) return stopAt(p);
    if (!checkNamesOnce(base)) return 0;
    putTextName(resultTextVariant, object);
    dropNames(base);
  }
  if (variants !== 1) breakRule(rulePropertyValue, variantNone);
  return p + 1;
}

function skipUnknown(p: usize): usize {
  const isAddress = isIp(lastStart(), lastLength());
  const end = skipValue(p, depth);
  if (isAddress && end !== 0) noteIp(p, end);
  return end;
}

function scanVariant(p: usize, variant: i32): usize {
  switch (variant) {
    case variantString:
      return scanStringValue(p);
    case variantInt:
      return load<u8>(p) === quote ? scanIntText(p) : scanIntNumber(p);
    case variantDouble:
      return load<u8>(p) === quote ? scanDoubleText(p) : scanDoubleNumber(p);
    case variantBool:
      return scanBool(p);
    default:
      return scanTimestamp(p);
  }
}

function refuse(p: usize, broken: i32, variant: i32): usize {
  breakRule(broken, variant);
  return skipValue(p, depth);
}

function scanStringValue(p: usize): usize {
  if (load<u8>(p) !== quote) return refuse(p, ruleMustBeString, variantString);
  clearEscapes();
  const end = scanString(p + 1);
  if (end === 0) return 0;
  holdString(p + 1, end);
  return end + 1;
}

function scanIntText(p: usize): usize {
  const end = scanText(p + 1);
  if (end === 0) return 0;
  const textEnd = lastTextEnd();
  hold(variantInt, p + 1, textEnd);
  if (!isInt64(p + 1, textEnd)) breakRule(ruleInt64, variantInt);
  return end + 1;
}

function scanIntNumber(p: usize): usize {
  if (load<u8>(p) !== minus && !isDigit(load<u8>(p))) return refuse(p, ruleInt64, variantInt);
  const end = scanNumber(p);
  if (end === 0) return 0;
  hold(variantInt, p, end);
  store<u32>(resultFlags, load<u32>(resultFlags) | flagNumericInt);
  if (!isSafeInteger(p, end)) breakRule(ruleInt64Number, variantInt);
  if (!isWrittenWhole(p, end)) noteText(ruleInt64Number, p);
  return end;
}

function scanDoubleText(p: usize): usize {
  const end = scanText(p + 1);
  if (end === 0) return 0;
  const textEnd = lastTextEnd();
  hold(variantDouble, p + 1, textEnd);
  store<u32>(resultFlags, load<u32>(resultFlags) | flagStringDouble);
  if (scanNumber(p + 1) !== textEnd || !isFiniteNumber(p + 1, textEnd)) {
    breakRule(ruleFiniteDouble, variantDouble);
  }
  return end + 1;
}

function scanDoubleNumber(p: usize): usize {
  if (load<u8>(p) !== minus && !isDigit(load<u8>(p))) {
    return refuse(p, ruleFiniteDouble, variantDouble);
  }
  const end = scanNumber(p);
  if (end === 0) return 0;
  hold(variantDouble, p, end);
  if (!isFiniteNumber(p, end)) breakRule(ruleFiniteDouble, variantDouble);
  return end;
}

function scanBool(p: usize): usize {
  const word = load<u32>(p);
  let end = p + 4;
  if (word !== 0x65757274) {
    if (word !== 0x736c6166 || load<u8>(end) !== 0x65) {
      return refuse(p, ruleMustBeBoolean, variantBool);
    }
    end++;
  }
  hold(variantBool, p, end);
  return end;
}

function scanTimestamp(p: usize): usize {
  if (load<u8>(p) !== quote) return refuse(p, ruleTimestamp, variantTimestamp);
  const end = scanText(p + 1);
  if (end === 0) return 0;
  const textEnd = lastTextEnd();
  hold(variantTimestamp, p + 1, textEnd);
  if (scanTime(p + 1, textEnd) === noTime) breakRule(ruleTimestamp, variantTimestamp);
  return end + 1;
}
