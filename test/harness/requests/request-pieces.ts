// Seeded pieces of BatchCreate bodies as JSON text, shared by both shapes: texts, keys, times, objects, and values and
// bodies that no shape takes. Text, not values, so that members can have every spelling, order and escape.

import fc from 'fast-check';

/** An object as JSON text. */
export const objectText = (members: readonly (readonly [string, string])[]): string =>
  `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;

export const json = (value: unknown): string => JSON.stringify(value);
const surrogates = { first: 0xd800, count: 0x800 };
/**
 * Any Unicode scalar value. The unit `binary` of fast-check is the same, but builds a table of a million characters,
 * which costs each test process a second.
 */
export const character = fc
  .nat({ max: 0x10ffff - surrogates.count })
  .map((at) => String.fromCodePoint(at < surrogates.first ? at : at + surrogates.count));
export const text = fc.string({ unit: character, maxLength: 12 });
export const uuid = fc.uuid().map(json);

/** A double as a JSON number; JSON.stringify would forget the sign of zero. */
export const numberText = (value: number): string => (Object.is(value, -0) ? '-0' : String(value));
export const finite = fc.double({ noNaN: true, noDefaultInfinity: true });

/** Times that an event may name as its own. */
export const recentMs = { min: Date.UTC(2000, 0, 1), max: Date.UTC(2026, 0, 1) };
/** The years 1 to 9999: every time that a Timestamp can hold. */
export const anyMs = { min: -62_135_596_800_000, max: 253_402_300_799_000 };
/** Timestamps with every spelling of a fraction and of UTC. */
export const timestamp = (range: { min: number; max: number }) =>
  fc
    .tuple(fc.integer(range), fc.constantFrom('Z', '', '1Z', '123456789Z', '+00:00', '-00:00'))
    .map(([ms, end]) => {
      const seconds = new Date(ms).toISOString().slice(0, 19);
      return json(/^\d/.test(end) ? `${seconds}.${end}` : seconds + (end === '' ? '.5Z' : end));
    });

/** A member's name in either of its spellings. */
export const spelled = (camel: string, snake: string) => fc.constantFrom(camel, snake);

/** Names of custom properties that every rule allows. */
export const key = fc.oneof(
  { weight: 8, arbitrary: text.filter((name) => name !== '' && !name.startsWith('$')) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '__proto__',
      'constructor',
      'a.b',
      '"',
      'k'.repeat(255),
      '😀'.repeat(255),
    ),
  },
);

/** Names of automatic properties, known or not, and two that only the server may set. */
export const autoName = fc.constantFrom(
  '$url',
  '$ip',
  '$bot_score',
  '$verified_bot',
  '$',
  '$a b',
  '$żółw',
);

/** Objects of up to five members. */
export function map(
  keys: fc.Arbitrary<string>,
  values: fc.Arbitrary<string>,
): fc.Arbitrary<string> {
  return fc
    .uniqueArray(fc.tuple(keys, values), { selector: ([name]) => name, maxLength: 5 })
    .map(objectText);
}

/** Values that are wrong in most places. */
export const anything = fc.constantFrom(
  'null',
  '""',
  '7',
  'true',
  '[]',
  '{}',
  '"x"',
  '"cookieless-1"',
  '"svc.a"',
  '"a b"',
  '"0001-01-01T00:00:00Z"',
  '"2999-01-01T00:00:00Z"',
  `"${'a'.repeat(513)}"`,
);

/** Bodies that are no request in either shape, or an empty one. */
export const oddRequest = fc.constantFrom(
  ...[
    '{}',
    '{"events":null}',
    '{"events":[]}',
    '{"unknown":[1,2]}',
    '',
    ' ',
    'null',
    '[]',
    '7',
    '"x"',
    '{',
    '{"events":[}',
    '{"events":[]}x',
  ],
  ...['{"events":{}}', '{"events":7}', '{"events":[null]}', '{"events":[[]]}', '{"events":["x"]}'],
  `{"events":[${'{},'.repeat(1_000)}{}]}`,
);
