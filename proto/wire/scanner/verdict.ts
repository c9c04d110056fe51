// Reads the results of the scanner's module for a refused body: the name of the broken rule and the path to the value
// that breaks it. Writes no text for callers: that is ingest's.

import { noMemoryCode, noRuleCode, rulesByCode, type ScannerRule } from '../rules.ts';
import { propertyPath } from '../violation-path.ts';
import * as codes from './assembly/codes.ts';
import * as layout from './assembly/layout.ts';
import { placeInPart } from './text-place.ts';

/** `no_memory` is no rule: there is no room for the body. */
type ViolationRule = ScannerRule | 'no_memory';

const fieldNames: ReadonlyMap<number, string> = new Map([
  [codes.fieldBody, 'body'],
  [codes.fieldEvents, 'events'],
  [codes.fieldEvent, ''],
  [codes.fieldEventId, 'eventId'],
  [codes.fieldKind, 'kind'],
  [codes.fieldDistinctId, 'distinctId'],
  [codes.fieldSessionId, 'sessionId'],
  [codes.fieldOccurTime, 'occurTime'],
  [codes.fieldAutoProperties, 'autoProperties'],
  [codes.fieldCustomProperties, 'customProperties'],
  [codes.fieldCookieless, 'cookieless'],
]);

const variantNames: ReadonlyMap<number, string> = new Map([
  [codes.variantNone, ''],
  [codes.variantString, 'stringValue'],
  [codes.variantInt, 'intValue'],
  [codes.variantDouble, 'doubleValue'],
  [codes.variantBool, 'boolValue'],
  [codes.variantTimestamp, 'timestampValue'],
]);

/** The broken rule, and the place in the body that breaks it. */
export interface ScannerViolation {
  kind: 'refused';
  rule: ViolationRule;
  /** The event's place in the request, from 0; -1 where the violation is about no single event. */
  index: number;
  /** The path inside the event, or inside the request where index is -1. */
  field: string;
  /** The violation's place in the body, in bytes; of a body that is no JSON, the first byte that no JSON can have. */
  offset: number;
  /** The number that was sent, where the rule's text does not hold it. */
  detail?: string;
  /** The event's kind, where it keeps the rules of a kind. */
  eventKind?: string;
}

/** A violation of the body as a whole. */
export function bodyViolation(rule: ViolationRule): ScannerViolation {
  return { kind: 'refused', rule, index: -1, field: 'body', offset: 0 };
}

/**
 * Reads the violation of `body`, which the module read at `origin`, from the results in its memory, of which `words` is
 * the whole; undefined where no rule is broken. `names` are the well-known properties by their numbers.
 */
export function readViolation(
  words: Int32Array,
  body: Uint8Array,
  origin: number,
  names: readonly string[],
): ScannerViolation | undefined {
  const word = (address: number): number => words[address >> 2] ?? 0;
  const code = word(layout.resultRule);
  if (code === noRuleCode) return undefined;
  const rule = code === noMemoryCode ? 'no_memory' : rulesByCode.get(code);
  if (rule === undefined) throw new Error('scanner: a rule without a name');
  const index = word(layout.resultIndex);
  const offset = Math.max(0, word(layout.resultOffset) - origin);
  const violation: ScannerViolation = { kind: 'refused', rule, index, field: '', offset };
  if (index === -1 && isTextRule(rule)) {
    const start = word(layout.resultTextPart) - origin;
    const names = [layout.resultTextMember, layout.resultTextProperty, layout.resultTextVariant]
      .map((address) => word(address) - origin)
      .filter((place) => place >= 0);
    const part = start < 0 ? undefined : { start, index: word(layout.resultTextIndex), names };
    Object.assign(violation, placeInPart(body, part, offset));
  } else violation.field = fieldPath(word, body, origin, names);
  if (rule === 'events_count') violation.detail = `got ${word(layout.resultEvents)}`;
  const kindStart = word(layout.resultKindStart);
  if (violation.index >= 0 && kindStart !== 0) {
    const length = word(layout.resultKindEnd) - kindStart;
    violation.eventKind = Buffer.from(words.buffer, kindStart, length).toString('latin1');
  }
  return violation;
}

function fieldPath(
  word: (address: number) => number,
  body: Uint8Array,
  origin: number,
  names: readonly string[],
): string {
  const field = fieldNames.get(word(layout.resultField)) ?? '';
  const known = word(layout.resultWellKnown);
  if (known >= 0) return propertyPath(field, names[known] ?? '');
  const keyEnd = word(layout.resultKeyEnd);
  if (keyEnd === 0) return field;
  const start = word(layout.resultKeyStart) - origin;
  const key = keyText(body.subarray(start - 1, keyEnd - origin + 1));
  const variant = variantNames.get(word(layout.resultVariant)) ?? '';
  return `${propertyPath(field, key)}${variant === '' ? '' : `.${variant}`}`;
}

const textRules: ReadonlySet<ViolationRule> = new Set([
  'member_once',
  'members_count',
  'body_unicode',
  'int64_number',
]);

function isTextRule(rule: ViolationRule): boolean {
  return textRules.has(rule);
}

/** The text of a JSON string with its quotes. */
function keyText(token: Uint8Array): string {
  const text: unknown = JSON.parse(new TextDecoder().decode(token));
  return typeof text === 'string' ? text : '';
}
