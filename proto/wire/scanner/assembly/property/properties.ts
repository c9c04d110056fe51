// Scans the two maps of properties of an event: keys, size, values. The entries stay on the stack of names until the
// event is settled, because the kind decides which properties are checked, and it may come last.

import {
  closeBrace,
  colon,
  comma,
  dollar,
  isDigit,
  openBrace,
  quote,
  skipSpace,
  zero,
} from '../text/characters.ts';
import { variantNone } from '../codes.ts';
import {
  ruleAutoKeyPrefix,
  ruleCustomKeyPrefix,
  ruleNone,
  rulePropertiesCount,
  rulePropertiesObject,
  rulePropertyKeyLength,
} from '../rule-codes.ts';
import { heldEndOf, heldRule, heldRuleVariant, heldStartOf, heldVariantOf } from './held-value.ts';
import { noteIp } from '../event/ip-ranges.ts';
import { putTextHolder, putTextName, stopAt } from '../faults.ts';
import {
  flagBotSignal,
  limitKeyCodePoints,
  limitProperties,
  resultFlags,
  resultTextProperty,
} from '../layout.ts';
import { isBotSignal, isIp } from '../event/names.ts';
import { checkNamesOnce, entryBytes, namesTop, pushName } from '../text/open-names.ts';
import { scanProperty } from './property.ts';
import { isLongerThan } from '../text/scan-string.ts';
import { skipValue } from '../text/skip-value.ts';

/** JavaScript walks names that are array indices first, in numeric order, and then all others. */
const afterIndices: u64 = 0x1_0000_0000;

let rule: i32 = 0;
let ruleOrder: u64 = 0;
let keyStart: usize = 0;
let keyEnd: usize = 0;
let keyVariant: i32 = 0;

/** The rule that the map read last breaks, or `ruleNone`. */
export function mapRule(): i32 {
  return rule;
}

/** The key that breaks the rule, as it stands in the body; `mapKeyEnd` is 0 where the map as a whole breaks it. */
export function mapKeyStart(): usize {
  return keyStart;
}

export function mapKeyEnd(): usize {
  return keyEnd;
}

export function mapKeyVariant(): i32 {
  return keyVariant;
}

/** The position after the map at `p`; 0 where it is no JSON. Leaves its entries on top of the stack of names. */
export function scanProperties(p: usize, isAuto: bool): usize {
  rule = ruleNone;
  keyEnd = 0;
  keyVariant = variantNone;
  if (load<u8>(p) !== openBrace) {
    rule = rulePropertiesObject;
    return skipValue(p, 3);
  }
  const base = namesTop();
  const map = p;
  p = skipSpace(p + 1);
  if (load<u8>(p) === closeBrace) return p + 1;
  while (true) {
    if (load<u8>(p) !== quote) return stopAt(p);
    const start = p + 1;
    p = pushName(start);
    if (p === 0) return 0;
    const end = p - 1;
    const entry = namesTop() - entryBytes;
    p = skipSpace(p);
    if (load<u8>(p) !== colon) return stopAt(p);
    const value = skipSpace(p + 1);
    p = scanProperty(value);
    if (p === 0) return 0;
    putTextHolder(resultTextProperty, start - 1);
    store<u32>(entry, <u32>heldStartOf(), 12);
    store<u32>(entry, <u32>heldEndOf(), 16);
    store<u32>(entry, <u32>heldVariantOf(), 20);
    checkEntry(entry, end, base, isAuto);
    if (isAuto) noteServerOnly(entry, value, p);
    p = skipSpace(p);
    if (load<u8>(p) !== comma) break;
    p = skipSpace(p + 1);
  }
  if (load<u8>(p) !== closeBrace) return stopAt(p);
  if (!checkNamesOnce(base)) return 0;
  putTextName(resultTextProperty, map);
  if (<i32>((namesTop() - base) / entryBytes) > load<i32>(limitProperties)) checkCount(base);
  return p + 1;
}

/** Checks an entry's key, then its value. `end` is the key's end in the body. */
function checkEntry(entry: usize, end: usize, base: usize, isAuto: bool): void {
  const start = <usize>load<u32>(entry);
  const length = <usize>load<u32>(entry, 4);
  let broken = heldRule();
  const variant = heldRuleVariant();
  const hasDollar = load<u8>(start) === dollar;
  if (hasDollar !== isAuto) broken = isAuto ? ruleAutoKeyPrefix : ruleCustomKeyPrefix;
  else if (length === 0 || isLongerThan(start, start + length, load<i32>(limitKeyCodePoints))) {
    broken = rulePropertyKeyLength;
  } else {
    if (broken !== ruleNone) note(broken, orderOf(entry, base), start, end, variant);
    return;
  }
  note(broken, orderOf(entry, base), start, end, variantNone);
}

function note(broken: i32, order: u64, start: usize, end: usize, variant: i32): void {
  if (rule !== ruleNone && ruleOrder < order) return;
  rule = broken;
  ruleOrder = order;
  keyStart = start;
  keyEnd = end;
  keyVariant = variant;
}

function noteServerOnly(entry: usize, value: usize, end: usize): void {
  const start = <usize>load<u32>(entry);
  const length = <usize>load<u32>(entry, 4);
  if (isIp(start, length)) noteIp(value, end);
  else if (isBotSignal(start, length)) {
    store<u32>(resultFlags, load<u32>(resultFlags) | flagBotSignal);
  }
}

/**
 * Puts the rule for too many entries, unless an entry before the first one too many breaks a rule, or the key of that
 * one has the wrong prefix.
 */
function checkCount(base: usize): void {
  const most = load<i32>(limitProperties);
  if (rule !== ruleNone) {
    let before: i32 = 0;
    const end = namesTop();
    for (let entry = base; entry < end; entry += entryBytes) {
      if (orderOf(entry, base) < ruleOrder) before++;
    }
    if (before < most) return;
    if (before === most && (rule === ruleAutoKeyPrefix || rule === ruleCustomKeyPrefix)) return;
  }
  rule = rulePropertiesCount;
  keyEnd = 0;
  keyVariant = variantNone;
}

/** The order in which JavaScript meets an entry when it walks the object. */
function orderOf(entry: usize, base: usize): u64 {
  const start = <usize>load<u32>(entry);
  const length = <usize>load<u32>(entry, 4);
  const place = afterIndices + <u64>(entry - base);
  if (length === 0 || length > 10) return place;
  if (load<u8>(start) === zero && length > 1) return place;
  let index: u64 = 0;
  for (let p = start; p < start + length; p++) {
    if (!isDigit(load<u8>(p))) return place;
    index = index * 10 + (load<u8>(p) - zero);
  }
  return index < 0xffff_ffff ? index : place;
}
