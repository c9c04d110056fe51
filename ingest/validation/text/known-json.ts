// From a JSON body to the value of its known members, for requests that the scanner does not read itself: the short
// shape, Identify, Alias. The scanner looks at the whole text first, so that unknown members keep the rules of text.

import type { Violation } from '../violation.ts';
import { blankUnknown, type Known } from './known-members.ts';
import { parseCheckedJson } from './reference-body.ts';
import { textViolation } from './scan-body.ts';

export type ParsedJson =
  | { kind: 'parsed'; value: unknown }
  | { kind: 'invalid'; violation: Violation };

/** Overwrites unknown members in `received`. Whole numbers of the short shape keep all their digits, or are refused. */
export function parseKnownJson(received: Buffer, known: Known): ParsedJson {
  const text = textViolation(received);
  if (text.kind === 'violation') return { kind: 'invalid', violation: text.violation };
  if (text.kind === 'checked') blankUnknown(received, known);
  return parseCheckedJson(received, 'short');
}
