import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import { BatchCreateRequestSchema } from '../../../proto/gen/sdk/events/v1/events_pb.js';
import {
  auto,
  bodyText,
  context,
  custom,
  eventId,
  eventText,
  receiveTimeMs,
  sessionId,
  value,
} from '../../../test/harness/requests/typed-bodies.ts';
import { describeViolation } from '../violation.ts';
import { type ReadBody, readBinaryBody, readJsonBody } from './reference-body.ts';
import { scanJsonBody } from './scan-body.ts';

type Read = (received: Buffer, limits: typeof context) => ReadBody;

const readers: Read[] = [scanJsonBody, readJsonBody];

function bytesOf(read: Read, text: string): string {
  const result = read(Buffer.from(text), context);
  if (result.kind === 'invalid') throw new Error(describeViolation(result.violation));
  return Buffer.from(result.body).toString();
}

describe('the queued body', () => {
  it('fast path: holds the received bytes, however numbers are written', () => {
    for (const text of [
      ' {"events" : [] } ',
      bodyText(eventText({ extra: '[1,2]' }), value('{"string_value":"a\\"b"}')),
      bodyText(custom('"a":{"intValue":1e2},"b":{"doubleValue":"-0.0"},"c":{"int_value":-0}')),
      bodyText(eventText({ cookieless: ' true', distinctId: '""', sessionId: undefined })),
    ]) {
      expect(bytesOf(scanJsonBody, text)).toBe(text);
    }
  });

  it('fast path: has a value of the same length in place of one under $ip', () => {
    const text = (ip: string): string =>
      bodyText(auto(`"$ip":${ip},"$url":{"stringValue":"u"}`), eventText({ $ip: '"1.2"' }));
    expect(bytesOf(scanJsonBody, text('{"stringValue":"203.0.113.9"}'))).toBe(
      text('{"intValue":0}               ').replace('"1.2"', '0    '),
    );
  });

  it('reference path: has an int64 as a string, a double as a number', () => {
    const text = bodyText(
      custom(
        '"a":{"intValue":1e2},"b":{"doubleValue":"-0.0"},"c":{"int_value":-0},"d":{"doubleValue":-0}',
      ),
    );
    expect(bytesOf(readJsonBody, text)).toContain(
      '"customProperties":{"a":{"intValue":"100"},"b":{"doubleValue":-0},"c":{"intValue":"0"},"d":{"doubleValue":-0}}',
    );
  });

  it('reference path: has every other value as it came', () => {
    const entries = [
      String.raw`"a":{"stringValue":"\u0000\u00e9\"\\ 😀"}`,
      '"b":{"intValue":"-9223372036854775808"}',
      '"c":{"doubleValue":5e-324}',
      '"d":{"boolValue":false}',
      '"e":{"timestampValue":"0001-01-01T00:00:00.123456789+00:00"}',
      '"__proto__":{"doubleValue":1.7976931348623157e308}',
    ].join(',');
    const text = bytesOf(readJsonBody, bodyText(custom(`${entries},"n":{"intValue":7}`)));
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

  it('reference path: leaves out the properties that only the server sets', () => {
    const text = bodyText(
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
    const onlyAddress = bodyText(auto('"$ip":{"stringValue":"x"}'));
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
    it(`never has an address under ${name}, at any place`, () => {
      const address = '203.0.113.9';
      let seen = 0;
      for (const text of [
        bodyText(auto(`${name}:{"stringValue":"${address}"}`)),
        bodyText(auto(`${name}:{"stringValue":"${address}"},${name}:{"boolValue":true}`)),
        bodyText(eventText({ extra: `{${name}:"${address}"}` })),
        bodyText(`${eventText().slice(0, -1)},${name}:"${address}"}`),
        `{${name}:"${address}","events":[${eventText()}]}`,
        `{"extra":[[{"a":{${name}:"${address}"}}]],"events":[]}`,
        bodyText(value(`{"stringValue":"x",${name}:"${address}"}`)),
      ]) {
        for (const read of readers) {
          const result = read(Buffer.from(text), context);
          if (result.kind === 'invalid') continue;
          expect(Buffer.from(result.body).toString()).not.toContain(address);
          seen++;
        }
      }
      expect(seen).toBe(12);
    });
  }

  it('comes with the counts of events and of cookieless events', () => {
    const cookieless = eventText({ cookieless: 'true', distinctId: '""', sessionId: undefined });
    for (const read of readers) {
      const result = read(Buffer.from(bodyText(eventText(), cookieless, cookieless)), context);
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

  it('becomes JSON of the typed shape', () => {
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
      [
        property({ case: undefined }),
        'events[0].customProperties["k"]: must be an object with exactly one of ' +
          'stringValue, intValue, doubleValue, boolValue, timestampValue',
      ],
    ];
    for (const [broken, message] of rows) expect(readEvents(broken)).toBe(message);
  });

  it('keeps minus zero', () => {
    expect(readEvents(property({ case: 'doubleValue', value: -0 }))).toContain(
      '{"doubleValue":-0}',
    );
  });

  it('that cannot be decoded is refused', () => {
    const result = readBinaryBody(Buffer.from('{"events":[]}'), context);
    expect(result.kind === 'invalid' && describeViolation(result.violation)).toBe(
      'body: must be a valid protobuf message',
    );
  });
});
