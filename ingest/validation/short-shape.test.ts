import { create, type JsonObject, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import { dayMs } from '../../platform/clock.ts';
import { BatchCreateRequestSchema } from '../../proto/gen/events/v1/events_pb.js';
import {
  readShortBinaryBody,
  readShortJsonBody,
  readShortMessage,
  type ShortContext,
} from './short-shape.ts';
import type { ReadBody } from './text/reference-body.ts';
import { isUuid, uuidV5 } from './text/uuid.ts';
import { describeViolation } from './violation.ts';

const projectId = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
const context: ShortContext = {
  receiveTimeMs: Date.UTC(2026, 10, 20, 12),
  maxBodyBytes: 1_000_000,
  maxAgeMs: 30 * dayMs,
  projectId,
  idempotencyKey: undefined,
};

function result(read: ReadBody): string | Record<string, unknown>[] {
  if (read.kind === 'invalid') return describeViolation(read.violation);
  return JSON.parse(Buffer.from(read.body).toString()).events;
}

function events(text: string, changes: Partial<ShortContext> = {}): Record<string, unknown>[] {
  const read = result(readShortJsonBody(Buffer.from(text), { ...context, ...changes }));
  if (typeof read === 'string') throw new Error(read);
  return read;
}

const verdict = (text: string) => result(readShortJsonBody(Buffer.from(text), context));
const ids = (list: Record<string, unknown>[]) => list.map((event) => event['eventId']);

describe('an event in the short shape', () => {
  it('becomes an event in the typed shape', () => {
    const properties = [
      '"distinct_id":"u","$url":"https://x/","amount":12.5,"quantity":3,"whole":2.0,"big":1e300',
      '"isGift":false,"note":null,"$ip":"203.0.113.9","$bot_score":1',
    ].join(',');
    const when = '"timestamp":"2026-11-20T11:00:00+01:00"';
    const visit = '"sessionId":"01890a5d-ac96-774b-bcce-b302099a8057"';
    const text = `{"events":[{"name":"purchase",${when},${visit},"properties":{${properties}}}]}`;
    expect(events(text)).toEqual([
      {
        eventId: expect.any(String),
        kind: 'purchase',
        distinctId: 'u',
        sessionId: '01890a5d-ac96-774b-bcce-b302099a8057',
        occurTime: '2026-11-20T11:00:00+01:00',
        autoProperties: { $url: { stringValue: 'https://x/' } },
        customProperties: {
          amount: { doubleValue: 12.5 },
          quantity: { intValue: '3' },
          whole: { intValue: '2' },
          big: { doubleValue: 1e300 },
          isGift: { boolValue: false },
        },
      },
    ]);
  });

  it('without a timestamp occurs at its receipt', () => {
    const [event] = events('{"events":[{"name":"a","properties":{"distinctId":"u"}}]}');
    expect(event?.['occurTime']).toBe('2026-11-20T12:00:00.000Z');
  });

  it('without a user is cookieless', () => {
    const text = '{"events":[{"name":"a"},{"name":"b","properties":{},"sessionId":"s"}]}';
    const read = readShortJsonBody(Buffer.from(text), context);
    expect(read).toMatchObject({ kind: 'valid', events: 2, cookieless: 2 });
  });

  it('keeps hostile keys', () => {
    const text =
      '{"events":[{"name":"a","properties":{"distinct_id":"u","__proto__":"p","constructor":1,"a.b":true}}]}';
    expect(JSON.stringify(events(text)[0]?.['customProperties'])).toBe(
      '{"__proto__":{"stringValue":"p"},"constructor":{"intValue":"1"},"a.b":{"boolValue":true}}',
    );
  });
});

describe('the session id', () => {
  const session = (member: string) =>
    events(`{"events":[{"name":"a","properties":{"distinct_id":"u"}${member}}]}`)[0]?.['sessionId'];

  it('is a UUID derived from the project and the text where the text is no UUID', () => {
    expect(session(',"sessionId":"visit 7"')).toBe(uuidV5(projectId, 'visit 7'));
    expect(session(',"session_id":"visit 7"')).toBe(uuidV5(projectId, 'visit 7'));
  });

  it('is left to the pipeline where the event has none', () => {
    expect(session('')).toBeUndefined();
    expect(session(',"sessionId":""')).toBeUndefined();
    expect(session(',"sessionId":null')).toBeUndefined();
  });
});

describe('the event’s id', () => {
  const at = (time: string) => {
    const event = `{"name":"a","timestamp":"${time}","properties":{"distinct_id":"u"}}`;
    return `{"events":[${event},${event}]}`;
  };
  const now = '{"events":[{"name":"a","properties":{"distinct_id":"u"}}]}';

  it('is the same for the same body, and differs between events, bodies and projects', () => {
    const first = ids(events(at('2026-11-20T11:00:00Z')));
    expect(first.every((id) => isUuid(String(id)))).toBe(true);
    expect(new Set(first).size).toBe(2);
    expect(ids(events(at('2026-11-20T11:00:00Z')))).toEqual(first);
    const later = { receiveTimeMs: context.receiveTimeMs + 1 };
    expect(ids(events(at('2026-11-20T11:00:00Z'), later))).toEqual(first);
    expect(ids(events(at('2026-11-20T11:00:01Z')))).not.toEqual(first);
    const other = { projectId: '6ba7b811-9dad-11d1-80b4-00c04fd430c8' };
    expect(ids(events(at('2026-11-20T11:00:00Z'), other))).not.toEqual(first);
  });

  it('without a timestamp is random, unless an idempotency key makes it repeatable', () => {
    expect(ids(events(now))).not.toEqual(ids(events(now)));
    const keyed = { idempotencyKey: 'k' };
    expect(ids(events(now, keyed))).toEqual(ids(events(now, keyed)));
    expect(ids(events(now, keyed))).not.toEqual(ids(events(now, { idempotencyKey: 'l' })));
  });
});

describe('a violation names its place as the short shape does', () => {
  const one = (members: string) => `{"events":[{${members}}]}`;
  const property = (text: string) => one(`"name":"a","properties":{"distinct_id":"u","k":${text}}`);
  const rows: [string, string][] = [
    ['{', 'body: must be valid JSON, the text ends too early, at byte 1'],
    ['{"event":[]}', 'events: is missing: send {"events": [...]}, even for one event'],
    ['{"name":"a"}', 'events: is missing: send {"events": [...]}, even for one event'],
    ['[]', 'body: must be a JSON object'],
    ['{"events":7}', 'events: must be an array'],
    [`{"events":[${'0,'.repeat(1_000)}0]}`, 'events: must hold at most 1000 events, got 1001'],
    ['{"events":[7]}', 'events[0]: must be an object'],
    [one('"name":""'), 'events[0].name: is required'],
    [one('"properties":{}'), 'events[0].name: is required'],
    [one('"name":"a b"'), 'events[0].name: must match ^[a-zA-Z0-9_.-]+$'],
    [one('"name":"svc.a"'), 'events[0].name: must not start with svc.'],
    [
      one('"name":"a","timestamp":"2026-02-30T00:00:00Z"'),
      'events[0].timestamp: must be an RFC 3339 timestamp such as 2026-01-02T03:04:05.678Z',
    ],
    [
      one('"name":"a","timestamp":"1999-01-01T00:00:00Z"'),
      'events[0].timestamp: must not be before 2000-01-01T00:00:00Z',
    ],
    [
      one('"name":"a","timestamp":"2026-10-21T11:59:59.999Z","properties":{"distinct_id":"u"}'),
      'events[0].timestamp: must not be too long before receipt with a public key, at most 30 days: ' +
        "send older events from a server with a private key, and check the device's clock",
    ],
    [one('"name":"a","properties":[]'), 'events[0].properties: must be an object'],
    [property('[]'), 'events[0].properties["k"]: must be a string, a number or a boolean'],
    [property('{}'), 'events[0].properties["k"]: must be a string, a number or a boolean'],
    [property('1e999'), 'events[0].properties["k"]: must be a finite number'],
    [
      property('9007199254740993'),
      'events[0].properties["k"]: must be a string where it is no integer of at most 2^53 - 1 in magnitude',
    ],
    [
      property(`"${'a'.repeat(1_025)}"`),
      'events[0].properties["k"]: must have at most 1024 code points',
    ],
    [property('1,"k":2'), 'events[0].properties["k"]: must not be given twice'],
    [property('"\\ud800"'), 'events[0].properties["k"]: must not escape half of a surrogate pair'],
    [
      one('"name":"a","properties":{"distinct_id":7}'),
      'events[0].properties["distinct_id"]: must be a non-empty string',
    ],
    [
      one('"name":"a","properties":{"distinctId":""}'),
      'events[0].properties["distinctId"]: must be a non-empty string',
    ],
    [
      one('"name":"a","properties":{"distinctId":"u","distinct_id":"u"}'),
      'events[0].properties["distinct_id"]: must be given in one spelling, not in snake_case and camelCase at once',
    ],
    [
      one('"name":"a","properties":{"distinct_id":"cookieless-1"}'),
      'events[0].properties["distinct_id"]: must not start with cookieless-',
    ],
    [
      one('"name":"a","sessionId":"s","session_id":"s"'),
      'events[0].sessionId: must be given in one spelling, not in snake_case and camelCase at once',
    ],
    [
      one('"name":"a","sessionId":7,"properties":{"distinct_id":"u"}'),
      'events[0].sessionId: must be a string',
    ],
    [
      one('"name":"search","properties":{"distinct_id":"u"}'),
      'events[0].properties["query"]: is required by this kind of event',
    ],
    [
      one('"name":"nps_submitted","properties":{"distinct_id":"u","score":11}'),
      'events[0].properties["score"]: must be an integer from 0 to 10 for this kind of event',
    ],
  ];
  for (const [text, message] of rows) {
    it(`${text.slice(0, 100)} -> ${message}`, () => expect(verdict(text)).toBe(message));
  }

  it('invalid UTF-8', () => {
    const read = readShortJsonBody(Buffer.from('7b22ff227d', 'hex'), context);
    expect(result(read)).toBe('body: must be valid UTF-8');
  });
});

describe('binary protobuf', () => {
  const message = (properties: JsonObject) =>
    create(BatchCreateRequestSchema, {
      events: [{ name: 'a', properties, timestamp: timestampFromMs(context.receiveTimeMs) }],
    });
  const read = (properties: JsonObject) =>
    result(
      readShortBinaryBody(
        Buffer.from(toBinary(BatchCreateRequestSchema, message(properties))),
        context,
      ),
    );

  it('means the same as JSON', () => {
    const properties = { distinct_id: 'u', $ip: '203.0.113.9', n: 3, d: 0.5, nothing: null };
    expect(read(properties)).toMatchObject([
      {
        kind: 'a',
        distinctId: 'u',
        occurTime: '2026-11-20T12:00:00Z',
        customProperties: { n: { intValue: '3' }, d: { doubleValue: 0.5 } },
      },
    ]);
    expect(JSON.stringify(read(properties))).not.toContain('203.0.113.9');
    const decoded = readShortMessage(message(properties), context);
    expect(result(decoded)).toEqual(read(properties));
  });

  it('breaks the same rules as JSON', () => {
    expect(read({ distinct_id: 'u', k: [1] })).toBe(
      'events[0].properties["k"]: must be a string, a number or a boolean',
    );
    expect(read({ distinct_id: 'u', k: Number.NaN })).toBe(
      'body: must be a valid protobuf message',
    );
    expect(result(readShortBinaryBody(Buffer.from('x'), context))).toBe(
      'body: must be a valid protobuf message',
    );
  });
});
