import { describe, expect, it } from 'vitest';
import { dayMs } from '../../../platform/clock.ts';
import {
  auto,
  bodyText,
  context,
  custom,
  eventId,
  eventText,
  many,
  receiveTimeMs,
  sessionId,
  value,
  wellKnown,
} from '../../../test/harness/requests/typed-bodies.ts';
import { describeViolation } from '../violation.ts';
import { type ReadBody, readJsonBody } from './reference-body.ts';
import { scanJsonBody } from './scan-body.ts';

function verdictOf(result: ReadBody): string {
  return result.kind === 'valid' ? 'valid' : describeViolation(result.violation);
}

/** The verdict of both readers, which must agree. */
function verdict(text: string | Buffer): string {
  const [scanned = '', reference = ''] = [scanJsonBody, readJsonBody].map((read) =>
    verdictOf(read(Buffer.from(text), context)),
  );
  expect(scanned).toBe(reference);
  return scanned;
}

const timestamp = 'must be an RFC 3339 timestamp such as 2026-01-02T03:04:05.678Z';
const oneSpelling = 'must be given in one spelling, not in snake_case and camelCase at once';
const exactNumber = 'must be a string where it is no integer of at most 2^53 - 1 in magnitude';
const oneVariant =
  'must be an object with exactly one of ' +
  'stringValue, intValue, doubleValue, boolValue, timestampValue';

describe('a violation names its place and its rule', () => {
  const rows: [string, string][] = [
    // The request
    ['', 'body: must be valid JSON, the text ends too early, at byte 0'],
    ['{"events":}', 'body: must be valid JSON, the fault is at byte 10, counted from 0'],
    ['null', 'body: must be a JSON object'],
    ['[]', 'body: must be a JSON object'],
    ['"events"', 'body: must be a JSON object'],
    ['{"events":{}}', 'events: must be an array'],
    ['{"events":"x"}', 'events: must be an array'],
    [bodyText(many(1_001, () => '0')), 'events: must hold at most 1000 events, got 1001'],
    ['{"events":[],"events":[]}', 'events: must not be given twice'],
    ['{"a":1,"a":2}', 'a: must not be given twice'],
    ['{"a":{"b":1,"b":2}}', 'a: must not be given twice'],
    ['{"a":"\\ud800"}', 'a: must not escape half of a surrogate pair'],
    ['["\\udc00\\ud800"]', 'body: must not escape half of a surrogate pair'],
    ['["x"]', 'body: must be a JSON object'],
    [
      `{"a":${'['.repeat(100)}${']'.repeat(100)}}`,
      'body: must not be nested deeper than 100 levels',
    ],
    // An event as a whole
    [bodyText('null'), 'events[0]: must be an object'],
    [bodyText(eventText(), '7'), 'events[1]: must be an object'],
    [bodyText(eventText(), '[]'), 'events[1]: must be an object'],
    [bodyText(eventText({ event_id: `"${eventId}"` })), `events[0].eventId: ${oneSpelling}`],
    [bodyText(eventText({ distinct_id: 'null' })), `events[0].distinctId: ${oneSpelling}`],
    [
      bodyText(eventText(), `${eventText().slice(0, -1)},"kind":"x"}`),
      'events[1].kind: must not be given twice',
    ],
    // eventId
    [bodyText(eventText({ eventId: undefined })), 'events[0].eventId: is required'],
    [bodyText(eventText({ eventId: 'null' })), 'events[0].eventId: is required'],
    [bodyText(eventText({ eventId: '""' })), 'events[0].eventId: is required'],
    [bodyText(eventText({ eventId: '7' })), 'events[0].eventId: must be a string'],
    [bodyText(eventText({ eventId: '"7"' })), 'events[0].eventId: must be a UUID'],
    [bodyText(eventText({ eventId: `"{${eventId}}"` })), 'events[0].eventId: must be a UUID'],
    // kind
    [bodyText(eventText({ kind: undefined })), 'events[0].kind: is required'],
    [bodyText(eventText({ kind: '""' })), 'events[0].kind: is required'],
    [bodyText(eventText({ kind: '1' })), 'events[0].kind: must be a string'],
    [bodyText(eventText({ kind: '"a b"' })), 'events[0].kind: must match ^[a-zA-Z0-9_.-]+$'],
    [bodyText(eventText({ kind: '"a\\n"' })), 'events[0].kind: must match ^[a-zA-Z0-9_.-]+$'],
    [bodyText(eventText({ kind: '"żółw"' })), 'events[0].kind: must match ^[a-zA-Z0-9_.-]+$'],
    [bodyText(eventText({ kind: '"svc.x"' })), 'events[0].kind: must not start with svc.'],
    [
      bodyText(eventText({ kind: `"${'a'.repeat(201)}"` })),
      'events[0].kind: must have at most 200 characters',
    ],
    // occurTime
    [bodyText(eventText({ occurTime: undefined })), 'events[0].occurTime: is required'],
    [bodyText(eventText({ occurTime: '1700000000' })), `events[0].occurTime: ${timestamp}`],
    [bodyText(eventText({ occurTime: '""' })), `events[0].occurTime: ${timestamp}`],
    [
      bodyText(eventText({ occurTime: '"2026-02-30T00:00:00Z"' })),
      `events[0].occurTime: ${timestamp}`,
    ],
    [
      bodyText(eventText({ occurTime: '"1999-12-31T23:59:59.999Z"' })),
      'events[0].occurTime: must not be before 2000-01-01T00:00:00Z',
    ],
    [
      bodyText(eventText({ occurTime: '"2026-11-22T12:00:00.001Z"' })),
      'events[0].occurTime: must be at most 48 hours after receipt',
    ],
    [
      bodyText(eventText({ occurTime: '"2026-10-21T11:59:59.999Z"' })),
      'events[0].occurTime: must not be too long before receipt with a public key, at most 30 days: ' +
        "send older events from a server with a private key, and check the device's clock",
    ],
    // Identity
    [
      bodyText(eventText({ distinctId: undefined })),
      'events[0].distinctId: is required unless cookieless is true',
    ],
    [
      bodyText(eventText({ distinctId: '""', cookieless: 'false' })),
      'events[0].distinctId: is required unless cookieless is true',
    ],
    [bodyText(eventText({ distinctId: '7' })), 'events[0].distinctId: must be a string'],
    [
      bodyText(eventText({ distinctId: '"cookieless-x"' })),
      'events[0].distinctId: must not start with cookieless-',
    ],
    [
      bodyText(eventText({ distinctId: `"${'a'.repeat(513)}"` })),
      'events[0].distinctId: must have at most 512 code points',
    ],
    [
      bodyText(eventText({ distinctId: `"${'😀'.repeat(513)}"` })),
      'events[0].distinctId: must have at most 512 code points',
    ],
    [
      bodyText(eventText({ sessionId: undefined })),
      'events[0].sessionId: is required unless cookieless is true',
    ],
    [bodyText(eventText({ sessionId: '""' })), 'events[0].sessionId: must be a UUID'],
    [bodyText(eventText({ sessionId: 'true' })), 'events[0].sessionId: must be a string'],
    [bodyText(eventText({ cookieless: '"true"' })), 'events[0].cookieless: must be a boolean'],
    [bodyText(eventText({ cookieless: '1' })), 'events[0].cookieless: must be a boolean'],
    [
      bodyText(eventText({ cookieless: 'true' })),
      'events[0].distinctId: must be omitted when cookieless is true',
    ],
    [
      bodyText(eventText({ cookieless: 'true', distinctId: undefined })),
      'events[0].sessionId: must be omitted when cookieless is true',
    ],
    [
      bodyText(eventText({ cookieless: 'true', distinctId: undefined, sessionId: '""' })),
      'events[0].sessionId: must be a UUID',
    ],
    // Properties
    [bodyText(eventText({ autoProperties: '[]' })), 'events[0].autoProperties: must be an object'],
    [
      bodyText(eventText({ customProperties: '"x"' })),
      'events[0].customProperties: must be an object',
    ],
    [
      bodyText(custom(many(257, (index) => `"k${index}":{"boolValue":true}`))),
      'events[0].customProperties: must hold at most 256 properties',
    ],
    [
      bodyText(auto(many(257, (index) => `"$k${index}":{"boolValue":true}`))),
      'events[0].autoProperties: must hold at most 256 properties',
    ],
    [
      bodyText(auto('"plan":{"boolValue":true}')),
      'events[0].autoProperties["plan"]: must have a key that starts with $',
    ],
    [
      bodyText(custom('"$plan":{"boolValue":true}')),
      'events[0].customProperties["$plan"]: must not have a key that starts with $',
    ],
    [
      bodyText(custom('"":{"boolValue":true}')),
      'events[0].customProperties[""]: must have a key of 1 to 255 code points',
    ],
    [
      bodyText(custom(`"${'k'.repeat(256)}":{"boolValue":true}`)),
      `events[0].customProperties["${'k'.repeat(64)}"]: must have a key of 1 to 255 code points`,
    ],
    [
      bodyText(custom('"k":{"boolValue":true},"k":{"boolValue":true}')),
      'events[0].customProperties["k"]: must not be given twice',
    ],
    [
      bodyText(custom('"k":{"boolValue":true},"\\u006b":{"boolValue":true}')),
      'events[0].customProperties["k"]: must not be given twice',
    ],
    ...['null', '{}', '7', '"x"', '[]', '{"stringValue":null}', '{"string":"x"}'].map(
      (text): [string, string] => [
        bodyText(value(text)),
        `events[0].customProperties["k"]: ${oneVariant}`,
      ],
    ),
    [
      bodyText(value('{"stringValue":"x","boolValue":true}')),
      `events[0].customProperties["k"]: ${oneVariant}`,
    ],
    [
      bodyText(value('{"stringValue":"x","string_value":"x"}')),
      `events[0].customProperties["k"]: ${oneVariant}`,
    ],
    [
      bodyText(value('{"stringValue":"x","stringValue":"y"}')),
      'events[0].customProperties["k"].stringValue: must not be given twice',
    ],
    [
      bodyText(value('{"stringValue":7}')),
      'events[0].customProperties["k"].stringValue: must be a string',
    ],
    [
      bodyText(value(`{"stringValue":"${'a'.repeat(1_025)}"}`)),
      'events[0].customProperties["k"].stringValue: must have at most 1024 code points',
    ],
    [
      bodyText(value(`{"stringValue":"${'😀'.repeat(1_025)}"}`)),
      'events[0].customProperties["k"].stringValue: must have at most 1024 code points',
    ],
    [
      bodyText(value('{"stringValue":"\\ud83d"}')),
      'events[0].customProperties["k"].stringValue: must not escape half of a surrogate pair',
    ],
    ...[
      '""',
      '" 1"',
      '"1 "',
      '"+1"',
      '"01"',
      '"-"',
      '"0x10"',
      '"1.0"',
      '"1e3"',
      '"9223372036854775808"',
      '"-9223372036854775809"',
      '"92233720368547758070"',
      '"１"',
      'true',
      '{}',
    ].map((text): [string, string] => [
      bodyText(value(`{"intValue":${text}}`)),
      'events[0].customProperties["k"].intValue: must be a 64-bit integer, written in decimal in a string',
    ]),
    ...[
      '1.5',
      '1e-1',
      '9007199254740992',
      '9007199254740993',
      '-9007199254740992',
      '9007199254740991.4',
      '1.00000000000000000000001',
      '1e16',
      '1e999',
    ].map((text): [string, string] => [
      bodyText(value(`{"intValue":${text}}`)),
      `events[0].customProperties["k"].intValue: ${exactNumber}`,
    ]),
    ...[
      '"NaN"',
      '"Infinity"',
      '"-Infinity"',
      '1e999',
      '-1e999',
      '"1e999"',
      '"0x1"',
      '" 1"',
      '""',
      'true',
    ].map((text): [string, string] => [
      bodyText(value(`{"doubleValue":${text}}`)),
      'events[0].customProperties["k"].doubleValue: must be a finite number',
    ]),
    [
      bodyText(value('{"boolValue":"true"}')),
      'events[0].customProperties["k"].boolValue: must be a boolean',
    ],
    ...['1700000000000', '""', '"2026-11-20"', '"2026-11-20T24:00:00Z"'].map(
      (text): [string, string] => [
        bodyText(value(`{"timestampValue":${text}}`)),
        `events[0].customProperties["k"].timestampValue: ${timestamp}`,
      ],
    ),
    // Well-known events
    [
      bodyText(wellKnown('screen_view', '')),
      'events[0].customProperties["screen_name"]: is required by this kind of event',
    ],
    [
      bodyText(
        wellKnown(
          'screen_view',
          '"screen_name":{"stringValue":"x"},"screenName":{"stringValue":"x"}',
        ),
      ),
      `events[0].customProperties["screenName"]: ${oneSpelling}`,
    ],
    [
      bodyText(wellKnown('app_update', '"appVersion":{"stringValue":""}')),
      'events[0].customProperties["appVersion"]: must be a non-empty string for this kind of event',
    ],
    [
      bodyText(wellKnown('rage_click', '"click_count":{"intValue":"1"}')),
      'events[0].customProperties["click_count"]: must be an integer of at least 2 for this kind of event',
    ],
    ...[
      '{"intValue":"-1"}',
      '{"intValue":"101"}',
      '{"doubleValue":50.5}',
      '{"stringValue":"50"}',
    ].map((text): [string, string] => [
      bodyText(wellKnown('scroll', `"percent":${text}`)),
      'events[0].customProperties["percent"]: must be an integer from 0 to 100 for this kind of event',
    ]),
    [
      bodyText(wellKnown('nps_submitted', '"score":{"intValue":"11"}')),
      'events[0].customProperties["score"]: must be an integer from 0 to 10 for this kind of event',
    ],
    ...['{"intValue":"0"}', '{"doubleValue":-0.01}', '{"stringValue":"5"}'].map(
      (text): [string, string] => [
        bodyText(wellKnown('purchase', `"amount":${text}`)),
        'events[0].customProperties["amount"]: must be a number greater than 0 for this kind of event',
      ],
    ),
    ...['"eur"', '"EURO"', '""'].map((text): [string, string] => [
      bodyText(wellKnown('purchase', `"currency":{"stringValue":${text}}`)),
      'events[0].customProperties["currency"]: must match ^[A-Z]{3}$ for this kind of event',
    ]),
    ...['{"stringValue":""}', '{"doubleValue":1}', '{"boolValue":true}'].map(
      (text): [string, string] => [
        bodyText(wellKnown('order_refunded', `"orderId":${text}`)),
        'events[0].customProperties["orderId"]: must be a non-empty string or an integer for this kind of event',
      ],
    ),
    [
      bodyText(wellKnown('search', '"query":{"intValue":"1"}')),
      'events[0].customProperties["query"]: must be a string for this kind of event',
    ],
    [
      bodyText(wellKnown('message_sent', '"room_id":{"stringValue":"r"}')),
      'events[0].customProperties["message_id"]: is required by this kind of event',
    ],
  ];
  for (const [text, message] of rows) {
    it(`${text.length > 120 ? `${text.slice(0, 120)}…` : text} -> ${message}`, () => {
      expect(verdict(text)).toBe(message);
    });
  }

  it('invalid UTF-8 anywhere', () => {
    const bytes = Buffer.from(bodyText(value('{"stringValue":"?"}')));
    bytes[bytes.indexOf('?')] = 0xff;
    expect(verdict(bytes)).toBe('body: must be valid UTF-8');
    expect(verdict(Buffer.from('fffe7b007d00', 'hex'))).toBe('body: must be valid UTF-8');
  });

  it('a body that grows past the limit when it is re-encoded, on the reference path only', () => {
    const text = bodyText(custom(many(250, (index) => `"k${index}":{"intValue":1}`)));
    const limits = { receiveTimeMs, maxBodyBytes: text.length, maxAgeMs: 30 * dayMs };
    expect(scanJsonBody(Buffer.from(text), limits)).toMatchObject({ kind: 'valid' });
    const result = readJsonBody(Buffer.from(text), limits);
    expect(result).toMatchObject({ kind: 'invalid', violation: { rule: 'body_size' } });
  });
});

describe('both paths take', () => {
  const rows: [string, string][] = [
    ['no events', '{"events":[]}'],
    ['no member', '{}'],
    ['events null', '{"events":null}'],
    ['1,000 events', bodyText(many(1_000, () => eventText()))],
    [
      'snake_case',
      bodyText(
        [
          `{"event_id":"${eventId}","kind":"a.B-c_9","distinct_id":"u",`,
          `"session_id":"${sessionId}","occur_time":"2026-10-21T12:00:00Z",`,
          '"custom_properties":{"k":{"string_value":"x"},"l":{"int_value":"1"},',
          '"m":{"double_value":1},"n":{"bool_value":true},',
          '"o":{"timestamp_value":"2026-01-01T00:00:00Z"}},',
          '"auto_properties":{"$x":{"bool_value":false}}}',
        ].join(''),
      ),
    ],
    [
      'unknown members',
      bodyText(eventText({ extra: '{"a":[1,{"b":null}]}' })).replace('{', '{"x":[],'),
    ],
    ['an unknown member of a value', bodyText(value('{"stringValue":"x","note":"y"}'))],
    [
      'nulls',
      bodyText(eventText({ cookieless: 'null', autoProperties: 'null', customProperties: 'null' })),
    ],
    ['a null variant beside a set one', bodyText(value('{"stringValue":null,"boolValue":true}'))],
    ['a kind of 200 characters', bodyText(eventText({ kind: `"${'a'.repeat(200)}"` }))],
    ['a kind that only looks reserved', bodyText(eventText({ kind: '"svc"' }))],
    ['a distinctId of 512 emoji', bodyText(eventText({ distinctId: `"${'😀'.repeat(512)}"` }))],
    ['a string of 1,024 emoji', bodyText(value(`{"stringValue":"${'😀'.repeat(1_024)}"}`))],
    ['a key of 255 emoji', bodyText(custom(`"${'😀'.repeat(255)}":{"boolValue":true}`))],
    ['256 properties', bodyText(custom(many(256, (index) => `"${index}":{"boolValue":true}`)))],
    [
      'hostile keys',
      bodyText(custom('"__proto__":{"boolValue":true},"constructor":{"boolValue":true}')),
    ],
    [
      'a cookieless event of any age, which is dropped later',
      bodyText(
        eventText({
          ...{ occurTime: '"2000-01-01T00:00:00Z"', cookieless: 'true' },
          ...{ distinctId: undefined, sessionId: undefined },
        }),
      ),
    ],
    ['48 hours ahead', bodyText(eventText({ occurTime: '"2026-11-22T12:00:00Z"' }))],
    [
      'int64 limits',
      bodyText(
        value('{"intValue":"-9223372036854775808"}'),
        value('{"intValue":"9223372036854775807"}'),
      ),
    ],
    ['minus zero', bodyText(value('{"intValue":"-0"}'), value('{"doubleValue":-0}'))],
    [
      'integral numbers',
      bodyText(
        value('{"intValue":1e3}'),
        value('{"intValue":1.0}'),
        value('{"intValue":-9007199254740991}'),
      ),
    ],
    [
      'the smallest double',
      bodyText(value('{"doubleValue":5e-324}'), value('{"doubleValue":"5e-324"}')),
    ],
    ['white space', bodyText(eventText()).replaceAll(',', ' ,\n\t').replaceAll(':"', ' : \r"')],
    ['escaped quotes', bodyText(value('{"stringValue":"say \\"hi\\" \\\\"}'))],
    ['a whole surrogate pair', bodyText(value('{"stringValue":"\\ud83d\\ude00"}'))],
    ['NUL', bodyText(value('{"stringValue":"\\u0000"}'))],
    ['well-known: nothing asked', bodyText(wellKnown('signup', '"anything":{"boolValue":true}'))],
    [
      'well-known: ids as integers',
      bodyText(wellKnown('add_to_cart', '"product_id":{"intValue":"7"}')),
    ],
    [
      'well-known: camelCase',
      bodyText(wellKnown('video_started', '"videoId":{"stringValue":"v"}')),
    ],
    ['well-known: an empty query', bodyText(wellKnown('search', '"query":{"stringValue":""}'))],
    ['well-known: a whole double', bodyText(wellKnown('scroll', '"percent":{"doubleValue":100}'))],
    ['well-known: numeric int', bodyText(wellKnown('rage_click', '"clickCount":{"intValue":2}'))],
    ['well-known: nothing optional', bodyText(wellKnown('purchase', ''))],
    ['a kind that resembles a well-known one', bodyText(wellKnown('Screen_View', ''))],
  ];
  for (const [name, text] of rows) it(name, () => expect(verdict(text)).toBe('valid'));
});
