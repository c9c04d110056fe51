// Scans a whole BatchCreate body in one pass: the entry of the module's first mode. Leaves its results in memory, see
// layout.ts.

import {
  closeBrace,
  closeBracket,
  colon,
  comma,
  openBrace,
  openBracket,
  quote,
  skipSpace,
} from './text/characters.ts';
import { fieldBody, fieldEvents } from './codes.ts';
import {
  ruleBodyObject,
  ruleEventsArray,
  ruleEventsCount,
  ruleEventsMissing,
} from './rule-codes.ts';
import { resetCookieless } from './event/cookieless-days.ts';
import { emitEvent } from './columns/emit.ts';
import { letSessionsBeAbsent } from './event/event-slots.ts';
import { scanEvent, setTimes, shiftTimes } from './event/event.ts';
import {
  hasFault,
  isTextFaultIn,
  putBodyFault,
  putStop,
  putTextPart,
  resetFaults,
  settleFaults,
  stopAt,
  textFaultAt,
} from './faults.ts';
import { noteIp } from './event/ip-ranges.ts';
import {
  bodyBase,
  limitEvents,
  limitTimeAheadMs,
  padding,
  resultEvents,
  resultFlags,
  resultIpCount,
} from './layout.ts';
import { isEvents, isIp } from './event/names.ts';
import {
  checkNamesOnce,
  dropNames,
  lastLength,
  lastStart,
  namesTop,
  pushName,
  resetNames,
} from './text/open-names.ts';
import { resetTrees, skipValue } from './text/skip-value.ts';

import { addKind, addProperty } from './property/well-known-table.ts';

export { addKind, addProperty, letSessionsBeAbsent, shiftTimes };

/** The address of the body: `bodyBase`, or behind the columns. */
let origin: usize = bodyBase;
let isEmitting: bool = false;
/** The request's own violation, which is put only after the whole request was read. */
let requestRule: i32 = 0;
let requestField: i32 = 0;

/** Makes room for a body of `length` bytes and for reading it; false where memory cannot grow. */
export function reserve(length: usize): bool {
  // The body, a byte of level for each byte of body, paddings, and a first stretch of names.
  const needed = origin + 2 * (length + <usize>padding) + 0x2_0000;
  const pages = <i32>((needed + 0xffff) >> 16) - memory.size();
  return pages <= 0 || memory.grow(pages) >= 0;
}

/** From now on, bodies lie behind the columns, and each event that breaks no rule is added to the columns. */
export function emitFrom(base: usize): void {
  origin = base;
  isEmitting = true;
}

/** Whether the `length` bytes at `bodyBase` are ASCII: for a short body cheaper than a call that checks UTF-8. */
export function isAscii(length: usize): bool {
  const end = <usize>bodyBase + length;
  clearPadding(end);
  let all = i64x2.splat(0);
  for (let p: usize = bodyBase; p < end; p += 16) all = v128.or(all, v128.load(p));
  return i8x16.bitmask(all) === 0;
}

/**
 * Reads the `length` bytes at the origin, for which `reserve` made room. Overwrites the body in places. An event may
 * have occurred `maxAgeMs` before receipt.
 */
export function scan(length: usize, receiveTimeMs: f64, maxAgeMs: f64): void {
  const end = origin + length;
  clearPadding(end);
  resetFaults();
  resetTrees(end + <usize>padding);
  resetNames(end + length + 2 * <usize>padding);
  setTimes(receiveTimeMs - maxAgeMs, receiveTimeMs + load<f64>(limitTimeAheadMs));
  store<u32>(resultEvents, 0);
  resetCookieless(receiveTimeMs);
  store<u32>(resultFlags, 0);
  store<u32>(resultIpCount, 0);
  requestRule = 0;
  const start = skipSpace(origin);
  let p = scanRequest(start);
  if (p !== 0) p = skipSpace(p);
  if (p !== end) {
    if (p !== 0) stopAt(p);
    return putStop();
  }
  if (requestRule !== 0) putBodyFault(requestRule, requestField, start);
  settleFaults();
}

/** Four stores: for so few bytes, the instruction that fills memory costs a call. */
function clearPadding(at: usize): void {
  for (let p = at; p < at + <usize>padding; p += 16) v128.store(p, i64x2.splat(0));
}

/** The position after the request; 0 where it is no JSON. */
function scanRequest(p: usize): usize {
  if (load<u8>(p) !== openBrace) {
    requestRule = ruleBodyObject;
    requestField = fieldBody;
    return skipValue(p, 0);
  }
  const base = namesTop();
  p = skipSpace(p + 1);
  if (load<u8>(p) === closeBrace) return p + 1;
  // Replaced at the first `events`.
  requestRule = ruleEventsMissing;
  requestField = fieldEvents;
  while (true) {
    if (load<u8>(p) !== quote) return stopAt(p);
    const member = p;
    p = pushName(p + 1);
    if (p === 0) return 0;
    p = skipSpace(p);
    if (load<u8>(p) !== colon) return stopAt(p);
    p = skipSpace(p + 1);
    p = isEvents(lastStart(), lastLength()) ? scanEvents(p) : skipUnknown(p);
    if (p === 0) return 0;
    if (isTextFaultIn(member)) putTextPart(member, -1);
    p = skipSpace(p);
    if (load<u8>(p) !== comma) break;
    p = skipSpace(p + 1);
  }
  if (load<u8>(p) !== closeBrace) return stopAt(p);
  if (!checkNamesOnce(base)) return 0;
  // A name that is given twice is found last.
  if (isTextFaultIn(0)) putTextPart(textFaultAt(), -1);
  return p + 1;
}

function skipUnknown(p: usize): usize {
  const isAddress = isIp(lastStart(), lastLength());
  const end = skipValue(p, 1);
  if (isAddress && end !== 0) noteIp(p, end);
  return end;
}

function scanEvents(p: usize): usize {
  store<u32>(resultEvents, 0);
  requestRule = 0;
  if (load<u8>(p) !== openBracket) {
    // null counts as absent.
    if (load<u32>(p) === 0x6c6c756e) return p + 4;
    requestRule = ruleEventsArray;
    requestField = fieldEvents;
    return skipValue(p, 1);
  }
  p = skipSpace(p + 1);
  if (load<u8>(p) === closeBracket) return p + 1;
  const base = namesTop();
  let index: i32 = 0;
  while (true) {
    p = scanEvent(p, index++);
    if (p === 0) return 0;
    if (isEmitting && !hasFault()) emitEvent();
    dropNames(base);
    p = skipSpace(p);
    if (load<u8>(p) !== comma) break;
    p = skipSpace(p + 1);
  }
  if (load<u8>(p) !== closeBracket) return stopAt(p);
  store<i32>(resultEvents, index);
  if (index > load<i32>(limitEvents)) {
    requestRule = ruleEventsCount;
    requestField = fieldEvents;
  }
  return p + 1;
}
