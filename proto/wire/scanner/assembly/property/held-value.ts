// What the property value read last holds, as two addresses and a variant, and which rule it breaks.

import { variantNone, variantString } from '../codes.ts';
import { ruleNone, ruleStringLength } from '../rule-codes.ts';
import { limitStringCodePoints } from '../layout.ts';
import { codePoints, hasEscapes, writeOut } from '../text/scan-string.ts';

/** Set in a held variant where the text still has its escapes. */
export const withEscapes: i32 = 256;

let rule: i32 = 0;
let ruleVariant: i32 = 0;
let heldVariant: i32 = 0;
let heldStart: usize = 0;
let heldEnd: usize = 0;

/** Forgets the rule that the value before broke. */
@inline
export function resetHeld(): void {
  rule = ruleNone;
  ruleVariant = variantNone;
}

/** The rule that the value breaks, or `ruleNone`. */
export function heldRule(): i32 {
  return rule;
}

/** The variant that breaks it; `variantNone` where it is the value as a whole. */
export function heldRuleVariant(): i32 {
  return ruleVariant;
}

/** The variant that is held, perhaps with `withEscapes`. */
export function heldVariantOf(): i32 {
  return heldVariant;
}

/** Where the held text or literal begins and ends. */
export function heldStartOf(): usize {
  return heldStart;
}

export function heldEndOf(): usize {
  return heldEnd;
}

/** The value breaks a rule; of several the first counts. */
export function breakRule(broken: i32, variant: i32): void {
  if (rule !== ruleNone) return;
  rule = broken;
  ruleVariant = variant;
}

@inline
export function hold(variant: i32, start: usize, end: usize): void {
  heldVariant = variant;
  heldStart = start;
  heldEnd = end;
}

/**
 * Holds a string that may have escapes, as `hasEscapes` tells, and checks its length. Counts code points only where
 * the number of bytes leaves it open.
 */
@inline
export function holdString(start: usize, end: usize): void {
  hold(hasEscapes() ? variantString | withEscapes : variantString, start, end);
  if (<i32>(end - start) > load<i32>(limitStringCodePoints)) holdLongString(start, end);
}

function holdLongString(start: usize, end: usize): void {
  const textEnd = hasEscapes() ? writeOut(start, end) : end;
  hold(variantString, start, textEnd);
  if (codePoints(start, textEnd) > load<i32>(limitStringCodePoints)) {
    breakRule(ruleStringLength, variantString);
  }
}
