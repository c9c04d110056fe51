// What a refused request is told: every rule with its text, and where it was broken. A violation never holds a value
// of the request, so that it can be logged and counted.

import {
  maxAnonymousIdCodePoints,
  maxDeviceIdCharacters,
  maxDistinctIdCodePoints,
  maxEventsPerRequest,
  maxKindCharacters,
  maxPropertiesPerMap,
  maxPropertyKeyCodePoints,
  maxStringValueCodePoints,
  maxTraits,
  maxTraitsBytes,
} from '../../platform/limits.ts';

/** The name of each rule is what metrics count it under. */
export const ruleTexts = {
  body_size: 'must not be larger than the limit',
  body_encoding: 'must be whole and valid in its content encoding',
  body_utf8: 'must be valid UTF-8',
  body_json: 'must be valid JSON',
  body_depth: 'must not be nested deeper than 100 levels',
  body_protobuf: 'must be a valid protobuf message',
  body_object: 'must be a JSON object',
  body_unicode: 'must not escape half of a surrogate pair',
  member_once: 'must not be given twice',
  member_spelling: 'must be given in one spelling, not in snake_case and camelCase at once',
  events_array: 'must be an array',
  events_count: `must hold at most ${maxEventsPerRequest} events`,
  event_object: 'must be an object',
  required: 'is required',
  must_be_string: 'must be a string',
  must_be_boolean: 'must be a boolean',
  uuid: 'must be a UUID',
  timestamp_range: 'must hold timestamps from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z only',
  timestamp: 'must be an RFC 3339 timestamp such as 2026-01-02T03:04:05.678Z',
  time_early: 'must not be before 2000-01-01T00:00:00Z',
  time_ahead: 'must be at most 48 hours after receipt',
  cookieless_identity: 'must be omitted when cookieless is true',
  identity_required: 'is required unless cookieless is true',
  distinct_id_length: `must have at most ${maxDistinctIdCodePoints} code points`,
  distinct_id_prefix: 'must not start with cookieless-',
  kind_pattern: 'must match ^[a-zA-Z0-9_.-]+$',
  kind_length: `must have at most ${maxKindCharacters} characters`,
  kind_prefix: 'must not start with svc.',
  properties_object: 'must be an object',
  properties_count: `must hold at most ${maxPropertiesPerMap} properties`,
  property_key_length: `must have a key of 1 to ${maxPropertyKeyCodePoints} code points`,
  auto_key_prefix: 'must have a key that starts with $',
  custom_key_prefix: 'must not have a key that starts with $',
  property_value:
    'must be an object with exactly one of stringValue, intValue, doubleValue, boolValue, timestampValue',
  string_length: `must have at most ${maxStringValueCodePoints} code points`,
  int64: 'must be a 64-bit integer, written in decimal in a string',
  int64_number: 'must be a string where it is no integer of at most 2^53 - 1 in magnitude',
  finite_double: 'must be a finite number',
  plain_value: 'must be a string, a number or a boolean',
  plain_distinct_id: 'must be a non-empty string',
  anonymous_id_prefix: 'must be empty or start with anon-',
  anonymous_id_length: `must have at most ${maxAnonymousIdCodePoints} characters`,
  device_id_length: `must have at most ${maxDeviceIdCharacters} characters`,
  traits_object: 'must be an object',
  traits_count: `must hold at most ${maxTraits} keys`,
  traits_size: `must take at most ${maxTraitsBytes} bytes as JSON`,
  trait_number: 'must hold finite numbers only',
  well_known_required: 'is required by this kind of event',
  well_known_id: 'must be a non-empty string or an integer for this kind of event',
  well_known_text: 'must be a string for this kind of event',
  well_known_non_empty: 'must be a non-empty string for this kind of event',
  well_known_amount: 'must be a number greater than 0 for this kind of event',
  well_known_currency: 'must match ^[A-Z]{3}$ for this kind of event',
  well_known_click_count: 'must be an integer of at least 2 for this kind of event',
  well_known_percent: 'must be an integer from 0 to 100 for this kind of event',
  well_known_score: 'must be an integer from 0 to 10 for this kind of event',
} as const;

export type Rule = keyof typeof ruleTexts;

export interface Violation {
  /** Which event, from 0; -1 where no event is meant. */
  index: number;
  /** The field's path inside the event, or inside the request where index is -1. */
  field: string;
  rule: Rule;
  /** The limit or the number that was sent, where the rule's text does not hold it. */
  detail?: string;
}

/** `events[3].kind: must match ^[a-zA-Z0-9_.-]+$` */
export function describeViolation({ index, field, rule, detail }: Violation): string {
  const event = index < 0 ? '' : `events[${index}]`;
  const dot = event !== '' && field !== '' ? '.' : '';
  const end = detail === undefined ? '' : `, ${detail}`;
  return `${event}${dot}${field}: ${ruleTexts[rule]}${end}`;
}

// Enough to recognise a key; a message does not repeat what a sender may have made as long as the body.
const maxShownKeyCharacters = 64;

/** `customProperties["plan"]`, for `field`. */
export function propertyPath(map: string, key: string): string {
  return `${map}[${JSON.stringify(shown(key))}]`;
}

export function shown(name: string): string {
  return name.slice(0, maxShownKeyCharacters);
}
