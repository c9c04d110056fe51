// The one table of the rules that a request to ingest can break: name, text for the caller, home, and code in the
// scanner. The scanner's constants (`npm run generate:rules`), its wrapper's names and ingest's texts are derived from
// it. It checks nothing.

/** Bounds that texts name, under their names in platform/limits.ts. */
interface RuleBounds {
  readonly maxAnonymousIdCodePoints: number;
  readonly maxBodyDepth: number;
  readonly maxDeviceIdCharacters: number;
  readonly maxDistinctIdCodePoints: number;
  readonly maxEventsPerRequest: number;
  readonly maxFieldsPerBody: number;
  readonly maxKindCharacters: number;
  readonly maxMembersPerObject: number;
  readonly maxPropertiesPerMap: number;
  readonly maxPropertyKeyCodePoints: number;
  readonly maxStringValueCodePoints: number;
  readonly maxTraitLevels: number;
  readonly maxTraits: number;
  readonly maxTraitsBytes: number;
}

/** Follows the name of a field, as in `events[3].kind: is required`. */
type Text = string | ((bounds: RuleBounds) => string);

/**
 * A rule's home is where it is checked. No rule is the scanner's alone, because the reference path is its oracle.
 * - `both`: by the scanner, under `code`, and by the reference path, for bodies of JSON in the typed shape. Only
 *   body_utf8 is checked outside the scanner's module, by its wrapper.
 * - `binary only`: by the readers of binary protobuf; a JSON body cannot break it.
 * - `reference`: by the reference path alone, for the short shape.
 * - `transport`: where any body is received or queued.
 * - `identity`: by Identify and Alias, which share some rules of `both`.
 */
type RuleEntry =
  | { readonly home: 'both'; readonly code: number; readonly text: Text }
  | {
      readonly home: 'binary only' | 'reference' | 'transport' | 'identity';
      readonly text: Text;
    };

type RuleHome = RuleEntry['home'];

/** Metrics count refusals under a rule's name, so names stay. A code may change: no frame and no table holds one. */
export const rules = {
  // The request, the fields of an event, its properties, and the properties that a well-known kind needs.
  body_utf8: { home: 'both', code: 44, text: 'must be valid UTF-8' },
  body_json: { home: 'both', code: 1, text: 'must be valid JSON' },
  body_object: { home: 'both', code: 2, text: 'must be a JSON object' },
  body_unicode: { home: 'both', code: 3, text: 'must not escape half of a surrogate pair' },
  body_depth: {
    home: 'both',
    code: 4,
    text: ({ maxBodyDepth }) => `must not be nested deeper than ${maxBodyDepth} levels`,
  },
  member_once: { home: 'both', code: 5, text: 'must not be given twice' },
  members_count: {
    home: 'both',
    code: 45,
    text: ({ maxMembersPerObject }) =>
      `must be among the first ${maxMembersPerObject} members of its object`,
  },
  member_spelling: {
    home: 'both',
    code: 6,
    text: 'must be given in one spelling, not in snake_case and camelCase at once',
  },
  events_array: { home: 'both', code: 7, text: 'must be an array' },
  events_count: {
    home: 'both',
    code: 8,
    text: ({ maxEventsPerRequest }) => `must hold at most ${maxEventsPerRequest} events`,
  },
  events_missing: {
    home: 'both',
    code: 46,
    text: 'is missing: send {"events": [...]}, even for one event',
  },
  event_object: { home: 'both', code: 9, text: 'must be an object' },
  required: { home: 'both', code: 10, text: 'is required' },
  must_be_string: { home: 'both', code: 11, text: 'must be a string' },
  must_be_boolean: { home: 'both', code: 12, text: 'must be a boolean' },
  uuid: { home: 'both', code: 13, text: 'must be a UUID' },
  timestamp: {
    home: 'both',
    code: 14,
    text: 'must be an RFC 3339 timestamp such as 2026-01-02T03:04:05.678Z',
  },
  time_early: { home: 'both', code: 15, text: 'must not be before 2000-01-01T00:00:00Z' },
  time_ahead: { home: 'both', code: 16, text: 'must be at most 48 hours after receipt' },
  // With the bound's number as its detail, because the bound is a setting.
  occur_time_too_old: {
    home: 'both',
    code: 47,
    text: 'must not be too long before receipt with a public key',
  },
  cookieless_identity: { home: 'both', code: 17, text: 'must be omitted when cookieless is true' },
  identity_required: { home: 'both', code: 18, text: 'is required unless cookieless is true' },
  distinct_id_length: {
    home: 'both',
    code: 19,
    text: ({ maxDistinctIdCodePoints }) =>
      `must have at most ${maxDistinctIdCodePoints} code points`,
  },
  distinct_id_prefix: { home: 'both', code: 20, text: 'must not start with cookieless-' },
  kind_pattern: { home: 'both', code: 21, text: 'must match ^[a-zA-Z0-9_.-]+$' },
  kind_length: {
    home: 'both',
    code: 22,
    text: ({ maxKindCharacters }) => `must have at most ${maxKindCharacters} characters`,
  },
  kind_prefix: { home: 'both', code: 23, text: 'must not start with svc.' },
  properties_object: { home: 'both', code: 24, text: 'must be an object' },
  properties_count: {
    home: 'both',
    code: 25,
    text: ({ maxPropertiesPerMap }) => `must hold at most ${maxPropertiesPerMap} properties`,
  },
  property_key_length: {
    home: 'both',
    code: 26,
    text: ({ maxPropertyKeyCodePoints }) =>
      `must have a key of 1 to ${maxPropertyKeyCodePoints} code points`,
  },
  auto_key_prefix: { home: 'both', code: 27, text: 'must have a key that starts with $' },
  custom_key_prefix: { home: 'both', code: 28, text: 'must not have a key that starts with $' },
  property_value: {
    home: 'both',
    code: 29,
    text: 'must be an object with exactly one of stringValue, intValue, doubleValue, boolValue, timestampValue',
  },
  string_length: {
    home: 'both',
    code: 30,
    text: ({ maxStringValueCodePoints }) =>
      `must have at most ${maxStringValueCodePoints} code points`,
  },
  int64: {
    home: 'both',
    code: 31,
    text: 'must be a 64-bit integer, written in decimal in a string',
  },
  int64_number: {
    home: 'both',
    code: 32,
    text: 'must be a string where it is no integer of at most 2^53 - 1 in magnitude',
  },
  finite_double: { home: 'both', code: 33, text: 'must be a finite number' },
  well_known_required: { home: 'both', code: 34, text: 'is required by this kind of event' },
  well_known_id: {
    home: 'both',
    code: 35,
    text: 'must be a non-empty string or an integer for this kind of event',
  },
  well_known_text: { home: 'both', code: 36, text: 'must be a string for this kind of event' },
  well_known_non_empty: {
    home: 'both',
    code: 37,
    text: 'must be a non-empty string for this kind of event',
  },
  well_known_amount: {
    home: 'both',
    code: 38,
    text: 'must be a number greater than 0 for this kind of event',
  },
  well_known_currency: {
    home: 'both',
    code: 39,
    text: 'must match ^[A-Z]{3}$ for this kind of event',
  },
  well_known_click_count: {
    home: 'both',
    code: 40,
    text: 'must be an integer of at least 2 for this kind of event',
  },
  well_known_percent: {
    home: 'both',
    code: 41,
    text: 'must be an integer from 0 to 100 for this kind of event',
  },
  well_known_score: {
    home: 'both',
    code: 42,
    text: 'must be an integer from 0 to 10 for this kind of event',
  },
  body_protobuf: { home: 'binary only', text: 'must be a valid protobuf message' },
  fields_count: {
    home: 'binary only',
    text: ({ maxFieldsPerBody }) => `must hold at most ${maxFieldsPerBody} protobuf fields`,
  },
  timestamp_range: {
    home: 'binary only',
    text: 'must hold timestamps from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z only',
  },
  // The short shape. Both names are older than its name, and stay: metrics count refusals under them.
  plain_distinct_id: { home: 'reference', text: 'must be a non-empty string' },
  plain_value: { home: 'reference', text: 'must be a string, a number or a boolean' },
  body_encoding: { home: 'transport', text: 'must be whole and valid in its content encoding' },
  body_size: { home: 'transport', text: 'must not be larger than the limit' },
  anonymous_id_length: {
    home: 'identity',
    text: ({ maxAnonymousIdCodePoints }) =>
      `must have at most ${maxAnonymousIdCodePoints} characters`,
  },
  anonymous_id_prefix: { home: 'identity', text: 'must be empty or start with anon-' },
  device_id_length: {
    home: 'identity',
    text: ({ maxDeviceIdCharacters }) => `must have at most ${maxDeviceIdCharacters} characters`,
  },
  id_placeholder: {
    home: 'identity',
    text: 'must name one person: it is a placeholder, which would merge strangers',
  },
  trait_levels: {
    home: 'identity',
    text: ({ maxTraitLevels }) =>
      `must nest objects and lists at most ${maxTraitLevels} levels deep`,
  },
  trait_number: { home: 'identity', text: 'must hold finite numbers only' },
  traits_count: {
    home: 'identity',
    text: ({ maxTraits }) => `must hold at most ${maxTraits} keys`,
  },
  traits_object: { home: 'identity', text: 'must be an object' },
  traits_size: {
    home: 'identity',
    text: ({ maxTraitsBytes }) => `must take at most ${maxTraitsBytes} bytes as JSON`,
  },
} as const satisfies Record<string, RuleEntry>;

export type Rule = keyof typeof rules;

export type RuleOf<Home extends RuleHome> = {
  [Name in Rule]: (typeof rules)[Name]['home'] extends Home ? Name : never;
}[Rule];

/** The rules that the scanner checks. */
export type ScannerRule = RuleOf<'both'>;

/** The scanner's codes for no broken rule, and for memory that cannot grow: such a body is neither right nor wrong. */
export const noRuleCode = 0;
export const noMemoryCode = 43;

/** In the table's order. */
const allRules: readonly Rule[] = Object.keys(rules).filter(isRule);

function isRule(name: string): name is Rule {
  return Object.hasOwn(rules, name);
}

/** The scanner's rules by their codes. */
export const rulesByCode: ReadonlyMap<number, ScannerRule> = new Map(
  rulesOf('both').map((rule) => [rules[rule].code, rule]),
);

/** The rules of one home, in the table's order. */
export function rulesOf<Home extends RuleHome>(home: Home): RuleOf<Home>[] {
  return allRules.filter((rule): rule is RuleOf<Home> => rules[rule].home === home);
}

export function ruleText(rule: Rule, bounds: RuleBounds): string {
  const { text }: RuleEntry = rules[rule];
  return typeof text === 'string' ? text : text(bounds);
}
