import { describe, expect, it } from 'vitest';
import * as limits from '../../../platform/limits.ts';
import { wellKnownKinds } from '../well-known-kinds.ts';
import { blankRanges, createScanner } from './scanner.ts';

const now = Date.UTC(2026, 10, 20, 12);
const scanner = createScanner(limits, wellKnownKinds);
const uuid = '0190a5e0-7c3e-7000-8000-00000000abCD';
const members = {
  eventId: uuid,
  kind: 'plan_changed',
  distinctId: 'user-1',
  sessionId: uuid,
  occurTime: '2026-11-20T11:59:59.123Z',
};

function validate(text: string) {
  return scanner.validate(Buffer.from(text), now);
}

/** The verdict on one event with these members in place of the usual ones: `ok`, or the field and the rule. */
function verdictOf(changed: object): string {
  return verdictOfText(JSON.stringify({ ...members, ...changed }));
}

function verdictOfText(event: string): string {
  const verdict = validate(`{"events":[${event}]}`);
  return verdict.kind === 'ok' ? 'ok' : `${verdict.field}: ${verdict.rule}`;
}

/** The verdict on one custom property, whose value is given as text. */
function verdictOfValue(value: string): string {
  const head = JSON.stringify(members).slice(0, -1);
  return verdictOfText(`${head},"customProperties":{"k":${value}}}`);
}

describe('a body', () => {
  it.each([
    ['{}', 'ok'],
    [' {"events" : [ ] }\r\n', 'ok'],
    ['{"events":null}', 'ok'],
    ['{"later":{"a":[1,{"b":null}]},"events":[]}', 'ok'],
    ['', 'body_json'],
    ['{"events":[]', 'body_json'],
    ['{"events":[]}}', 'body_json'],
    ['{"events":[]}\0', 'body_json'],
    ['{"events":[],}', 'body_json'],
    ['\ufeff{}', 'body_json'],
    ['{"x":"\u0001"}', 'body_json'],
    ['[]', 'body_object'],
    ['null', 'body_object'],
    ['{"events":{}}', 'events_array'],
    ['{"events":[null]}', 'event_object'],
    ['{"x":"\\ud83d"}', 'body_unicode'],
    ['{"x":"\\ud83d\\ude00","events":[]}', 'ok'],
    ['{"x":1}', 'events_missing'],
    ['{"event":[]}', 'events_missing'],
    ['{"\\u0065vents":[]}', 'ok'],
    ['{"x":1,"\\u0078":2}', 'member_once'],
    ['{"x":{"y":{"a":1,"a":1}}}', 'member_once'],
    [`{"events":null,"x":${'['.repeat(99)}${']'.repeat(99)}}`, 'ok'],
    [`{"x":${'['.repeat(100)}${']'.repeat(100)}}`, 'body_depth'],
  ])('%j: %s', (text, expected) => {
    const verdict = validate(text);
    expect(verdict.kind === 'ok' ? 'ok' : verdict.rule).toBe(expected);
  });

  it('must be UTF-8, short or long', () => {
    for (const length of [1, 5_000]) {
      const body = Buffer.from(`{"x":"${'a'.repeat(length)}"}`);
      body[6] = 0xff;
      expect(scanner.validate(body, now)).toMatchObject({ rule: 'body_utf8' });
    }
  });

  it('holds at most 1,000 events', () => {
    const of = (count: number) =>
      validate(JSON.stringify({ events: Array.from({ length: count }, () => members) }));
    expect(of(1_000)).toMatchObject({ kind: 'ok', events: 1_000 });
    expect(of(1_001)).toMatchObject({ rule: 'events_count', field: 'events', detail: 'got 1001' });
  });

  it('is refused for the first event that breaks a rule, with its place', () => {
    const event = JSON.stringify(members);
    const bad = JSON.stringify({ ...members, kind: 'a b' });
    const text = `{"events":[${event},${bad},${bad}]}`;
    const offset = text.indexOf('a b');
    expect(validate(text)).toEqual({
      kind: 'refused',
      rule: 'kind_pattern',
      index: 1,
      field: 'kind',
      offset,
    });
  });

  it('may leave the session out where its caller says so, and only then', () => {
    const { sessionId, ...rest } = members;
    const body = Buffer.from(JSON.stringify({ events: [rest] }));
    const unbounded = Number.POSITIVE_INFINITY;
    expect(scanner.validate(body, now, 0, unbounded, true)).toMatchObject({ kind: 'ok' });
    expect(scanner.validate(body, now)).toMatchObject({ rule: 'identity_required' });
    const wrong = Buffer.from(JSON.stringify({ events: [{ ...rest, sessionId: 'x' }] }));
    expect(scanner.validate(wrong, now, 0, unbounded, true)).toMatchObject({ rule: 'uuid' });
  });

  it('has its events and its cookieless events counted', () => {
    const { distinctId, sessionId, ...rest } = members;
    const events = [members, { ...rest, cookieless: true }, { ...members, cookieless: false }];
    expect(validate(JSON.stringify({ events }))).toMatchObject({ events: 3, cookieless: 1 });
  });

  it.each([
    ['2026-11-20T11:00:00Z', [1, 0, false]],
    ['2026-11-21T00:59:59+01:00', [1, 0, false]],
    ['2026-11-21T00:00:00Z', [0, 0, false]],
    ['2026-11-20T00:30:00.001Z', [1, 0, false]],
    ['2026-11-20T00:30:00.000999999Z', [1, 0, true]],
    ['2026-11-20T00:00:00Z', [1, 0, true]],
    ['2026-11-19T23:59:59.999Z', [0, 1, true]],
    ['2026-11-19T23:30:00Z', [0, 1, true]],
    ['2026-11-19T23:29:59.999Z', [0, 1, false]],
    ['2026-11-19T00:00:00Z', [0, 1, false]],
    ['2026-11-18T23:59:59.999Z', [0, 0, false]],
  ])('has a cookieless event of %s counted by its day: %j', (occurTime, expected) => {
    const { distinctId, sessionId, ...rest } = members;
    const other = { ...rest, occurTime, cookieless: false, distinctId, sessionId };
    const verdict = validate(
      JSON.stringify({ events: [{ cookieless: true, ...rest, occurTime }, other] }),
    );
    if (verdict.kind !== 'ok') throw new Error(verdict.rule);
    const { cookieless, cookielessToday, cookielessYesterday, cookielessAtMidnight } = verdict;
    expect(cookieless).toBe(1);
    expect([cookielessToday, cookielessYesterday, cookielessAtMidnight]).toEqual(expected);
    expect(validate('{}')).toMatchObject({ cookielessToday: 0, cookielessAtMidnight: false });
  });
});

describe('a field of an event', () => {
  it.each([
    [{}, 'ok'],
    [{ eventId: undefined, event_id: uuid }, 'ok'],
    [{ event_id: uuid }, 'eventId: member_spelling'],
    [{ eventId: null }, 'eventId: required'],
    [{ eventId: '' }, 'eventId: required'],
    [{ eventId: 1 }, 'eventId: must_be_string'],
    [{ eventId: uuid.toUpperCase() }, 'ok'],
    [{ eventId: uuid.replace('a', 'g') }, 'eventId: uuid'],
    [{ eventId: `${uuid}0` }, 'eventId: uuid'],
    [{ kind: '' }, 'kind: required'],
    [{ kind: 'a.B-c_9' }, 'ok'],
    [{ kind: 'a b' }, 'kind: kind_pattern'],
    [{ kind: 'k'.repeat(200) }, 'ok'],
    [{ kind: 'k'.repeat(201) }, 'kind: kind_length'],
    [{ kind: 'é'.repeat(200) }, 'kind: kind_pattern'],
    [{ kind: 'svc.x' }, 'kind: kind_prefix'],
    [{ kind: 'svc' }, 'ok'],
    [{ distinctId: '' }, 'distinctId: identity_required'],
    [{ distinctId: 'cookieless-x' }, 'distinctId: distinct_id_prefix'],
    [{ distinctId: '😀'.repeat(512) }, 'ok'],
    [{ distinctId: '😀'.repeat(513) }, 'distinctId: distinct_id_length'],
    [{ sessionId: null }, 'sessionId: identity_required'],
    [{ sessionId: '' }, 'sessionId: uuid'],
    [{ cookieless: 1 }, 'cookieless: must_be_boolean'],
    [{ cookieless: true }, 'distinctId: cookieless_identity'],
    [{ cookieless: true, distinctId: '' }, 'sessionId: cookieless_identity'],
    [{ cookieless: true, distinctId: '', sessionId: '' }, 'sessionId: uuid'],
    [{ cookieless: true, distinctId: null, sessionId: null }, 'ok'],
    [{ later: { a: [1] } }, 'ok'],
  ])('%j: %s', (changed, expected) => {
    expect(verdictOf(changed)).toBe(expected);
  });

  it.each([
    ['2026-11-20T11:59:59Z', 'ok'],
    ['2026-11-20T11:59:59.123456789+05:30', 'ok'],
    ['2024-02-29T00:00:00Z', 'ok'],
    ['2000-01-01T00:00:00Z', 'ok'],
    ['2000-01-01T00:00:00+00:01', 'time_early'],
    ['2026-11-22T12:00:00.000Z', 'ok'],
    ['2026-11-22T12:00:00.001Z', 'time_ahead'],
    ['2026-11-22T17:30:00.000+05:30', 'ok'],
    ['2026-02-29T00:00:00Z', 'timestamp'],
    ['2100-02-29T00:00:00Z', 'timestamp'],
    ['2026-04-31T00:00:00Z', 'timestamp'],
    ['2026-13-01T00:00:00Z', 'timestamp'],
    ['2026-11-20T24:00:00Z', 'timestamp'],
    ['2026-11-20T11:60:00Z', 'timestamp'],
    ['2026-11-20T11:59:60Z', 'timestamp'],
    ['2026-11-20t11:59:59Z', 'timestamp'],
    ['2026-11-20T11:59:59z', 'timestamp'],
    ['2026-11-20 11:59:59Z', 'timestamp'],
    ['2026-11-20T11:59:59', 'timestamp'],
    ['2026-11-20T11:59:59.Z', 'timestamp'],
    ['2026-11-20T11:59:59.1234567890Z', 'timestamp'],
    ['2026-11-20T11:59:59+24:00', 'timestamp'],
    ['2026-11-20T11:59:59+0530', 'timestamp'],
    ['0000-12-31T23:59:59Z', 'timestamp'],
    ['', 'timestamp'],
  ])('occurTime %s: %s', (occurTime, expected) => {
    expect(verdictOf({ occurTime })).toBe(expected === 'ok' ? 'ok' : `occurTime: ${expected}`);
  });
});

describe('a property', () => {
  const at = (rule: string, variant = ''): string => `customProperties["k"]${variant}: ${rule}`;
  it.each([
    ['{"stringValue":""}', 'ok'],
    ['{ "string_value" : "a" , "later" : [ ] }', 'ok'],
    ['{"stringValue":null,"boolValue":true}', 'ok'],
    ['{"stringValue":"a","boolValue":true}', at('property_value')],
    ['{"stringValue":"a","string_value":"a"}', at('property_value')],
    ['{}', at('property_value')],
    ['null', at('property_value')],
    ['"a"', at('property_value')],
    ['{"stringValue":1}', at('must_be_string', '.stringValue')],
    ['{"boolValue":"true"}', at('must_be_boolean', '.boolValue')],
    ['{"timestampValue":"2026-02-30T00:00:00Z"}', at('timestamp', '.timestampValue')],
    [`{"stringValue":"${'a'.repeat(1024)}"}`, 'ok'],
    [`{"stringValue":"${'a'.repeat(1025)}"}`, at('string_length', '.stringValue')],
    [`{"stringValue":"${'😀'.repeat(1024)}"}`, 'ok'],
    [`{"stringValue":"${'😀'.repeat(1025)}"}`, at('string_length', '.stringValue')],
    [`{"stringValue":"${'\\u00e9'.repeat(1024)}"}`, 'ok'],
    [`{"stringValue":"${'\\ud83d\\ude00'.repeat(1024)}"}`, 'ok'],
    [`{"stringValue":"${'\\ud83d\\ude00'.repeat(1024)}a"}`, at('string_length', '.stringValue')],
    ['{"intValue":"9223372036854775807"}', 'ok'],
    ['{"intValue":"9223372036854775808"}', at('int64', '.intValue')],
    ['{"intValue":"-9223372036854775808"}', 'ok'],
    ['{"intValue":"-9223372036854775809"}', at('int64', '.intValue')],
    ['{"intValue":"99999999999999999999"}', at('int64', '.intValue')],
    ['{"intValue":"\\u0031"}', 'ok'],
    ['{"intValue":"01"}', at('int64', '.intValue')],
    ['{"intValue":"1e3"}', at('int64', '.intValue')],
    ['{"intValue":""}', at('int64', '.intValue')],
    ['{"intValue":true}', at('int64', '.intValue')],
    ['{"intValue":1e3}', 'ok'],
    ['{"intValue":10e-1}', 'ok'],
    ['{"intValue":9007199254740991}', 'ok'],
    ['{"intValue":9007199254740992}', at('int64_number', '.intValue')],
    ['{"intValue":9007199254740990.4}', at('int64_number', '.intValue')],
    ['{"intValue":1e-400}', at('int64_number', '.intValue')],
    ['{"intValue":1e400}', at('int64_number', '.intValue')],
    ['{"doubleValue":1.7976931348623157e308}', 'ok'],
    ['{"doubleValue":1.7976931348623159e308}', at('finite_double', '.doubleValue')],
    [`{"doubleValue":1${'0'.repeat(309)}}`, at('finite_double', '.doubleValue')],
    ['{"doubleValue":"12.5"}', 'ok'],
    ['{"doubleValue":"NaN"}', at('finite_double', '.doubleValue')],
    ['{"doubleValue":" 1"}', at('finite_double', '.doubleValue')],
  ])('%s: %s', (value, expected) => {
    expect(verdictOfValue(value)).toBe(expected);
  });

  const text = { stringValue: 'a' };
  it.each([
    [{ autoProperties: { a: text } }, 'autoProperties["a"]: auto_key_prefix'],
    [{ customProperties: { $a: text } }, 'customProperties["$a"]: custom_key_prefix'],
    [{ customProperties: { '': text } }, 'customProperties[""]: property_key_length'],
    [{ customProperties: { ['😀'.repeat(255)]: text } }, 'ok'],
    [{ customProperties: [] }, 'customProperties: properties_object'],
    [{ customProperties: null }, 'ok'],
    // In the order in which JavaScript walks an object: array indices first.
    [{ customProperties: { b: 1, 2: 1, 1: text } }, 'customProperties["2"]: property_value'],
  ])('%j: %s', (changed, expected) => {
    expect(verdictOf(changed)).toBe(expected);
  });

  it('is one of at most 256 of its map, each key once', () => {
    const of = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, text]));
    expect(verdictOf({ customProperties: of(256) })).toBe('ok');
    expect(verdictOf({ customProperties: of(257) })).toBe('customProperties: properties_count');
    const twice = JSON.stringify({ ...members, customProperties: of(300) }).replace(
      '"k299"',
      '"k7"',
    );
    expect(verdictOfText(twice)).toBe('customProperties["k7"]: member_once');
  });
});

describe('a well-known kind', () => {
  const custom = (kind: string, customProperties: object) => verdictOf({ kind, customProperties });
  it('needs its listed properties, in either spelling', () => {
    expect(custom('product_viewed', {})).toBe(
      'customProperties["product_id"]: well_known_required',
    );
    expect(custom('product_viewed', { productId: { intValue: '1' } })).toBe('ok');
    expect(custom('product_viewed', { productId: { stringValue: '' } })).toBe(
      'customProperties["productId"]: well_known_id',
    );
    const both = { product_id: { intValue: '1' }, productId: { intValue: '1' } };
    expect(custom('product_viewed', both)).toBe('customProperties["productId"]: member_spelling');
    expect(custom('scroll', { percent: { doubleValue: 100.5 } })).toBe(
      'customProperties["percent"]: well_known_percent',
    );
    expect(custom('purchase', { amount: { doubleValue: 0 } })).toBe(
      'customProperties["amount"]: well_known_amount',
    );
  });

  it('may follow its properties in the text, and be escaped', () => {
    const event = `{"customProperties":{"\\u0070ercent":{"intValue":"101"}},${JSON.stringify(members).slice(1)}`;
    expect(verdictOfText(event.replace('plan_changed', 'scr\\u006fll'))).toBe(
      'customProperties["percent"]: well_known_percent',
    );
    const currency = { currency: { stringValue: 'EUR' } };
    const text = JSON.stringify({ ...members, kind: 'purchase', customProperties: currency });
    expect(verdictOfText(text.replace('EUR', '\\u0045UR'))).toBe('ok');
  });
});

describe('$ip', () => {
  it('is found at every place, and overwritten in place', () => {
    const event = JSON.stringify({
      ...members,
      autoProperties: { $ip: { stringValue: '192.0.2.7' } },
    });
    const text = `{"$ip":"192.0.2.7","x":[{"\\u0024ip":{"$ip":["192.0.2.7"]}}],"events":[${event}]}`;
    const body = Buffer.from(text);
    const verdict = scanner.validate(body, now);
    if (verdict.kind !== 'ok' || verdict.ipRanges === undefined) throw new Error('not valid');
    expect(verdict.ipRanges).toHaveLength(3);
    blankRanges(body, verdict.ipRanges);
    expect(body.toString()).not.toContain('192.0.2.7');
    expect(body.length).toBe(Buffer.byteLength(text));
    expect(scanner.validate(body, now)).toMatchObject({ kind: 'ok', events: 1 });
  });
});
