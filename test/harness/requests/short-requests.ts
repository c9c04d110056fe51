// Seeded BatchCreate bodies in the short shape, valid and broken: for tests that hold one reader of them against
// another.

import fc from 'fast-check';
import {
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

// These are refused as rounded where they have no exponent, and JSON.stringify writes none below 1e21.
const isRoundedInteger = (value: number): boolean =>
  Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21;

const shortValue = fc.oneof(
  text.map(json),
  fc.maxSafeInteger().map(String),
  finite.filter((value) => !isRoundedInteger(value)).map(numberText),
  fc.boolean().map(String),
  fc.constantFrom('null', '1.0', '1e3'),
);
const brokenShortValue = fc.constantFrom('[]', '{}', '[1]', json('x'.repeat(1_025)), '{"a":1}');

const shortEvent = fc
  .record({
    name: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom('"click"', '"a.b"') },
      { weight: 1, arbitrary: anything },
    ),
    userName: spelled('distinctId', 'distinct_id'),
    user: fc.oneof(
      { weight: 8, arbitrary: fc.constant('"u"') },
      { weight: 1, arbitrary: anything },
    ),
    properties: map(
      fc.oneof(
        key.filter((name) => name !== '__proto__'),
        autoName,
      ),
      fc.oneof({ weight: 12, arbitrary: shortValue }, { weight: 1, arbitrary: brokenShortValue }),
    ),
    timestamp: fc.oneof(
      { weight: 6, arbitrary: timestamp(recentMs) },
      { weight: 1, arbitrary: anything },
    ),
    session: fc.tuple(spelled('sessionId', 'session_id'), fc.oneof(uuid, anything)),
  })
  .map(({ name, userName, user, properties, timestamp: at, session }) =>
    objectText([
      ['name', name],
      ['timestamp', at],
      session,
      [
        'properties',
        properties === '{}'
          ? objectText([[userName, user]])
          : properties.replace('{', `{"${userName}":${user},`),
      ],
    ]),
  );

/** Bodies of events.v1.BatchCreateRequest. */
export const shortRequest: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .array(shortEvent, { maxLength: 3 })
      .map((events) => `{"events":[${events.join(',')}]}`),
  },
  { weight: 1, arbitrary: oddRequest },
);
