// What a rule asks of a sender, in a sentence that follows the field's name; and why a stored event was not stored.

const rules: Record<string, string> = {
  required: 'is required',
  identity_required: 'is required unless cookieless is true',
  cookieless_identity: 'must be left out where cookieless is true',
  uuid: 'must be a UUID',
  timestamp: 'must be a time such as 2026-01-02T03:04:05.678Z',
  timestamp_range: 'must be a time from year 1 to 9999',
  time_early: 'must not be before the year 2000',
  occur_time_too_old:
    'is too old for a public key: look at the sender’s clock, and send older events from a server with a private key',
  time_ahead: 'must be at most 48 hours ahead: look at the sender’s clock',
  kind_pattern: 'may have letters, digits, and _ . - only',
  kind_length: 'may have at most 200 characters',
  kind_prefix: 'must not start with svc.',
  distinct_id_length: 'may have at most 512 characters',
  device_id_length: 'may have at most 36 characters',
  distinct_id_prefix: 'must not start with cookieless-',
  must_be_string: 'must be a text',
  must_be_boolean: 'must be true or false',
  property_value:
    'must be an object with one of stringValue, intValue, doubleValue, boolValue, timestampValue',
  properties_object: 'must be an object',
  properties_count: 'may hold at most 256 properties',
  property_key_length: 'must have a name of 1 to 255 characters',
  auto_key_prefix: 'must have names that start with $',
  custom_key_prefix: 'must not have names that start with $: those go into autoProperties',
  string_length: 'may have at most 1,024 characters',
  int64: 'must be a whole number, written in a string',
  int64_number: 'must be written in a string: it is too large for a number of JSON',
  finite_double: 'must be a finite number',
  events_array: 'must be a list',
  events_missing: 'is missing: send {"events": [...]}, even for one event',
  events_count: 'may hold at most 1,000 events',
  event_object: 'must be an object',
  member_once: 'is given twice',
  member_spelling: 'is given in two spellings, camelCase and snake_case',
  members_count: 'has too many members',
  body_json: 'The body is not valid JSON',
  body_utf8: 'The body is not valid UTF-8',
  body_object: 'The body must be a JSON object',
  body_unicode: 'The body has half of a surrogate pair',
  body_depth: 'The body is nested too deeply',
  body_protobuf: 'The body is not a valid protobuf message',
  body_encoding: 'The body is cut, or not in the encoding that it names',
  fields_count: 'The body has too many fields: send fewer events at once',
  body_size: 'The body is too large: send fewer events at once',
  well_known_required: 'is required for this event',
  well_known_id: 'must be a text that is not empty, or a whole number',
  well_known_text: 'must be a text for this event',
  well_known_non_empty: 'must not be empty for this event',
  well_known_amount: 'must be a number above 0',
  well_known_currency: 'must be a currency such as EUR',
  well_known_click_count: 'must be a whole number of at least 2',
  well_known_percent: 'must be a whole number from 0 to 100',
  well_known_score: 'must be a whole number from 0 to 10',
  plain_distinct_id: 'must be a text that is not empty',
  plain_value: 'must be a text, a number, true or false',
  anonymous_id_length: 'may have at most 255 characters',
  anonymous_id_prefix: 'must be empty or start with anon-',
  id_placeholder: 'must name one user, not be a placeholder such as null or anonymous',
  trait_levels: 'may nest objects and lists at most 20 levels deep',
  trait_number: 'must hold finite numbers only',
  traits_count: 'has too many traits',
  traits_object: 'must be an object',
  traits_size: 'is too large',
  identity_headers_missing: 'Cookieless events need a User-Agent header and the visitor’s address',
  compat_off:
    'Requests of this vendor’s SDK come, and the project’s settings do not name it: switch it on there',
  origin:
    'A page of another origin sent it with a public key: the project’s settings list the allowed origins',
  excluded_network: 'Events of callers in an excluded network',
  excluded_country: 'Events of callers in an excluded country',
  excluded_user_agent: 'Events of callers with an excluded user agent',
  excluded_path: 'Events of pages with an excluded path',
  excluded_age: 'Events older than the project keeps any',
  rate_limit: 'The key sent more than its limit: the sender waits and sends again',
  busy: 'The service had no room for the request: the sender sends again',
  broker_full: 'The queue is full: the sender sends again',
  disk_full: 'The disk of the service is nearly full: free some, then the sender sends again',
  broker_unavailable: 'The queue did not answer: the sender sends again',
  caller_timeout: 'The sender did not wait for the answer',
  permission_denied: 'This key may not do that: take a private key',
  protocol_version: 'The header connect-protocol-version must be 1',
  unknown_encoding: 'The body’s encoding is not known: gzip and br are',
};

/** A sentence about a refusal; the rule's code where the table has none. */
export function ruleText(rule: string, field: string): string {
  const text = rules[rule];
  if (text === undefined)
    return field ? `${field} breaks the rule ${rule}.` : `It breaks the rule ${rule}.`;
  const isSentence = /^[A-Z]/.test(text);
  return isSentence ? `${text}.` : `${field || 'A field'} ${text}.`;
}

const reasons: Record<string, string> = {
  frame_unreadable: 'What the queue held cannot be read',
  request_unreadable: 'The request cannot be read',
  event_unreadable: 'The event cannot be read',
  property_unreadable: 'A property of the event cannot be read',
};

/** Why an accepted event could not be stored. */
export function reasonText(reason: string): string {
  return reasons[reason] ?? reason;
}

/** `sdk.events.v1.EventsService/BatchCreate` is BatchCreate. */
export function methodName(method: string): string {
  return method.slice(method.lastIndexOf('/') + 1);
}
