// The reference path of a body, and the readers of values, moments and UUIDs that it stands on.

import { describe, expect, it } from 'vitest';
import { propertyMaps } from '../../../platform/clickhouse/event-columns.ts';
import type { CookielessIds } from '../../../proto/wire/frame.ts';
import { formatUuid, parseUuid } from '../uuid.ts';
import { createRequestRows, decodeRequest } from './reference-rows.ts';
import { parseTimestampMs } from './validated-timestamp.ts';

const receiveTimeMs = Date.UTC(2026, 10, 20, 12);
const context = { projectId: 'p', credential: 'private', receiveTimeMs } as const;
const event = {
  eventId: '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0',
  sessionId: 'ffffffff-0000-1111-2222-333333333333',
  distinctId: 'visitor',
  kind: 'click',
  occurTime: '2026-11-20T10:00:00.5Z',
};

function decode(body: unknown): { rows: unknown[]; unreadable: unknown[] } {
  const request = createRequestRows();
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const unreadable = decodeRequest({ context, body: Buffer.from(text), events: 3 }, request);
  const rows = request.rows.slice(0, request.count).map((row) => ({
    eventId: formatUuid(new Uint8Array(row.eventId.buffer)),
    sessionId: formatUuid(new Uint8Array(row.sessionId.buffer)),
    distinctId: row.distinctId,
    kind: row.kind,
    cookieless: row.cookieless,
    occurTimeMs: row.occurTimeMs,
    texts: row.texts.filter((text) => text !== ''),
    properties: row.keys
      .slice(0, row.count)
      .map((key, index) => [
        key,
        propertyMaps[row.variants[index] ?? 0]?.variant,
        row.values[index],
      ]),
  }));
  return { rows, unreadable };
}

/** Variant and value of the custom property `x` with this PropertyValue; the unreadable events where it has none. */
function value(propertyValue: unknown): unknown {
  const { rows, unreadable } = decode({
    events: [{ ...event, customProperties: { x: propertyValue } }],
  });
  const [row] = rows as { properties: unknown[][] }[];
  return row?.properties[0]?.slice(1) ?? unreadable;
}

const eventFields = {
  ...event,
  occurTimeMs: Date.UTC(2026, 10, 20, 10) + 500,
  cookieless: false,
  texts: [],
  properties: [],
};
const { occurTime: _, ...eventRow } = eventFields;

describe('a body', () => {
  it('is read in camelCase and in snake_case', () => {
    const properties = {
      auto: { $browser: { stringValue: 'b' }, $x: { string_value: 'x' } },
      custom: { 'a.b': { intValue: '1' }, c: { int_value: '2' } },
    };
    const camel = {
      ...event,
      autoProperties: properties.auto,
      customProperties: properties.custom,
    };
    const snake = {
      event_id: event.eventId,
      session_id: event.sessionId,
      distinct_id: event.distinctId,
      kind: event.kind,
      occur_time: event.occurTime,
      auto_properties: properties.auto,
      custom_properties: properties.custom,
    };
    const row = {
      ...eventRow,
      texts: ['b'],
      properties: [
        ['$x', 'stringValue', 'x'],
        ['a.b', 'intValue', 1],
        ['c', 'intValue', 2],
      ],
    };
    expect(decode({ events: [camel, snake] })).toEqual({ rows: [row, row], unreadable: [] });
  });

  it('may leave out, or set to null, a field that has a default', () => {
    const nulls = { autoProperties: null, custom_properties: null, cookieless: null, unknown: 1 };
    const events = [event, { ...event, ...nulls }, { ...event, customProperties: {} }];
    expect(decode({ events })).toEqual({ rows: [eventRow, eventRow, eventRow], unreadable: [] });
    for (const none of ['{}', '{"events":null}', '{"events":[]}']) {
      expect(decode(none)).toEqual({ rows: [], unreadable: [] });
    }
  });

  it('is unreadable as a whole where it is no batch', () => {
    for (const body of ['', '[]', '1', 'null', '{"events":{}}', '{"events":[}', '\u0000']) {
      const request = { index: undefined, reason: 'request_unreadable', content: body };
      expect(decode(body)).toEqual({ rows: [], unreadable: [request] });
    }
  });

  it.each([
    ['event_unreadable', null],
    ['event_unreadable', 'text'],
    ['event_id_invalid', { ...event, eventId: undefined }],
    ['event_id_invalid', { ...event, eventId: event.eventId.slice(1) }],
    ['event_id_invalid', { ...event, eventId: event.eventId.replace('f', 'g') }],
    ['session_id_invalid', { ...event, sessionId: '' }],
    ['identity_missing', { ...event, distinctId: '' }],
    ['kind_missing', { ...event, kind: undefined }],
    ['occur_time_out_of_range', { ...event, occurTime: undefined }],
    ['occur_time_out_of_range', { ...event, occurTime: 'yesterday' }],
    ['occur_time_out_of_range', { ...event, occurTime: '1999-12-31T23:59:59.999Z' }],
    ['occur_time_out_of_range', { ...event, occurTime: '2026-11-22T12:00:00.001Z' }],
    ['property_unreadable', { ...event, customProperties: { x: {} } }],
    ['property_unreadable', { ...event, customProperties: { x: 'text' } }],
    ['property_unreadable', { ...event, customProperties: [] }],
    ['property_unreadable', { ...event, autoProperties: { $x: { intValue: '1.5' } } }],
  ])('with one event that is %s keeps the others', (reason, bad) => {
    expect(decode({ events: [event, bad, event] })).toEqual({
      rows: [eventRow, eventRow],
      unreadable: [{ index: 1, reason, content: JSON.stringify(bad) }],
    });
  });

  it('may have an occurTime at either end of the allowed range', () => {
    const first = { ...event, occurTime: '2000-01-01T00:00:00Z' };
    const last = { ...event, occurTime: '2026-11-22T12:00:00Z' };
    expect(decode({ events: [first, last] }).unreadable).toEqual([]);
  });

  it('gives an auto property its column only as non-empty text', () => {
    const autoProperties = {
      $browser: { stringValue: '' },
      $os: { intValue: '3' },
      $city: { stringValue: 'X' },
      $utm_source: { stringValue: 'kept as sent' },
    };
    expect(decode({ events: [{ ...event, autoProperties }] }).rows).toEqual([
      {
        ...eventRow,
        texts: ['X'],
        properties: [
          ['$browser', 'stringValue', ''],
          ['$os', 'intValue', 3],
          ['$utm_source', 'stringValue', 'kept as sent'],
        ],
      },
    ]);
  });

  it('may name a property like a member of every object', () => {
    const body = `{"events":[${JSON.stringify(event).slice(0, -1)},"customProperties":
      {"__proto__":{"stringValue":"a"},"constructor":{"stringValue":"b"},"toString":{"stringValue":"c"}}}]}`;
    expect(decode(body).rows).toEqual([
      {
        ...eventRow,
        properties: [
          ['__proto__', 'stringValue', 'a'],
          ['constructor', 'stringValue', 'b'],
          ['toString', 'stringValue', 'c'],
        ],
      },
    ]);
  });
});

describe('a value', () => {
  it.each([
    [{ stringValue: '' }, 'stringValue', ''],
    [{ stringValue: '\u0000😀' }, 'stringValue', '\u0000😀'],
    [{ intValue: '0' }, 'intValue', 0],
    [{ intValue: '-0' }, 'intValue', 0],
    [{ intValue: 7 }, 'intValue', 7],
    [{ intValue: '9007199254740991' }, 'intValue', 9007199254740991],
    [{ intValue: '9007199254740993' }, 'intValue', 9007199254740993n],
    [{ intValue: '-9223372036854775808' }, 'intValue', -(2n ** 63n)],
    [{ intValue: '9223372036854775807' }, 'intValue', 2n ** 63n - 1n],
    [{ intValue: '9223372036854775807.000' }, 'intValue', 2n ** 63n - 1n],
    [{ intValue: '1e18' }, 'intValue', 10n ** 18n],
    [{ intValue: '92233720368547758.07E2' }, 'intValue', 2n ** 63n - 1n],
    [{ doubleValue: 0.1 }, 'doubleValue', 0.1],
    [{ doubleValue: '1e300' }, 'doubleValue', 1e300],
    [{ doubleValue: 5e-324 }, 'doubleValue', 5e-324],
    [{ boolValue: false }, 'boolValue', false],
    [{ boolValue: true }, 'boolValue', true],
    [{ timestampValue: '1970-01-01T00:00:00.001Z' }, 'timestampValue', 1],
    [{ stringValue: null, bool_value: true, later: 1 }, 'boolValue', true],
  ])('%j', (sent, variant, held) => {
    expect(value(sent)).toEqual([variant, held]);
  });

  it('keeps the sign of zero', () => {
    const [, held] = value({ doubleValue: '-0' }) as unknown[];
    expect(Object.is(held, -0)).toBe(true);
  });

  it.each([
    { intValue: '9223372036854775808' },
    { intValue: '-9223372036854775809' },
    { intValue: '9223372036854775807.5' },
    { intValue: '1e999999999' },
    { intValue: 'x' },
    { intValue: true },
    { doubleValue: 'NaN' },
    { doubleValue: '1e999' },
    { boolValue: 'true' },
    { stringValue: 1 },
    { timestampValue: 'x' },
    { timestampValue: 1 },
    { other: 1 },
    {},
  ])('%j is not readable', (sent) => {
    expect(value(sent)).toMatchObject([{ reason: 'property_unreadable' }]);
  });
});

describe('a moment', () => {
  it.each([
    ['2026-01-02T03:04:05Z', Date.UTC(2026, 0, 2, 3, 4, 5)],
    ['2026-01-02T03:04:05.678Z', Date.UTC(2026, 0, 2, 3, 4, 5, 678)],
    ['2026-01-02T03:04:05.6789Z', Date.UTC(2026, 0, 2, 3, 4, 5, 678)],
    ['2026-01-02T03:04:05.999999999Z', Date.UTC(2026, 0, 2, 3, 4, 5, 999)],
    ['2026-01-02T03:04:05.5+05:30', Date.UTC(2026, 0, 1, 21, 34, 5, 500)],
    ['2024-02-29T23:59:59-00:01', Date.UTC(2024, 2, 1, 0, 0, 59)],
    ['1969-12-31T23:59:59.9999Z', -1],
    ['0001-01-01T00:00:00Z', -62_135_596_800_000],
    ['0099-12-31T23:59:59.999Z', -59_011_459_200_001],
    ['9999-12-31T23:59:59.999999999Z', 253_402_300_799_999],
  ])('%s', (text, ms) => {
    expect(parseTimestampMs(text)).toBe(ms);
  });

  it.each(['', 'x', '2026-01-02T03:04:0xZ', '2026-0a-02T03:04:05Z', '2026-01-02T03:04:05.67xZ'])(
    '%j is none',
    (text) => expect(parseTimestampMs(text)).toBeNaN(),
  );
});

describe('a UUID', () => {
  it('becomes sixteen bytes in text order, and text again', () => {
    const words = new Uint32Array(4);
    const text = '0123ABCD-4567-89ab-CDEF-fedcba987654';
    expect(parseUuid(text, words)).toBe(true);
    expect([...new Uint8Array(words.buffer)]).toEqual([
      ...Buffer.from(text.replaceAll('-', ''), 'hex'),
    ]);
    expect(formatUuid(new Uint8Array(words.buffer))).toBe(text.toLowerCase());
  });

  it.each([
    '',
    '0123abcd-4567-89ab-cdef-fedcba98765',
    '0123abcd-4567-89ab-cdef-fedcba9876543',
    '0123abcd+4567-89ab-cdef-fedcba987654',
    '0123abcd-4567-89ab-cdef-fedcba98765g',
    '0123abcd-4567-89ab-cdef-fedcba98765\u0130',
    '{123abcd-4567-89ab-cdef-fedcba98765}',
  ])('%j is not readable', (text) => {
    expect(parseUuid(text, new Uint32Array(4))).toBe(false);
  });
});

describe('an event without an identity', () => {
  const ids = { today: 'cookieless-t', yesterday: 'cookieless-y' };
  const bare = { eventId: event.eventId, kind: 'click', cookieless: true };

  /** The visitor's ids of an event at `occurTime`: own and beyond midnight; undefined where it becomes no row. */
  function idsAt(occurTime: string, cookieless: CookielessIds | undefined): unknown {
    const into = createRequestRows();
    const body = Buffer.from(JSON.stringify({ events: [{ ...bare, occurTime }] }));
    const withIds = cookieless === undefined ? context : { ...context, cookieless };
    expect(decodeRequest({ context: withIds, body, events: 1 }, into)).toEqual([]);
    const [row] = into.rows;
    if (into.count === 0 || row === undefined) return undefined;
    expect([row.cookieless, row.sessionDerived]).toEqual([true, true]);
    return [row.distinctId, row.otherId];
  }

  it.each([
    ['2026-11-20T00:30:00.001Z', ['cookieless-t', '']],
    ['2026-11-20T00:30:00Z', ['cookieless-t', 'cookieless-y']],
    ['2026-11-20T00:00:00Z', ['cookieless-t', 'cookieless-y']],
    ['2026-11-19T23:59:59.999Z', ['cookieless-y', 'cookieless-t']],
    ['2026-11-20T01:00:00+02:00', ['cookieless-y', '']],
    ['2026-11-19T00:00:00Z', ['cookieless-y', '']],
    ['2026-11-18T23:59:59.999Z', undefined],
    ['2026-11-20T23:59:59.999Z', ['cookieless-t', '']],
    ['2026-11-21T00:00:00Z', undefined],
  ])(
    'at %s has the id of its own day, and near midnight that of the other day too',
    (occurTime, expected) => {
      expect(idsAt(occurTime, ids)).toEqual(expected);
    },
  );

  it('becomes no row where its day has no id: ingest told its sender so', () => {
    expect(idsAt('2026-11-20T10:00:00Z', { yesterday: 'cookieless-y' })).toBeUndefined();
    expect(idsAt('2026-11-19T10:00:00Z', { today: 'cookieless-t' })).toBeUndefined();
    expect(idsAt('2026-11-20T10:00:00Z', undefined)).toBeUndefined();
    expect(idsAt('2026-11-20T00:10:00Z', { today: 'cookieless-t' })).toEqual(['cookieless-t', '']);
  });

  it('has no session yet where it names a user and no session: the writer assigns one', () => {
    const into = createRequestRows();
    const { sessionId: _, ...sent } = event;
    const body = Buffer.from(JSON.stringify({ events: [sent, event] }));
    expect(decodeRequest({ context, body, events: 2 }, into)).toEqual([]);
    expect(into.rows.map((row) => [row.distinctId, row.sessionDerived, row.otherId])).toEqual([
      ['visitor', true, ''],
      ['visitor', false, ''],
    ]);
  });
});
