// Collects the faults of a body while it is read: the first fault that only the text shows, and the first broken rule
// in the order of the rules. Reading goes on after a fault, because a body that is no JSON is refused for that alone.

import { fieldBody } from './codes.ts';
import { ruleBodyJson, ruleNoMemory, ruleNone } from './rule-codes.ts';
import {
  resultField,
  resultIndex,
  resultKeyEnd,
  resultKeyStart,
  resultOffset,
  resultRule,
  resultVariant,
  resultWellKnown,
} from './layout.ts';

let textRule: i32 = 0;
let textAt: usize = 0;
let found: bool = false;
let memoryFull: bool = false;

export function resetFaults(): void {
  textRule = ruleNone;
  found = false;
  memoryFull = false;
  store<i32>(resultRule, ruleNone);
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

/** Notes a fault that only the text shows; the first in the text counts. */
export function noteText(rule: i32, at: usize): void {
  if (textRule !== ruleNone && textAt <= at) return;
  textRule = rule;
  textAt = at;
}

/** Notes that memory could not grow; reading stops. */
export function noteNoMemory(): void {
  memoryFull = true;
}

/** Puts the fault of a body whose reading stopped: at a place that is no JSON, or because memory could not grow. */
export function putStop(): void {
  putBodyFault(memoryFull ? ruleNoMemory : ruleBodyJson, fieldBody, 0);
}

/** A fault of the text comes before every broken rule: no rule can tell which of two equal members counts. */
export function settleFaults(): void {
  if (textRule !== ruleNone) putBodyFault(textRule, fieldBody, textAt);
}

function clearPlace(): void {
  store<i32>(resultField, fieldBody);
  store<i32>(resultIndex, -1);
  store<i32>(resultOffset, 0);
  store<i32>(resultKeyStart, 0);
  store<i32>(resultKeyEnd, 0);
  store<i32>(resultVariant, 0);
  store<i32>(resultWellKnown, -1);
}
