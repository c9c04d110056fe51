// What is wrong with a body, while it is read: the first thing that only the text shows, and the first rule that is
// broken, in the order in which the rules are checked. Reading goes on after a fault, because a body that is no JSON
// is that first of all.

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

/** Whether a rule is known to be broken: the rules of later events no longer matter. */
export function hasFault(): bool {
  return found;
}

/** The body as a whole, or its `events`, breaks `rule`; this takes the place of anything about one event. */
export function putBodyFault(rule: i32, field: i32, at: usize): void {
  clearPlace();
  putFault(rule, field, -1, at);
}

/** Event `index` breaks `rule` at this address. */
export function putFault(rule: i32, field: i32, index: i32, at: usize): void {
  found = true;
  store<i32>(resultRule, rule);
  store<i32>(resultField, field);
  store<i32>(resultIndex, index);
  store<i32>(resultOffset, <i32>at);
}

/** Adds the property that a fault is about. `start` is its key's first byte, after the quote. */
export function putFaultKey(start: usize, end: usize, variant: i32): void {
  store<i32>(resultKeyStart, <i32>start);
  store<i32>(resultKeyEnd, <i32>end);
  store<i32>(resultVariant, variant);
}

/** Adds the well-known property that a fault is about. */
export function putFaultWellKnown(name: i32): void {
  store<i32>(resultWellKnown, name);
}

/** Notes what only the text shows; of several the first in the text counts. */
export function noteText(rule: i32, at: usize): void {
  if (textRule !== ruleNone && textAt <= at) return;
  textRule = rule;
  textAt = at;
}

/** Memory could not grow, and reading stops. */
export function noteNoMemory(): void {
  memoryFull = true;
}

/** Reading stopped at something that is no JSON, or for want of memory. */
export function putStop(): void {
  putBodyFault(memoryFull ? ruleNoMemory : ruleBodyJson, fieldBody, 0);
}

/** What only the text shows comes before every rule: of a member given twice no rule can tell which one counts. */
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
