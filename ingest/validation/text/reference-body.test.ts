import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import { BatchCreateRequestSchema } from '../../../proto/gen/sdk/events/v1/events_pb.js';
import { describeViolation } from '../violation.ts';
import { type ReadBody, readBinaryBody, readJsonBody } from './reference-body.ts';
import { scanJsonBody } from './scan-body.ts';

const receiveTimeMs = Date.UTC(2026, 10, 20, 12);
const context = { receiveTimeMs, maxBodyBytes: 1_000_000 };
const eventId = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
const sessionId = '01890a5d-ac96-774b-bcce-b302099a8057';

/** Members of a valid event, as JSON text; a row replaces or adds some, `undefined` leaves one out. */
const valid: Record<string, string | undefined> = {
  eventId: `"${eventId}"`,
  kind: '"page_view"',
  distinctId: '"user-1"',
  sessionId: `"${sessionId}"`,
  occurTime: '"2026-11-20T11:00:00Z"',
};

function eventText(members: Record<string, string | undefined> = {}): string {
  const entries = Object.entries({ ...valid, ...members }).filter(([, text]) => text !== undefined);
  return `{${entries.map(([name, text]) => `"${name}":${text}`).join(',')}}`;
}

function body(...events: string[]): string {
  return `{"events":[${events.join(',')}]}`;
}

type Read = (received: Buffer, limits: typeof context) => ReadBody;

/** The scanner, and the rules that it is held to. */
const readers: [name: string, read: Read][] = [
  ['scanned', scanJsonBody],
  ['read', readJsonBody],
];

function verdictOf(result: ReadBody): string {
  return result.kind === 'valid' ? 'valid' : describeViolation(result.violation);
}

/** Of both readers, which must agree. */
function verdict(text: string | Buffer): string {
  const [scanned = '', byRules] = readers.map(([, read]) =>
    verdictOf(read(Buffer.from(text), context)),
  );
  expect(scanned).toBe(byRules);
  return scanned;
}

function bytesOf(read: Read, text: string): string {
  const result = read(Buffer.from(text), context);
  if (result.kind === 'invalid') throw new Error(describeViolation(result.violation));
  return Buffer.from(result.body).toString();
}

const custom = (entries: string) => eventText({ customProperties: `{${entries}}` });
const auto = (entries: string) => eventText({ autoProperties: `{${entries}}` });
const value = (text: string) => custom(`"k":${text}`);
const wellKnown = (kind: string, entries: string) =>
  eventText({ kind: `"${kind}"`, customProperties: `{${entries}}` });
const many = (count: number, entry: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => entry(index)).join(',');

const timestamp = 'must be an RFC 3339 timestamp such as 2026-01-02T03:04:05.678Z';
const oneSpelling = 'must be given in one spelling, not in snake_case and camelCase at once';
const exactNumber = 'must be a string where it is no integer of at most 2^53 - 1 in magnitude';
const oneVariant =
  'must be an object with exactly one of ' +
  'stringValue, intValue, doubleValue, boolValue, timestampValue';

describe('what a violation says', () => {
  const rows: [string, string][] = [
    // The request
    ['', 'body: must be valid JSON'],
    ['{', 'body: must be valid JSON'],
    ['null', 'body: must be a JSON object'],
    ['[]', 'body: must be a JSON object'],
    ['"events"', 'body: must be a JSON object'],
    ['{"events":{}}', 'events: must be an array'],
    ['{"events":"x"}', 'events: must be an array'],
    [body(many(1_001, () => '0')), 'events: must hold at most 1000 events, got 1001'],
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
    [body('null'), 'events[0]: must be an object'],
    [body(eventText(), '7'), 'events[1]: must be an object'],
    [body(eventText(), '[]'), 'events[1]: must be an object'],
    [body(eventText({ event_id: `"${eventId}"` })), `events[0].eventId: ${oneSpelling}`],
    [body(eventText({ distinct_id: 'null' })), `events[0].distinctId: ${oneSpelling}`],
    [
      body(eventText(), `${eventText().slice(0, -1)},"kind":"x"}`),
      'events[1].kind: must not be given twice',
    ],
    // eventId
    [body(eventText({ eventId: undefined })), 'events[0].eventId: is required'],
    [body(eventText({ eventId: 'null' })), 'events[0].eventId: is required'],
    [body(eventText({ eventId: '""' })), 'events[0].eventId: is required'],
    [body(eventText({ eventId: '7' })), 'events[0].eventId: must be a string'],
    [body(eventText({ eventId: '"7"' })), 'events[0].eventId: must be a UUID'],
    [body(eventText({ eventId: `"{${eventId}}"` })), 'events[0].eventId: must be a UUID'],
    // kind
    [body(eventText({ kind: undefined })), 'events[0].kind: is required'],
    [body(eventText({ kind: '""' })), 'events[0].kind: is required'],
    [body(eventText({ kind: '1' })), 'events[0].kind: must be a string'],
    [body(eventText({ kind: '"a b"' })), 'events[0].kind: must match ^[a-zA-Z0-9_.-]+$'],
    [body(eventText({ kind: '"a\\n"' })), 'events[0].kind: must match ^[a-zA-Z0-9_.-]+$'],
    [body(eventText({ kind: '"żółw"' })), 'events[0].kind: must match ^[a-zA-Z0-9_.-]+$'],
    [body(eventText({ kind: '"svc.x"' })), 'events[0].kind: must not start with svc.'],
    [
      body(eventText({ kind: `"${'a'.repeat(201)}"` })),
      'events[0].kind: must have at most 200 characters',
    ],
    // occurTime
    [body(eventText({ occurTime: undefined })), 'events[0].occurTime: is required'],
    [body(eventText({ occurTime: '1700000000' })), `events[0].occurTime: ${timestamp}`],
    [body(eventText({ occurTime: '""' })), `events[0].occurTime: ${timestamp}`],
    [body(eventText({ occurTime: '"2026-02-30T00:00:00Z"' })), `events[0].occurTime: ${timestamp}`],
    [
      body(eventText({ occurTime: '"1999-12-31T23:59:59.999Z"' })),
      'events[0].occurTime: must not be before 2000-01-01T00:00:00Z',
    ],
    [
      body(eventText({ occurTime: '"2026-11-22T12:00:00.001Z"' })),
      'events[0].occurTime: must be at most 48 hours after receipt',
    ],
    // Identity
    [
      body(eventText({ distinctId: undefined })),
      'events[0].distinctId: is required unless cookieless is true',
    ],
    [
      body(eventText({ distinctId: '""', cookieless: 'false' })),
      'events[0].distinctId: is required unless cookieless is true',
    ],
    [body(eventText({ distinctId: '7' })), 'events[0].distinctId: must be a string'],
    [
      body(eventText({ distinctId: '"cookieless-x"' })),
      'events[0].distinctId: must not start with cookieless-',
    ],
    [
      body(eventText({ distinctId: `"${'a'.repeat(513)}"` })),
      'events[0].distinctId: must have at most 512 code points',
    ],
    [
      body(eventText({ distinctId: `"${'😀'.repeat(513)}"` })),
      'events[0].distinctId: must have at most 512 code points',
    ],
    [
      body(eventText({ sessionId: undefined })),
      'events[0].sessionId: is required unless cookieless is true',
    ],
    [body(eventText({ sessionId: '""' })), 'events[0].sessionId: must be a UUID'],
    [body(eventText({ sessionId: 'true' })), 'events[0].sessionId: must be a string'],
    [body(eventText({ cookieless: '"true"' })), 'events[0].cookieless: must be a boolean'],
    [body(eventText({ cookieless: '1' })), 'events[0].cookieless: must be a boolean'],
    [
      body(eventText({ cookieless: 'true' })),
      'events[0].distinctId: must be omitted when cookieless is true',
    ],
    [
      body(eventText({ cookieless: 'true', distinctId: undefined })),
      'events[0].sessionId: must be omitted when cookieless is true',
    ],
    [
      body(eventText({ cookieless: 'true', distinctId: undefined, sessionId: '""' })),
      'events[0].sessionId: must be a UUID',
    ],
    // Properties
    [body(eventText({ autoProperties: '[]' })), 'events[0].autoProperties: must be an object'],
    [body(eventText({ customProperties: '"x"' })), 'events[0].customProperties: must be an object'],
    [
      body(custom(many(257, (index) => `"k${index}":{"boolValue":true}`))),
      'events[0].customProperties: must hold at most 256 properties',
    ],
    [
      body(auto(many(257, (index) => `"$k${index}":{"boolValue":true}`))),
      'events[0].autoProperties: must hold at most 256 properties',
    ],
    [
      body(auto('"plan":{"boolValue":true}')),
      'events[0].autoProperties["plan"]: must have a key that starts with $',
    ],
    [
      body(custom('"$plan":{"boolValue":true}')),
      'events[0].customProperties["$plan"]: must not have a key that starts with $',
    ],
    [
      body(custom('"":{"boolValue":true}')),
      'events[0].customProperties[""]: must have a key of 1 to 255 code points',
    ],
    [
      body(custom(`"${'k'.repeat(256)}":{"boolValue":true}`)),
      `events[0].customProperties["${'k'.repeat(64)}"]: must have a key of 1 to 255 code points`,
    ],
    [
      body(custom('"k":{"boolValue":true},"k":{"boolValue":true}')),
      'events[0].customProperties["k"]: must not be given twice',
    ],
    [
      body(custom('"k":{"boolValue":true},"\\u006b":{"boolValue":true}')),
      'events[0].customProperties["k"]: must not be given twice',
    ],
    ...['null', '{}', '7', '"x"', '[]', '{"stringValue":null}', '{"string":"x"}'].map(
      (text): [string, string] => [
        body(value(text)),
        `events[0].customProperties["k"]: ${oneVariant}`,
      ],
    ),
    [
      body(value('{"stringValue":"x","boolValue":true}')),
      `events[0].customProperties["k"]: ${oneVariant}`,
    ],
    [
      body(value('{"stringValue":"x","string_value":"x"}')),
      `events[0].customProperties["k"]: ${oneVariant}`,
    ],
    [
      body(value('{"stringValue":"x","stringValue":"y"}')),
      'events[0].customProperties["k"].stringValue: must not be given twice',
    ],
    [
      body(value('{"stringValue":7}')),
      'events[0].customProperties["k"].stringValue: must be a string',
    ],
    [
      body(value(`{"stringValue":"${'a'.repeat(1_025)}"}`)),
      'events[0].customProperties["k"].stringValue: must have at most 1024 code points',
    ],
    [
      body(value(`{"stringValue":"${'😀'.repeat(1_025)}"}`)),
      'events[0].customProperties["k"].stringValue: must have at most 1024 code points',
    ],
    [
      body(value('{"stringValue":"\\ud83d"}')),
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
      body(value(`{"intValue":${text}}`)),
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
      body(value(`{"intValue":${text}}`)),
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
      body(value(`{"doubleValue":${text}}`)),
      'events[0].customProperties["k"].doubleValue: must be a finite number',
    ]),
    [
      body(value('{"boolValue":"true"}')),
      'events[0].customProperties["k"].boolValue: must be a boolean',
    ],
    ...['1700000000000', '""', '"2026-11-20"', '"2026-11-20T24:00:00Z"'].map(
      (text): [string, string] => [
        body(value(`{"timestampValue":${text}}`)),
        `events[0].customProperties["k"].timestampValue: ${timestamp}`,
      ],
    ),
    // Well-known events
    [
      body(wellKnown('screen_view', '')),
      'events[0].customProperties["screen_name"]: is required by this kind of event',
    ],
    [
      body(
        wellKnown(
          'screen_view',
          '"screen_name":{"stringValue":"x"},"screenName":{"stringValue":"x"}',
        ),
      ),
      `events[0].customProperties["screenName"]: ${oneSpelling}`,
    ],
    [
      body(wellKnown('app_update', '"appVersion":{"stringValue":""}')),
      'events[0].customProperties["appVersion"]: must be a non-empty string for this kind of event',
    ],
    [
      body(wellKnown('rage_click', '"click_count":{"intValue":"1"}')),
      'events[0].customProperties["click_count"]: must be an integer of at least 2 for this kind of event',
    ],
    ...[
      '{"intValue":"-1"}',
      '{"intValue":"101"}',
      '{"doubleValue":50.5}',
      '{"stringValue":"50"}',
    ].map((text): [string, string] => [
      body(wellKnown('scroll', `"percent":${text}`)),
      'events[0].customProperties["percent"]: must be an integer from 0 to 100 for this kind of event',
    ]),
    [
      body(wellKnown('nps_submitted', '"score":{"intValue":"11"}')),
      'events[0].customProperties["score"]: must be an integer from 0 to 10 for this kind of event',
    ],
    ...['{"intValue":"0"}', '{"doubleValue":-0.01}', '{"stringValue":"5"}'].map(
      (text): [string, string] => [
        body(wellKnown('purchase', `"amount":${text}`)),
        'events[0].customProperties["amount"]: must be a number greater than 0 for this kind of event',
      ],
    ),
    ...['"eur"', '"EURO"', '""'].map((text): [string, string] => [
      body(wellKnown('purchase', `"currency":{"stringValue":${text}}`)),
      'events[0].customProperties["currency"]: must match ^[A-Z]{3}$ for this kind of event',
    ]),
    ...['{"stringValue":""}', '{"doubleValue":1}', '{"boolValue":true}'].map(
      (text): [string, string] => [
        body(wellKnown('order_refunded', `"orderId":${text}`)),
        'events[0].customProperties["orderId"]: must be a non-empty string or an integer for this kind of event',
      ],
    ),
    [
      body(wellKnown('search', '"query":{"intValue":"1"}')),
      'events[0].customProperties["query"]: must be a string for this kind of event',
    ],
    [
      body(wellKnown('message_sent', '"room_id":{"stringValue":"r"}')),
      'events[0].customProperties["message_id"]: is required by this kind of event',
    ],
  ];
  for (const [text, message] of rows) {
    it(`${text.length > 120 ? `${text.slice(0, 120)}…` : text} -> ${message}`, () => {
      expect(verdict(text)).toBe(message);
    });
  }

  it('invalid UTF-8 anywhere', () => {
    const bytes = Buffer.from(body(value('{"stringValue":"?"}')));
    bytes[bytes.indexOf('?')] = 0xff;
    expect(verdict(bytes)).toBe('body: must be valid UTF-8');
    expect(verdict(Buffer.from('fffe7b007d00', 'hex'))).toBe('body: must be valid UTF-8');
  });

  it('a body that grows past the limit when it is re-encoded, where it is', () => {
    const text = body(custom(many(250, (index) => `"k${index}":{"intValue":1}`)));
    const limits = { receiveTimeMs, maxBodyBytes: text.length };
    expect(scanJsonBody(Buffer.from(text), limits)).toMatchObject({ kind: 'valid' });
    const result = readJsonBody(Buffer.from(text), limits);
    expect(result).toMatchObject({ kind: 'invalid', violation: { rule: 'body_size' } });
  });
});

describe('what is valid', () => {
  const rows: [string, string][] = [
    ['no events', '{"events":[]}'],
    ['no member', '{}'],
    ['events null', '{"events":null}'],
    ['1,000 events', body(many(1_000, () => eventText()))],
    [
      'snake_case',
      body(
        [
          `{"event_id":"${eventId}","kind":"a.B-c_9","distinct_id":"u",`,
          `"session_id":"${sessionId}","occur_time":"2000-01-01T00:00:00Z",`,
          '"custom_properties":{"k":{"string_value":"x"},"l":{"int_value":"1"},',
          '"m":{"double_value":1},"n":{"bool_value":true},',
          '"o":{"timestamp_value":"2026-01-01T00:00:00Z"}},',
          '"auto_properties":{"$x":{"bool_value":false}}}',
        ].join(''),
      ),
    ],
    [
      'unknown members',
      body(eventText({ extra: '{"a":[1,{"b":null}]}' })).replace('{', '{"x":[],'),
    ],
    ['an unknown member of a value', body(value('{"stringValue":"x","note":"y"}'))],
    [
      'nulls',
      body(eventText({ cookieless: 'null', autoProperties: 'null', customProperties: 'null' })),
    ],
    ['a null variant beside a set one', body(value('{"stringValue":null,"boolValue":true}'))],
    ['a kind of 200 characters', body(eventText({ kind: `"${'a'.repeat(200)}"` }))],
    ['a kind that only looks reserved', body(eventText({ kind: '"svc"' }))],
    ['a distinctId of 512 emoji', body(eventText({ distinctId: `"${'😀'.repeat(512)}"` }))],
    ['a string of 1,024 emoji', body(value(`{"stringValue":"${'😀'.repeat(1_024)}"}`))],
    ['a key of 255 emoji', body(custom(`"${'😀'.repeat(255)}":{"boolValue":true}`))],
    ['256 properties', body(custom(many(256, (index) => `"${index}":{"boolValue":true}`)))],
    [
      'hostile keys',
      body(custom('"__proto__":{"boolValue":true},"constructor":{"boolValue":true}')),
    ],
    ['48 hours ahead', body(eventText({ occurTime: '"2026-11-22T12:00:00Z"' }))],
    [
      'int64 limits',
      body(
        value('{"intValue":"-9223372036854775808"}'),
        value('{"intValue":"9223372036854775807"}'),
      ),
    ],
    ['minus zero', body(value('{"intValue":"-0"}'), value('{"doubleValue":-0}'))],
    [
      'integral numbers',
      body(
        value('{"intValue":1e3}'),
        value('{"intValue":1.0}'),
        value('{"intValue":-9007199254740991}'),
      ),
    ],
    [
      'the smallest double',
      body(value('{"doubleValue":5e-324}'), value('{"doubleValue":"5e-324"}')),
    ],
    ['white space', body(eventText()).replaceAll(',', ' ,\n\t').replaceAll(':"', ' : \r"')],
    ['escaped quotes', body(value('{"stringValue":"say \\"hi\\" \\\\"}'))],
    ['a whole surrogate pair', body(value('{"stringValue":"\\ud83d\\ude00"}'))],
    ['NUL', body(value('{"stringValue":"\\u0000"}'))],
    ['well-known: nothing asked', body(wellKnown('signup', '"anything":{"boolValue":true}'))],
    [
      'well-known: ids as integers',
      body(wellKnown('add_to_cart', '"product_id":{"intValue":"7"}')),
    ],
    ['well-known: camelCase', body(wellKnown('video_started', '"videoId":{"stringValue":"v"}'))],
    ['well-known: an empty query', body(wellKnown('search', '"query":{"stringValue":""}'))],
    ['well-known: a whole double', body(wellKnown('scroll', '"percent":{"doubleValue":100}'))],
    ['well-known: numeric int', body(wellKnown('rage_click', '"clickCount":{"intValue":2}'))],
    ['well-known: nothing optional', body(wellKnown('purchase', ''))],
    ['a kind that is no well-known one', body(wellKnown('Screen_View', ''))],
  ];
  for (const [name, text] of rows) it(name, () => expect(verdict(text)).toBe('valid'));
});

describe('what is queued', () => {
  it('scanned: the very bytes that came, however its numbers are written', () => {
    for (const text of [
      ' {"events" : [] } ',
      body(eventText({ extra: '[1,2]' }), value('{"string_value":"a\\"b"}')),
      body(custom('"a":{"intValue":1e2},"b":{"doubleValue":"-0.0"},"c":{"int_value":-0}')),
      body(eventText({ cookieless: ' true', distinctId: '""', sessionId: undefined })),
    ]) {
      expect(bytesOf(scanJsonBody, text)).toBe(text);
    }
  });

  it('scanned: a value that stands under $ip is another one, as long', () => {
    const text = (ip: string): string =>
      body(auto(`"$ip":${ip},"$url":{"stringValue":"u"}`), eventText({ $ip: '"1.2"' }));
    expect(bytesOf(scanJsonBody, text('{"stringValue":"203.0.113.9"}'))).toBe(
      text('{"intValue":0}               ').replace('"1.2"', '0    '),
    );
  });

  it('read: an int64 as a string, a double as a number', () => {
    const text = body(
      custom(
        '"a":{"intValue":1e2},"b":{"doubleValue":"-0.0"},"c":{"int_value":-0},"d":{"doubleValue":-0}',
      ),
    );
    expect(bytesOf(readJsonBody, text)).toContain(
      '"customProperties":{"a":{"intValue":"100"},"b":{"doubleValue":-0},"c":{"intValue":"0"},"d":{"doubleValue":-0}}',
    );
  });

  it('read: every other value as it came', () => {
    const entries = [
      String.raw`"a":{"stringValue":"\u0000\u00e9\"\\ 😀"}`,
      '"b":{"intValue":"-9223372036854775808"}',
      '"c":{"doubleValue":5e-324}',
      '"d":{"boolValue":false}',
      '"e":{"timestampValue":"0001-01-01T00:00:00.123456789+00:00"}',
      '"__proto__":{"doubleValue":1.7976931348623157e308}',
    ].join(',');
    const text = bytesOf(readJsonBody, body(custom(`${entries},"n":{"intValue":7}`)));
    expect(JSON.parse(text)).toEqual({
      events: [
        {
          eventId,
          kind: 'page_view',
          distinctId: 'user-1',
          sessionId,
          occurTime: '2026-11-20T11:00:00Z',
          customProperties: JSON.parse(`{${entries},"n":{"intValue":"7"}}`),
        },
      ],
    });
  });

  it('read: without what is never taken from a sender', () => {
    const text = body(
      auto(
        [
          '"$ip":{"stringValue":"203.0.113.9"}',
          '"$bot_score":{"intValue":"1"}',
          '"$verified_bot":{"boolValue":true}',
          '"$url":{"stringValue":"u"}',
        ].join(','),
      ),
    );
    expect(bytesOf(readJsonBody, text)).toContain('"autoProperties":{"$url":{"stringValue":"u"}}}');
    const onlyAddress = body(auto('"$ip":{"stringValue":"x"}'));
    expect(bytesOf(readJsonBody, onlyAddress)).not.toContain('autoProperties');
  });

  const spellings = [
    '"$ip"',
    '"\\u0024ip"',
    '"$\\u0069p"',
    '"$i\\u0070"',
    '"\\u0024\\u0069\\u0070"',
  ];
  for (const name of spellings) {
    it(`never an address under ${name}, wherever it hides`, () => {
      const address = '203.0.113.9';
      let seen = 0;
      for (const text of [
        body(auto(`${name}:{"stringValue":"${address}"}`)),
        body(auto(`${name}:{"stringValue":"${address}"},${name}:{"boolValue":true}`)),
        body(eventText({ extra: `{${name}:"${address}"}` })),
        body(`${eventText().slice(0, -1)},${name}:"${address}"}`),
        `{${name}:"${address}","events":[${eventText()}]}`,
        `{"extra":[[{"a":{${name}:"${address}"}}]],"events":[]}`,
        body(value(`{"stringValue":"x",${name}:"${address}"}`)),
      ]) {
        for (const [, read] of readers) {
          const result = read(Buffer.from(text), context);
          if (result.kind === 'invalid') continue;
          expect(Buffer.from(result.body).toString()).not.toContain(address);
          seen++;
        }
      }
      expect(seen).toBe(12);
    });
  }

  it('counts events and those without identity', () => {
    const cookieless = eventText({ cookieless: 'true', distinctId: '""', sessionId: undefined });
    for (const [, read] of readers) {
      const result = read(Buffer.from(body(eventText(), cookieless, cookieless)), context);
      expect(result).toMatchObject({ kind: 'valid', events: 3, cookieless: 2 });
    }
  });
});

describe('binary protobuf', () => {
  const event = {
    eventId,
    kind: 'page_view',
    distinctId: 'user-1',
    sessionId,
    occurTime: timestampFromMs(receiveTimeMs),
  };
  const readEvents = (...events: object[]): string => {
    const message = create(BatchCreateRequestSchema, { events });
    const result = readBinaryBody(
      Buffer.from(toBinary(BatchCreateRequestSchema, message)),
      context,
    );
    return result.kind === 'valid'
      ? Buffer.from(result.body).toString()
      : describeViolation(result.violation);
  };
  const property = (kind: object) => ({ ...event, customProperties: { k: { value: kind } } });

  it('becomes the JSON that the rules know', () => {
    const autoProperties = {
      $ip: { value: { case: 'stringValue', value: '203.0.113.9' } },
      $n: { value: { case: 'intValue', value: -(2n ** 63n) } },
    };
    expect(JSON.parse(readEvents({ ...event, autoProperties }))).toEqual({
      events: [
        {
          eventId,
          kind: 'page_view',
          distinctId: 'user-1',
          sessionId,
          occurTime: '2026-11-20T12:00:00Z',
          autoProperties: { $n: { intValue: '-9223372036854775808' } },
        },
      ],
    });
  });

  it('breaks the same rules', () => {
    const rows: [object, string][] = [
      [{ ...event, kind: 'a b' }, 'events[0].kind: must match ^[a-zA-Z0-9_.-]+$'],
      [{ ...event, eventId: '' }, 'events[0].eventId: is required'],
      [{ ...event, sessionId: '' }, 'events[0].sessionId: must be a UUID'],
      [
        { ...event, occurTime: { seconds: 253_402_300_800n } },
        'events[0]: must hold timestamps from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z only',
      ],
      [
        property({ case: 'doubleValue', value: Number.NaN }),
        'events[0].customProperties["k"].doubleValue: must be a finite number',
      ],
      [property({ case: undefined }), `events[0].customProperties["k"]: ${oneVariant}`],
    ];
    for (const [broken, message] of rows) expect(readEvents(broken)).toBe(message);
  });

  it('keeps minus zero', () => {
    expect(readEvents(property({ case: 'doubleValue', value: -0 }))).toContain(
      '{"doubleValue":-0}',
    );
  });

  it('that is none', () => {
    const result = readBinaryBody(Buffer.from('{"events":[]}'), context);
    expect(result.kind === 'invalid' && describeViolation(result.violation)).toBe(
      'body: must be a valid protobuf message',
    );
  });
});
