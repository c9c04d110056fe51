// What the scanner's module says of a body that it refuses: the rule under its name, and the path to what breaks it.

import * as codes from './assembly/codes.ts';
import * as layout from './assembly/layout.ts';
import { placeInText } from './text-place.ts';

/** The rules by their numbers in scanner/codes.ts, then the one that is checked here. */
const ruleNames = [
  '',
  'body_json',
  'body_object',
  'body_unicode',
  'body_depth',
  'member_once',
  'member_spelling',
  'events_array',
  'events_count',
  'event_object',
  'required',
  'must_be_string',
  'must_be_boolean',
  'uuid',
  'timestamp',
  'time_early',
  'time_ahead',
  'cookieless_identity',
  'identity_required',
  'distinct_id_length',
  'distinct_id_prefix',
  'kind_pattern',
  'kind_length',
  'kind_prefix',
  'properties_object',
  'properties_count',
  'property_key_length',
  'auto_key_prefix',
  'custom_key_prefix',
  'property_value',
  'string_length',
  'int64',
  'int64_number',
  'finite_double',
  'well_known_required',
  'well_known_id',
  'well_known_text',
  'well_known_non_empty',
  'well_known_amount',
  'well_known_currency',
  'well_known_click_count',
  'well_known_percent',
  'well_known_score',
  'no_memory',
  'body_utf8',
] as const;

/** A rule under its name in ingest/validation/violation.ts; `no_memory` is none, but the lack of room for the body. */
export type ScannerRule = Exclude<(typeof ruleNames)[number], ''>;

const fieldNames = [
  'body',
  'events',
  '',
  'eventId',
  'kind',
  'distinctId',
  'sessionId',
  'occurTime',
  'autoProperties',
  'customProperties',
  'cookieless',
] as const;

const variantNames = [
  '',
  'stringValue',
  'intValue',
  'doubleValue',
  'boolValue',
  'timestampValue',
] as const;

/** Why a body is refused, and for what in it. */
export interface ScannerRefusal {
  kind: 'refused';
  rule: ScannerRule;
  /** Which event, from 0; -1 where none is meant. */
  index: number;
  /** The path inside the event, or inside the request where index is -1. */
  field: string;
  /** Where in the body, in bytes. */
  offset: number;
  /** The number that was sent, where the rule's text does not hold it. */
  detail?: string;
}

/** A refusal of the body as a whole. */
export function refuseBody(rule: ScannerRule): ScannerRefusal {
  return { kind: 'refused', rule, index: -1, field: 'body', offset: 0 };
}

/**
 * The refusal that the module's results, as `words` of its memory, tell of `body`, which was read at `origin`;
 * undefined where nothing is wrong. `names` are the well-known properties by their numbers.
 */
export function readRefusal(
  words: Int32Array,
  body: Uint8Array,
  origin: number,
  names: readonly string[],
): ScannerRefusal | undefined {
  const word = (address: number): number => words[address >> 2] ?? 0;
  if (word(layout.resultRule) === codes.ruleNone) return undefined;
  const rule = ruleNames[word(layout.resultRule)];
  if (rule === undefined || rule === '') throw new Error('scanner: a rule without a name');
  const index = word(layout.resultIndex);
  const offset = Math.max(0, word(layout.resultOffset) - origin);
  if (index === -1 && isTextRule(rule)) {
    return { kind: 'refused', rule, offset, ...placeInText(body, offset) };
  }
  const refusal: ScannerRefusal = {
    kind: 'refused',
    rule,
    index,
    field: fieldPath(word, body, origin, names),
    offset,
  };
  if (rule === 'events_count') refusal.detail = `got ${word(layout.resultEvents)}`;
  return refusal;
}

function fieldPath(
  word: (address: number) => number,
  body: Uint8Array,
  origin: number,
  names: readonly string[],
): string {
  const field = fieldNames[word(layout.resultField)] ?? '';
  const known = word(layout.resultWellKnown);
  if (known >= 0) return propertyPath(field, names[known] ?? '');
  const keyEnd = word(layout.resultKeyEnd);
  if (keyEnd === 0) return field;
  const start = word(layout.resultKeyStart) - origin;
  const key = keyText(body.subarray(start - 1, keyEnd - origin + 1));
  const variant = variantNames[word(layout.resultVariant)] ?? '';
  return `${propertyPath(field, key)}${variant === '' ? '' : `.${variant}`}`;
}

function isTextRule(rule: ScannerRule): boolean {
  return rule === 'member_once' || rule === 'body_unicode' || rule === 'int64_number';
}

// Enough to recognise a key; a message does not repeat what a sender may have made as long as the body.
const maxShownKeyCharacters = 64;

function propertyPath(map: string, key: string): string {
  return `${map}[${JSON.stringify(key.slice(0, maxShownKeyCharacters))}]`;
}

/** The text of a JSON string with its quotes. */
function keyText(token: Uint8Array): string {
  const text: unknown = JSON.parse(new TextDecoder().decode(token));
  return typeof text === 'string' ? text : '';
}
