// Collects the faults of a body while it is read: the first fault that only the text shows, and the first broken rule
// in the order of the rules. Reading goes on after a fault, because a body that is no JSON is refused for that alone.

import { fieldBody } from './codes.ts';
import { ruleBodyJson, ruleNoMemory, ruleNone } from './rule-codes.ts';
import {
  resultField,
  resultIndex,
  resultKeyEnd,
  resultKeyStart,
  resultKindEnd,
  resultKindStart,
  resultOffset,
  resultRule,
  resultTextIndex,
  resultTextMember,
  resultTextPart,
  resultTextProperty,
  resultTextVariant,
  resultVariant,
  resultWellKnown,
} from './layout.ts';

let textRule: i32 = 0;
let textAt: usize = 0;
/** The kind of the event that holds the fault of the text. */
let textKindStart: usize = 0;
let textKindEnd: usize = 0;
let found: bool = false;
let memoryFull: bool = false;
/** Where reading stopped: each function that finds no JSON says so before it returns 0, and the last word counts. */
let stoppedAt: usize = 0;

export function resetFaults(): void {
  textRule = ruleNone;
  found = false;
  memoryFull = false;
  store<i32>(resultRule, ruleNone);
  clearTextPlace();
  clearPlace();
}

/** Whether a broken rule was found. The rules of later events no longer matter then. */
export function hasFault(): bool {
  return found;
}

/** Puts the fault of the body as a whole, or of its `events`. It replaces a fault of one event. */
export function putBodyFault(rule: i32, field: i32, at: usize): void {
  clearPlace();
  putFault(rule, field, -1, at);
}

/** Puts the fault of event `index` at this address. */
export function putFault(rule: i32, field: i32, index: i32, at: usize): void {
  found = true;
  store<i32>(resultRule, rule);
  store<i32>(resultField, field);
  store<i32>(resultIndex, index);
  store<i32>(resultOffset, <i32>at);
}

/** Adds the property that breaks the rule. `start` is its key's first byte, after the quote. */
export function putFaultKey(start: usize, end: usize, variant: i32): void {
  store<i32>(resultKeyStart, <i32>start);
  store<i32>(resultKeyEnd, <i32>end);
  store<i32>(resultVariant, variant);
}

/** Adds the well-known property that breaks the rule. */
export function putFaultWellKnown(name: i32): void {
  store<i32>(resultWellKnown, name);
}

/** Adds the kind of the event. */
export function putFaultKind(start: usize, end: usize): void {
  store<u32>(resultKindStart, <u32>start);
  store<u32>(resultKindEnd, <u32>end);
}

/** Notes a fault that only the text shows; the first in the text counts. */
export function noteText(rule: i32, at: usize): void {
  if (textRule !== ruleNone && textAt <= at) return;
  textRule = rule;
  textAt = at;
  textKindStart = 0;
  textKindEnd = 0;
  clearTextPlace();
}

/** Whether the fault of the text lies in the part that begins at `start` and was just read. */
@inline
export function isTextFaultIn(start: usize): bool {
  return textRule !== ruleNone && textAt >= start && load<u32>(resultTextPart) === 0;
}

export function textFaultAt(): usize {
  return textAt;
}

/** Puts the part of the request that holds the fault of the text; `index` is -1 for a member of the request. */
export function putTextPart(start: usize, index: i32): void {
  store<u32>(resultTextPart, <u32>start);
  store<i32>(resultTextIndex, index);
}

/** Puts the name at `start`, whose value was just read, as one of these results if it holds the fault of the text. */
@inline
export function putTextHolder(result: usize, start: usize): void {
  if (textRule !== ruleNone) putFirst(result, start);
}

function putFirst(result: usize, start: usize): void {
  if (textAt >= start && load<u32>(result) === 0) store<u32>(result, <u32>start);
}

/** A name of an object is given twice, or is one too many: the object is read, and the name is the place. */
export function putTextName(result: usize, object: usize): void {
  if (textRule !== ruleNone && textAt >= object) putFirst(result, textAt);
}

/** Adds the kind of the event that holds the fault of the text. */
export function putTextKind(start: usize, end: usize): void {
  textKindStart = start;
  textKindEnd = end;
}

/** The text is no JSON at `p`. Returns 0, as everything that reads does then. */
export function stopAt(p: usize): usize {
  stoppedAt = p;
  return 0;
}

/** Notes that memory could not grow; reading stops. */
export function noteNoMemory(): void {
  memoryFull = true;
}

/** Puts the fault of a body whose reading stopped: at a place that is no JSON, or because memory could not grow. */
export function putStop(): void {
  putBodyFault(memoryFull ? ruleNoMemory : ruleBodyJson, fieldBody, stoppedAt);
}

/** A fault of the text comes before every broken rule: no rule can tell which of two equal members counts. */
export function settleFaults(): void {
  if (textRule === ruleNone) return;
  putBodyFault(textRule, fieldBody, textAt);
  putFaultKind(textKindStart, textKindEnd);
}

function clearTextPlace(): void {
  store<u32>(resultTextPart, 0);
  store<u32>(resultTextMember, 0);
  store<u32>(resultTextProperty, 0);
  store<u32>(resultTextVariant, 0);
}

function clearPlace(): void {
  store<i32>(resultField, fieldBody);
  store<i32>(resultIndex, -1);
  store<i32>(resultOffset, 0);
  store<i32>(resultKeyStart, 0);
  store<i32>(resultKeyEnd, 0);
  store<i32>(resultVariant, 0);
  store<i32>(resultWellKnown, -1);
  putFaultKind(0, 0);
}
