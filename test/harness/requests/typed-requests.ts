// Seeded BatchCreate bodies in the typed shape, valid and broken: for tests that hold one reader of them against
// another.

import fc from 'fast-check';
import { wellKnownKinds } from '../../../proto/wire/well-known-kinds.ts';
import {
  anyMs,
  anything,
  autoName,
  finite,
  json,
  key,
  map,
  numberText,
  objectText,
  oddRequest,
  recentMs,
  spelled,
  text,
  timestamp,
  uuid,
} from './request-pieces.ts';

const variant = (camel: string, snake: string, value: fc.Arbitrary<string>) =>
  fc.tuple(spelled(camel, snake), value).map((member) => objectText([member]));

const validValue = fc.oneof(
  variant('stringValue', 'string_value', text.map(json)),
  variant(
    'stringValue',
    'string_value',
    fc.constantFrom(1_023, 1_024).map((n) => json('😀'.repeat(n))),
  ),
  variant(
    'intValue',
    'int_value',
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((n) => `"${n}"`),
  ),
  variant('intValue', 'int_value', fc.maxSafeInteger().map(String)),
  variant('intValue', 'int_value', fc.constantFrom('1e3', '-2.0', '12.50e1')),
  variant('doubleValue', 'double_value', finite.map(numberText)),
  variant(
    'doubleValue',
    'double_value',
    finite.map((value) => `"${numberText(value)}"`),
  ),
  variant('boolValue', 'bool_value', fc.boolean().map(String)),
  variant('timestampValue', 'timestamp_value', timestamp(anyMs)),
  fc.constant('{"stringValue":"x","unknown":"y"}'),
  fc.constant('{"boolValue":null,"stringValue":"x"}'),
);

const brokenValue = fc.constantFrom(
  ...['null', '{}', '7', '"x"', '[]', 'true', '{"stringValue":null}', '{"value":1}'],
  ...['{"stringValue":7}', '{"stringValue":{}}', '{"stringValue":"x","boolValue":true}'],
  `{"stringValue":${json('x'.repeat(1_025))}}`,
  `{"stringValue":${json('😀'.repeat(1_025))}}`,
  ...[
    '"9223372036854775808"',
    '"-9223372036854775809"',
    '"1.5"',
    '"1e3"',
    '"x"',
    '1.5',
    '1e300',
    'true',
    '[]',
  ].map((value) => `{"intValue":${value}}`),
  ...['"NaN"', '"Infinity"', '"-Infinity"', '"x"', '""', '" 1"', 'true', '{}'].map(
    (value) => `{"doubleValue":${value}}`,
  ),
  ...['"true"', '1', '0', '{}'].map((value) => `{"boolValue":${value}}`),
  ...[
    '""',
    '7',
    '"2026-01-01"',
    '"2026-01-01T00:00:00"',
    '"2026-13-01T00:00:00Z"',
    '"2026-01-01t00:00:00z"',
    '"2026-01-01T00:00:60Z"',
    '"0000-01-01T00:00:00Z"',
    '"0001-01-01T00:00:00+01:00"',
  ].map((value) => `{"timestampValue":${value}}`),
);

const brokenKey = fc.constantFrom('', '$x', 'k'.repeat(256), '😀'.repeat(256));
const wellKnownProperty = fc.oneof(
  fc.constantFrom(
    '{"stringValue":"EUR"}',
    '{"stringValue":""}',
    '{"intValue":"7"}',
    '{"doubleValue":7}',
    '{"doubleValue":0.5}',
  ),
  validValue,
);
const wellKnown = fc.constantFrom(...wellKnownKinds.entries()).chain(([kind, properties]) => {
  const names = properties.flatMap(({ snakeName, camelName }) => [snakeName, camelName]);
  const members =
    names.length === 0 ? fc.constant('{}') : map(fc.constantFrom(...names), wellKnownProperty);
  return members.map((custom): [string, string] => [json(kind), custom]);
});
const ownKind = fc
  .tuple(fc.stringMatching(/^[a-zA-Z0-9_.-]{1,20}$/).map(json), map(key, validValue))
  .map(([kind, custom]): [string, string] => [kind, custom]);

type Member = readonly [string, string];

const validEvent: fc.Arbitrary<Member[]> = fc
  .record({
    named: fc.oneof({ weight: 3, arbitrary: ownKind }, { weight: 1, arbitrary: wellKnown }),
    eventId: fc.tuple(spelled('eventId', 'event_id'), uuid),
    distinctId: fc.tuple(
      spelled('distinctId', 'distinct_id'),
      fc.constantFrom('u', 'żółw', '😀'.repeat(512)).map(json),
    ),
    sessionId: fc.tuple(spelled('sessionId', 'session_id'), uuid),
    occurTime: fc.tuple(spelled('occurTime', 'occur_time'), timestamp(recentMs)),
    auto: fc.tuple(spelled('autoProperties', 'auto_properties'), map(autoName, validValue)),
    customName: spelled('customProperties', 'custom_properties'),
    extra: fc.subarray<Member>([
      ['cookieless', 'false'],
      ['unknown', '{"a":[1,{"b":"c"}]}'],
      ['note', '"text"'],
    ]),
  })
  .map(
    ({
      named: [kind, custom],
      eventId,
      distinctId,
      sessionId,
      occurTime,
      auto,
      customName,
      extra,
    }) => [
      eventId,
      ['kind', kind] as const,
      distinctId,
      sessionId,
      occurTime,
      auto,
      [customName, custom] as const,
      ...extra,
    ],
  );

/** Replaces the value of one member, takes one away, or breaks a property. */
const brokenEvent: fc.Arbitrary<Member[]> = fc
  .record({
    members: validEvent,
    place: fc.nat(6),
    how: fc.constantFrom('replace', 'remove', 'value', 'key', 'cookieless'),
    other: anything,
    value: brokenValue,
    name: brokenKey,
  })
  .map(({ members, place, how, other, value, name }) => {
    const changed = [...members];
    const [target] = changed[place] ?? ['note'];
    if (how === 'remove') changed.splice(place, 1);
    if (how === 'replace') changed[place] = [target, other];
    if (how === 'value') changed[6] = ['customProperties', objectText([['k', value]])];
    if (how === 'key')
      changed[6] = ['customProperties', objectText([[name, '{"boolValue":true}']])];
    if (how === 'cookieless') changed.push(['note2', other]);
    if (how === 'cookieless')
      return [
        ...changed.filter(([field]) => field !== 'cookieless'),
        ['cookieless', 'true'] as const,
      ];
    return changed;
  });

const requestOf = (event: fc.Arbitrary<Member[]>): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.array(event, { maxLength: 4 }),
      fc.array(validEvent, { maxLength: 1 }),
      fc.constantFrom('', ' ', '\n\t'),
    )
    .map(([events, more, space]) => {
      const list = [...events, ...more].map(objectText).join(`,${space}`);
      return `{${space}"events"${space}:[${list}]${space}}`;
    });

/** Bodies of sdk.events.v1.BatchCreateRequest. */
export const typedRequest: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: requestOf(validEvent) },
  { weight: 8, arbitrary: requestOf(brokenEvent) },
  { weight: 1, arbitrary: oddRequest },
);
