// Keeps the findings about the event that is being read: for each field the place of its text and the rule that it
// breaks. `settle` runs after the whole event: the first field with a broken rule, in the order of the rules, is its
// violation.

import {
  fieldAutoProperties,
  fieldCookieless,
  fieldCustomProperties,
  fieldDistinctId,
  fieldEventId,
  fieldKind,
  fieldOccurTime,
  fieldSessionId,
} from '../codes.ts';
import {
  ruleCookielessIdentity,
  ruleIdentityRequired,
  ruleMemberOnce,
  ruleMemberSpelling,
  ruleNone,
  ruleOccurTimeTooOld,
  ruleRequired,
  ruleUuid,
} from '../rule-codes.ts';
import {
  hasFault,
  noteText,
  putFault,
  putFaultKey,
  putFaultKind,
  putFaultWellKnown,
} from '../faults.ts';
import { nameMask } from './names.ts';
import { mapKeyEnd, mapKeyStart, mapKeyVariant } from '../property/properties.ts';
import { checkWellKnown, wellKnownFault } from '../property/well-known-table.ts';

/** For each field of codes.ts: its broken rule, the address of its value, the end of its text. */
const rules: usize = memory.data(64, 16);
const places: usize = memory.data(64, 16);
const ends: usize = memory.data(64, 16);
/** For each field the key that breaks its rule: start, end, variant. Only the two maps use theirs. */
const keys: usize = memory.data(176, 16);
/** For each field the start and the end of its map's entries on the stack of names. */
const entries: usize = memory.data(88, 16);

let seenMembers: u64 = 0;
let seenFields: u32 = 0;
let spellingField: i32 = 0;
let isCookieless: bool = false;
let isDistinctIdSet: bool = false;
let isSessionIdSet: bool = false;
/** What an event without a session breaks, unless it is cookieless. */
let noSessionRule: i32 = ruleIdentityRequired;

/** Whether an event that names its user may leave the session out: 0 or 1. Holds until it is set again. */
export function letSessionsBeAbsent(may: i32): void {
  noSessionRule = may === 0 ? ruleIdentityRequired : ruleNone;
}

/** Empties the slots for the next event. */
export function resetSlots(): void {
  // Stores: for so few bytes, the instruction that fills memory costs a call.
  for (let offset: usize = 0; offset < 48; offset += 16) {
    v128.store(rules + offset, i64x2.splat(0));
    v128.store(places + offset, i64x2.splat(0));
    v128.store(ends + offset, i64x2.splat(0));
  }
  putRule(fieldEventId, ruleRequired);
  putRule(fieldKind, ruleRequired);
  putRule(fieldOccurTime, ruleRequired);
  putRule(fieldDistinctId, ruleIdentityRequired);
  putRule(fieldSessionId, noSessionRule);
  putEntries(fieldAutoProperties, 0, 0);
  putEntries(fieldCustomProperties, 0, 0);
  seenMembers = 0;
  seenFields = 0;
  spellingField = 0;
  isCookieless = false;
  isDistinctIdSet = false;
  isSessionIdSet = false;
}

/** Notes a member that is given twice, and a field that is given in both spellings. `name` is the name's address. */
export function noteMember(member: i32, name: usize): void {
  const field = member & nameMask;
  const memberBit = (<u64>1) << (<u64>member);
  const fieldBit = (<u32>1) << (<u32>field);
  if ((seenMembers & memberBit) !== 0) noteText(ruleMemberOnce, name - 1);
  else if ((seenFields & fieldBit) !== 0 && spellingField === 0) spellingField = field;
  seenMembers |= memberBit;
  seenFields |= fieldBit;
}

@inline
export function putRule(field: i32, rule: i32): void {
  store<i32>(rules + ((<usize>field) << 2), rule);
}

/** Sets the place of a field's value, of any type. */
@inline
export function putPlace(field: i32, p: usize): void {
  store<u32>(places + ((<usize>field) << 2), <u32>p);
}

/** Sets a field's text and the rule that it breaks, `ruleNone` for none. */
@inline
export function putText(field: i32, start: usize, end: usize, rule: i32): void {
  putPlace(field, start);
  store<u32>(ends + ((<usize>field) << 2), <u32>end);
  putRule(field, rule);
}

/** Notes that a field has a value which a cookieless event must not have. */
export function markSet(field: i32): void {
  if (field === fieldDistinctId) isDistinctIdSet = true;
  else if (field === fieldSessionId) isSessionIdSet = true;
}

export function putCookieless(value: bool): void {
  isCookieless = value;
}

/** Sets a map's entries, its broken rule, and the key that breaks it, if a key does. */
export function putMap(field: i32, rule: i32, base: usize, end: usize): void {
  putRule(field, rule);
  putEntries(field, base, end);
  const key = keys + <usize>field * 12;
  store<u32>(key, <u32>mapKeyStart());
  store<u32>(key, <u32>mapKeyEnd(), 4);
  store<i32>(key, mapKeyVariant(), 8);
}

function putEntries(field: i32, base: usize, end: usize): void {
  store<u32>(entries + ((<usize>field) << 3), <u32>base);
  store<u32>(entries + ((<usize>field) << 3), <u32>end, 4);
}

export function eventIsCookieless(): bool {
  return isCookieless;
}

/** The start and the end of a field's text; 0 where the event has none. */
export function fieldStart(field: i32): usize {
  return load<u32>(places + ((<usize>field) << 2));
}

export function fieldEnd(field: i32): usize {
  return load<u32>(ends + ((<usize>field) << 2));
}

/** The start and the end of a map's entries on the stack of names. */
export function entriesStart(field: i32): usize {
  return load<u32>(entries + ((<usize>field) << 3));
}

export function entriesEnd(field: i32): usize {
  return load<u32>(entries + ((<usize>field) << 3), 4);
}

function ruleOf(field: i32): i32 {
  return load<i32>(rules + ((<usize>field) << 2));
}

/** The start and the end of the kind; 0 where the event has none that keeps the rules of a kind. */
export function toldKindStart(): usize {
  return ruleOf(fieldKind) === ruleNone ? fieldStart(fieldKind) : 0;
}

export function toldKindEnd(): usize {
  return ruleOf(fieldKind) === ruleNone ? fieldEnd(fieldKind) : 0;
}

/** Puts the first violation of the event that was read, which begins at `start`, if it has one. */
export function settle(index: i32, start: usize): void {
  settleRules(index, start);
  if (hasFault()) putFaultKind(toldKindStart(), toldKindEnd());
}

function settleRules(index: i32, start: usize): void {
  if (spellingField !== 0) putFault(ruleMemberSpelling, spellingField, index, start);
  else if (
    !isBroken(fieldEventId, ruleOf(fieldEventId), index, start) &&
    !isBroken(fieldKind, ruleOf(fieldKind), index, start) &&
    !isBroken(fieldOccurTime, timeRule(), index, start) &&
    !isBroken(fieldCookieless, ruleOf(fieldCookieless), index, start) &&
    !isBroken(fieldDistinctId, identityRule(fieldDistinctId), index, start) &&
    !isBroken(fieldSessionId, identityRule(fieldSessionId), index, start) &&
    !isMapBroken(fieldAutoProperties, index, start) &&
    !isMapBroken(fieldCustomProperties, index, start)
  ) {
    isKindBroken(index, start);
  }
}

@inline
function isBroken(field: i32, rule: i32, index: i32, start: usize): bool {
  if (rule === ruleNone) return false;
  const place = fieldStart(field);
  putFault(rule, field, index, place === 0 ? start : place);
  return true;
}

/** A cookieless event of a day without a salt is dropped later, however old it is. */
function timeRule(): i32 {
  const rule = ruleOf(fieldOccurTime);
  return rule === ruleOccurTimeTooOld && isCookieless ? ruleNone : rule;
}

/** A cookieless event names neither user nor visit; an empty sessionId is a set one, and no UUID. */
function identityRule(field: i32): i32 {
  if (!isCookieless) return ruleOf(field);
  if (field === fieldDistinctId) return isDistinctIdSet ? ruleCookielessIdentity : ruleNone;
  if (!isSessionIdSet) return ruleNone;
  const isEmpty = ruleOf(field) === ruleUuid && fieldStart(field) === fieldEnd(field);
  return isEmpty ? ruleUuid : ruleCookielessIdentity;
}

function isMapBroken(field: i32, index: i32, start: usize): bool {
  if (!isBroken(field, ruleOf(field), index, start)) return false;
  const key = keys + <usize>field * 12;
  if (load<u32>(key, 4) !== 0) putFaultKey(load<u32>(key), load<u32>(key, 4), load<i32>(key, 8));
  return true;
}

function isKindBroken(index: i32, start: usize): bool {
  const kind = fieldStart(fieldKind);
  const rule = checkWellKnown(
    kind,
    fieldEnd(fieldKind) - kind,
    entriesStart(fieldCustomProperties),
    entriesEnd(fieldCustomProperties),
  );
  if (!isBroken(fieldCustomProperties, rule, index, start)) return false;
  putFaultWellKnown(wellKnownFault());
  return true;
}
