// From a JSON body to the value of its known members, for requests that the scanner does not read itself: the short
// shape, Identify, Alias. The scanner looks at the whole text first, so that unknown members keep the rules of text.

import { blankUnknown, type Known } from './known-members.ts';
import { type ParsedJson, parseCheckedJson } from './reference-body.ts';
import { textViolation } from './scan-body.ts';

export type KnownJson =
  /** `lacksEvents`: it is an object of members, and none of them is `events`. */
  | { kind: 'parsed'; value: unknown; lacksEvents: boolean }
  | Extract<ParsedJson, { kind: 'invalid' }>;

/** Overwrites unknown members in `received`. Whole numbers of the short shape keep all their digits, or are refused. */
export function parseKnownJson(received: Buffer, known: Known): KnownJson {
  const text = textViolation(received);
  if (text.kind === 'violation') return { kind: 'invalid', violation: text.violation };
  if (text.kind === 'checked') blankUnknown(received, known);
  const parsed = parseCheckedJson(received, 'short');
  if (parsed.kind === 'invalid') return parsed;
  return { ...parsed, lacksEvents: text.kind === 'checked' && text.lacksEvents };
}
