// Keeps the property value that was read last, as two addresses and a variant, and the rule that it breaks.

import { variantNone, variantString } from '../codes.ts';
import { ruleNone, ruleStringLength } from '../rule-codes.ts';
import { limitStringCodePoints } from '../layout.ts';
import { codePoints, hasEscapes, writeOut } from '../text/scan-string.ts';

/** A bit of a held variant: the text still has its escapes. */
export const withEscapes: i32 = 256;

let rule: i32 = 0;
let ruleVariant: i32 = 0;
let heldVariant: i32 = 0;
let heldStart: usize = 0;
let heldEnd: usize = 0;

/** Forgets the broken rule of the value before. */
@inline
export function resetHeld(): void {
  rule = ruleNone;
  ruleVariant = variantNone;
}

/** The rule that the value breaks, or `ruleNone`. */
export function heldRule(): i32 {
  return rule;
}

/** The variant that breaks the rule; `variantNone` where the value as a whole does. */
export function heldRuleVariant(): i32 {
  return ruleVariant;
}

/** The held variant, perhaps with `withEscapes`. */
export function heldVariantOf(): i32 {
  return heldVariant;
}

/** The start and the end of the held text or literal. */
export function heldStartOf(): usize {
  return heldStart;
}

export function heldEndOf(): usize {
  return heldEnd;
}

/** Notes that the value breaks a rule; the first broken rule counts. */
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
 * Holds a string, with escapes where `hasEscapes` is true, and checks its length. Counts code points only where the
 * number of bytes does not decide.
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
