// Scans one event: its members in any order, each checked while it is read. event-slots.ts keeps the findings and puts
// the event's violation.

import { closeBrace, colon, comma, openBrace, quote, skipSpace } from '../text/characters.ts';
import {
  fieldAutoProperties,
  fieldCookieless,
  fieldDistinctId,
  fieldEvent,
  fieldEventId,
  fieldKind,
  fieldOccurTime,
  fieldSessionId,
} from '../codes.ts';
import {
  ruleEventObject,
  ruleIdentityRequired,
  ruleMembersCount,
  ruleMustBeBoolean,
  ruleMustBeString,
  ruleNone,
  ruleOccurTimeTooOld,
  ruleRequired,
  ruleTimeAhead,
  ruleTimeEarly,
  ruleTimestamp,
} from '../rule-codes.ts';
import { countCookieless } from './cookieless-days.ts';
import {
  eventIsCookieless,
  markSet,
  noteMember,
  putCookieless,
  putMap,
  putPlace,
  putRule,
  putText,
  resetSlots,
  settle,
  toldKindEnd,
  toldKindStart,
} from './event-slots.ts';
import {
  hasFault,
  isTextFaultIn,
  noteText,
  putFault,
  putTextHolder,
  putTextKind,
  putTextName,
  putTextPart,
  stopAt,
} from '../faults.ts';
import { distinctIdRule, kindRule, uuidRule } from './identity.ts';
import { noteIp } from './ip-ranges.ts';
import { limitMembers, limitMinTimeMs, resultTextMember } from '../layout.ts';
import { eventMember, isIp, nameMask } from './names.ts';
import { checkOfEventOnce, markOfEvent, namesTop, pushEntry } from '../text/open-names.ts';
import { mapRule, scanProperties } from '../property/properties.ts';
import { lastTextEnd, scanText } from '../text/scan-string.ts';
import { noTime, scanTime } from '../text/scan-time.ts';
import { isUuid } from '../text/scan-uuid.ts';
import { skipValue } from '../text/skip-value.ts';

/** Open objects and arrays around the members of an event. */
const depth: usize = 3;

let earliestMs: i64 = 0;
let latestMs: i64 = 0;
let occurTimeMs: i64 = 0;
let shiftMs: i64 = 0;

/**
 * Sets the moments between which an event may have occurred. A cookieless one may have occurred before `earliest`: it
 * is dropped, not refused.
 */
export function setTimes(earliest: f64, latest: f64): void {
  earliestMs = <i64>Math.max(earliest, load<f64>(limitMinTimeMs));
  latestMs = <i64>latest;
}

/** Sets what is added to the moments of the events to come: the sender's clock is off. */
export function shiftTimes(ms: f64): void {
  shiftMs = <i64>ms;
}

/** The moment of the event read last, shifted. */
export function eventTimeMs(): i64 {
  return occurTimeMs;
}

/**
 * The position after event `index` at `p`; 0 where it is no JSON. Leaves the entries of its maps on the stack of names,
 * for the caller to drop.
 */
export function scanEvent(p: usize, index: i32): usize {
  const base = namesTop();
  const start = p;
  if (load<u8>(p) !== openBrace) {
    if (!hasFault()) putFault(ruleEventObject, fieldEvent, index, p);
    p = skipValue(p, 2);
    if (isTextFaultIn(start)) putTextPart(start, index);
    return p;
  }
  resetSlots();
  let unknown = 0;
  let members: i32 = 0;
  const most = load<i32>(limitMembers);
  p = skipSpace(p + 1);
  if (load<u8>(p) !== closeBrace) {
    while (true) {
      if (load<u8>(p) !== quote) return stopAt(p);
      const name = p + 1;
      if (members++ === most) noteText(ruleMembersCount, p);
      p = scanText(name);
      if (p === 0) return 0;
      const length = lastTextEnd() - name;
      p = skipSpace(p + 1);
      if (load<u8>(p) !== colon) return stopAt(p);
      p = skipSpace(p + 1);
      const member = eventMember(name, length);
      if (member === 0) {
        p = skipUnknown(name, length, p);
        unknown++;
      } else {
        noteMember(member, name);
        p = scanField(member & nameMask, p);
      }
      if (p === 0) return 0;
      putTextHolder(resultTextMember, name - 1);
      p = skipSpace(p);
      if (load<u8>(p) !== comma) break;
      p = skipSpace(p + 1);
    }
    if (load<u8>(p) !== closeBrace) return stopAt(p);
  }
  if (!hasFault()) settle(index, start);
  if (eventIsCookieless() && !hasFault()) countCookieless(occurTimeMs);
  if (unknown > 1 && !checkOfEventOnce(base)) return 0;
  putTextName(resultTextMember, start);
  if (isTextFaultIn(start)) {
    putTextPart(start, index);
    putTextKind(toldKindStart(), toldKindEnd());
  }
  return p + 1;
}

function skipUnknown(name: usize, length: usize, p: usize): usize {
  if (!pushEntry(name, length)) return 0;
  markOfEvent();
  const end = skipValue(p, depth);
  if (end !== 0 && isIp(name, length)) noteIp(p, end);
  return end;
}

function scanField(field: i32, p: usize): usize {
  // null counts as absent. Of two kinds, of which one is null, none is told.
  if (load<u32>(p) === 0x6c6c756e) {
    if (field === fieldKind) putRule(field, ruleRequired);
    return p + 4;
  }
  if (field >= fieldAutoProperties) {
    putPlace(field, p);
    return field === fieldCookieless ? scanCookieless(p) : scanMap(field, p);
  }
  if (load<u8>(p) !== quote) {
    putPlace(field, p);
    markSet(field);
    putRule(field, field === fieldOccurTime ? ruleTimestamp : ruleMustBeString);
    return skipValue(p, depth);
  }
  const start = p + 1;
  const unescapedEnd = endOfUnescaped(field, start);
  if (unescapedEnd !== 0) {
    putText(field, start, unescapedEnd, ruleNone);
    return unescapedEnd + 1;
  }
  const end = scanText(start);
  if (end === 0) return 0;
  putText(field, start, lastTextEnd(), textRule(field, start, lastTextEnd()));
  return end + 1;
}

/**
 * The closing quote of a UUID or a moment without escapes, as nearly all are written; 0 for any other text or field.
 * Both checks look at every byte, so a text that passes need not be read as a string first.
 */
function endOfUnescaped(field: i32, start: usize): usize {
  if (field === fieldEventId || field === fieldSessionId) {
    if (load<u8>(start + 36) !== quote || !isUuid(start)) return 0;
    markSet(field);
    return start + 36;
  }
  if (field !== fieldOccurTime || load<u8>(start + 24) !== quote) return 0;
  return occurTimeRule(start, start + 24) === ruleNone ? start + 24 : 0;
}

function textRule(field: i32, start: usize, end: usize): i32 {
  switch (field) {
    case fieldEventId:
      return start === end ? ruleRequired : uuidRule(start, end);
    case fieldKind:
      return start === end ? ruleRequired : kindRule(start, end);
    case fieldDistinctId:
      if (start === end) return ruleIdentityRequired;
      markSet(field);
      return distinctIdRule(start, end);
    case fieldSessionId:
      markSet(field);
      return uuidRule(start, end);
    default:
      return occurTimeRule(start, end);
  }
}

function occurTimeRule(start: usize, end: usize): i32 {
  occurTimeMs = shifted(scanTime(start, end));
  if (occurTimeMs === noTime) return ruleTimestamp;
  if (occurTimeMs < earliestMs) {
    return occurTimeMs < <i64>load<f64>(limitMinTimeMs) ? ruleTimeEarly : ruleOccurTimeTooOld;
  }
  return occurTimeMs > latestMs ? ruleTimeAhead : ruleNone;
}

/** All rules on time and all readers of an event see the shifted moment. */
@inline
function shifted(ms: i64): i64 {
  return ms === noTime ? noTime : ms + shiftMs;
}

function scanCookieless(p: usize): usize {
  const word = load<u32>(p);
  const isTrue = word === 0x65757274;
  putCookieless(isTrue);
  if (isTrue) return p + 4;
  if (word === 0x736c6166 && load<u8>(p + 4) === 0x65) return p + 5;
  putRule(fieldCookieless, ruleMustBeBoolean);
  return skipValue(p, depth);
}

function scanMap(field: i32, p: usize): usize {
  const base = namesTop();
  p = scanProperties(p, field === fieldAutoProperties);
  putMap(field, mapRule(), base, namesTop());
  return p;
}
