// The table of well-known kinds in the module's memory, and the checks of their properties. The wrapper fills the table
// once from proto/wire/well-known-kinds.ts. A kind's record is found by hash, and its properties' records follow it.
//
//   kind     = length u32, properties u32, 64 bytes of text
//   property = number u32, isRequired u32, check u32,
//              then for snake_case and camelCase each: length u32, hash u32, 48 bytes of text

import {
  checkAmount,
  checkClickCount,
  checkCurrency,
  checkId,
  checkNonEmptyText,
  checkPercent,
  checkText,
  variantDouble,
  variantInt,
  variantString,
} from '../codes.ts';
import {
  ruleMemberSpelling,
  ruleNone,
  ruleWellKnownAmount,
  ruleWellKnownClickCount,
  ruleWellKnownCurrency,
  ruleWellKnownId,
  ruleWellKnownNonEmpty,
  ruleWellKnownPercent,
  ruleWellKnownRequired,
  ruleWellKnownScore,
  ruleWellKnownText,
} from '../rule-codes.ts';
import { withEscapes } from './held-value.ts';
import { bodyBase, wellKnownEnd, wellKnownTable } from '../layout.ts';
import { entryBytes, hashOf, isSameText } from '../text/open-names.ts';
import { doubleOf } from '../text/scan-number.ts';
import { writeOut } from '../text/scan-string.ts';

const slots: usize = 128;
const maxKind: usize = 64;
const maxName: usize = 48;
const kindBytes: usize = 8 + maxKind;
const spellingBytes: usize = 8 + maxName;
const propertyBytes: usize = 12 + 2 * spellingBytes;

const table: usize = wellKnownTable;
const tableEnd: usize = wellKnownEnd;

let free: usize = table + slots * 4;
let kinds: usize = 0;
let lastKind: usize = 0;
let faultName: i32 = -1;

/** Adds the kind whose name is the `length` bytes at `bodyBase`. False where the table is full. */
export function addKind(length: usize): bool {
  if (length > maxKind || free + kindBytes > tableEnd || kinds >= slots / 2) return false;
  let slot = <usize>hashOf(bodyBase, length);
  while (load<u32>(slotAt(slot)) !== 0) slot++;
  store<u32>(slotAt(slot), <u32>free);
  store<u32>(free, <u32>length);
  store<u32>(free, 0, 4);
  memory.copy(free + 8, bodyBase, length);
  lastKind = free;
  free += kindBytes;
  kinds++;
  return true;
}

/** Adds a property to the kind that was added last. Its two names lie at `bodyBase`, one after the other. */
export function addProperty(
  number: u32,
  isRequired: bool,
  check: u32,
  snakeLength: usize,
  camelLength: usize,
): bool {
  if (free + propertyBytes > tableEnd) return false;
  if (snakeLength > maxName || camelLength > maxName) return false;
  store<u32>(free, number);
  store<u32>(free, isRequired ? 1 : 0, 4);
  store<u32>(free, check, 8);
  putName(free + 12, bodyBase, snakeLength);
  putName(free + 12 + spellingBytes, <usize>bodyBase + snakeLength, camelLength);
  store<u32>(lastKind, load<u32>(lastKind, 4) + 1, 4);
  free += propertyBytes;
  return true;
}

function putName(at: usize, text: usize, length: usize): void {
  store<u32>(at, <u32>length);
  store<u32>(at, hashOf(text, length), 4);
  memory.copy(at + 8, text, length);
}

function slotAt(slot: usize): usize {
  return table + (slot & (slots - 1)) * 4;
}

/** The well-known property of the last fault: twice its number, plus 1 for camelCase. */
export function wellKnownFault(): i32 {
  return faultName;
}

/** The rule of this kind that the custom properties from `base` to `end` break, or `ruleNone`. */
export function checkWellKnown(start: usize, length: usize, base: usize, end: usize): i32 {
  const kind = findKind(start, length);
  if (kind === 0) return ruleNone;
  const last = kind + kindBytes + <usize>load<u32>(kind, 4) * propertyBytes;
  for (let property = kind + kindBytes; property < last; property += propertyBytes) {
    const rule = checkOne(property, base, end);
    if (rule !== ruleNone) return rule;
  }
  return ruleNone;
}

function findKind(start: usize, length: usize): usize {
  let slot = <usize>hashOf(start, length);
  while (true) {
    const kind = <usize>load<u32>(slotAt(slot));
    if (kind === 0) return 0;
    if (load<u32>(kind) === <u32>length && isSameText(kind + 8, start, length)) return kind;
    slot++;
  }
}

function checkOne(property: usize, base: usize, end: usize): i32 {
  const snake = property + 12;
  const camel = snake + spellingBytes;
  const snakeEntry = findEntry(snake, base, end);
  const hasTwoNames = load<u32>(snake) !== load<u32>(camel);
  const camelEntry = hasTwoNames ? findEntry(camel, base, end) : 0;
  faultName = load<i32>(property) << 1;
  if (snakeEntry !== 0 && camelEntry !== 0) {
    faultName++;
    return ruleMemberSpelling;
  }
  const entry = snakeEntry !== 0 ? snakeEntry : camelEntry;
  if (entry === 0) return load<u32>(property, 4) === 1 ? ruleWellKnownRequired : ruleNone;
  if (snakeEntry === 0) faultName++;
  return checkEntry(entry, load<i32>(property, 8));
}

function findEntry(name: usize, base: usize, end: usize): usize {
  const length = load<u32>(name);
  const hash = load<u32>(name, 4);
  for (let entry = base; entry < end; entry += entryBytes) {
    if (load<u32>(entry, 8) !== hash || load<u32>(entry, 4) !== length) continue;
    if (isSameText(name + 8, load<u32>(entry), length)) return entry;
  }
  return 0;
}

function checkEntry(entry: usize, check: i32): i32 {
  const start = <usize>load<u32>(entry, 12);
  const end = <usize>load<u32>(entry, 16);
  const variant = load<i32>(entry, 20) & ~withEscapes;
  const isText = variant === variantString;
  switch (check) {
    case checkId:
      return variant === variantInt || (isText && end > start) ? ruleNone : ruleWellKnownId;
    case checkText:
      return isText ? ruleNone : ruleWellKnownText;
    case checkNonEmptyText:
      return isText && end > start ? ruleNone : ruleWellKnownNonEmpty;
    case checkCurrency:
      return isText && isCurrency(entry) ? ruleNone : ruleWellKnownCurrency;
    case checkAmount:
      return numberOf(variant, start, end) > 0 ? ruleNone : ruleWellKnownAmount;
    case checkClickCount:
      return isWholeWithin(variant, start, end, 2, Infinity) ? ruleNone : ruleWellKnownClickCount;
    case checkPercent:
      return isWholeWithin(variant, start, end, 0, 100) ? ruleNone : ruleWellKnownPercent;
    default:
      return isWholeWithin(variant, start, end, 0, 10) ? ruleNone : ruleWellKnownScore;
  }
}

/** Whether the text is three capital letters, escaped or not. */
function isCurrency(entry: usize): bool {
  const start = <usize>load<u32>(entry, 12);
  let end = <usize>load<u32>(entry, 16);
  if ((load<u32>(entry, 20) & withEscapes) !== 0) {
    end = writeOut(start, end);
    store<u32>(entry, <u32>end, 16);
    store<u32>(entry, <u32>variantString, 20);
  }
  if (end - start !== 3) return false;
  for (let p = start; p < end; p++) {
    if (<u8>(load<u8>(p) - 0x41) >= 26) return false;
  }
  return true;
}

/** NaN where the value is no number. */
function numberOf(variant: i32, start: usize, end: usize): f64 {
  return variant === variantInt || variant === variantDouble ? doubleOf(start, end) : NaN;
}

function isWholeWithin(variant: i32, start: usize, end: usize, least: f64, most: f64): bool {
  const value = numberOf(variant, start, end);
  return trunc(value) === value && value >= least && value <= most;
}
