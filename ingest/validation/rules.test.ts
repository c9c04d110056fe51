// Every rule of proto/wire/rules.ts, broken once through each reader that its home names. The samples' types and the
// loops follow the table, so that a rule without a sample fails here.

import { createServer } from 'node:http';
import { create, fromJson, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import { dayMs, systemClock } from '../../platform/clock.ts';
import { BodyReceiver } from '../../platform/http/bodies/received-body.ts';
import { RequestMemory } from '../../platform/http/bodies/request-memory.ts';
import * as limits from '../../platform/limits.ts';
import { createLog } from '../../platform/log.ts';
import { BatchCreateRequestSchema as ShortRequestSchema } from '../../proto/gen/events/v1/events_pb.js';
import { BatchCreateRequestSchema } from '../../proto/gen/sdk/events/v1/events_pb.js';
import { IdentifyRequestSchema } from '../../proto/gen/sdk/profiles/v1/profiles_pb.js';
import { type Rule, type RuleOf, rulesOf } from '../../proto/wire/rules.ts';
import { createScanner } from '../../proto/wire/scanner/scanner.ts';
import { wellKnownKinds } from '../../proto/wire/well-known-kinds.ts';
import { createUnaryRoute, type UnaryMethod } from '../rpc/unary-route.ts';
import { identifyReader, type ReadChange } from './identity-rules.ts';
import { readShortBinaryBody, readShortJsonBody } from './short-shape.ts';
import { type ReadBody, readBinaryBody, readJsonBody } from './text/reference-body.ts';

const receiveTimeMs = Date.UTC(2026, 10, 20, 12);
const uuid = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
const context = {
  receiveTimeMs,
  maxBodyBytes: 1_000_000,
  maxAgeMs: 30 * dayMs,
  projectId: uuid,
  idempotencyKey: undefined,
};
const valid = {
  eventId: uuid,
  kind: 'signup',
  distinctId: 'user-1',
  sessionId: uuid,
  occurTime: '2026-11-20T11:00:00Z',
};

/** A request that breaks one rule, and the place of its violation. */
interface Sample {
  body: string | Buffer;
  index: number;
  field: string;
}

const ofRequest = (field: string, body: string | Buffer): Sample => ({ index: -1, field, body });

/** A valid event, then one that has `event` as its JSON text. */
const ofText = (field: string, event: string): Sample => ({
  index: 1,
  field,
  body: `{"events":[${JSON.stringify(valid)},${event}]}`,
});

/** The second event with these members in place of the valid ones; undefined leaves one out. */
const ofEvent = (field: string, members: object): Sample =>
  ofText(field, JSON.stringify({ ...valid, ...members }));

/** The second event with one custom property of this value. */
const ofValue = (variant: string, value: object): Sample =>
  ofEvent(`customProperties["k"]${variant}`, { customProperties: { k: value } });

const ofKind = (kind: string, name: string, value?: object): Sample =>
  ofEvent(`customProperties["${name}"]`, {
    kind,
    ...(value !== undefined && { customProperties: { [name]: value } }),
  });

const text = { stringValue: 'x' };
const twoHundredFiftySeven = Object.fromEntries(
  Array.from({ length: 257 }, (_, index) => [`k${index}`, text]),
);

function manyMembers(count: number): string {
  return Array.from({ length: count }, (_, index) => `"${index}":0`).join(',');
}

const samplesOfBoth: Record<RuleOf<'both'>, Sample> = {
  body_utf8: ofRequest('body', Buffer.from('7b22ff227d', 'hex')),
  body_json: ofRequest('body', '{"events":[}'),
  body_object: ofRequest('body', '[]'),
  body_unicode: ofRequest('a', '{"a":"\\ud800"}'),
  body_depth: ofRequest('body', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`),
  member_once: ofRequest('a', '{"a":1,"a":2}'),
  members_count: ofRequest('a', `{"a":{${manyMembers(limits.maxMembersPerObject + 1)}}}`),
  member_spelling: ofEvent('customProperties["screenName"]', {
    kind: 'screen_view',
    customProperties: { screen_name: text, screenName: text },
  }),
  events_array: ofRequest('events', '{"events":7}'),
  events_count: ofRequest('events', JSON.stringify({ events: new Array(1_001).fill(valid) })),
  events_missing: ofRequest('events', '{"event":[]}'),
  event_object: ofText('', '7'),
  required: ofEvent('eventId', { eventId: undefined }),
  must_be_string: ofEvent('kind', { kind: 7 }),
  must_be_boolean: ofEvent('cookieless', { cookieless: 1 }),
  uuid: ofEvent('eventId', { eventId: '7' }),
  timestamp: ofEvent('occurTime', { occurTime: '2026-11-20' }),
  time_early: ofEvent('occurTime', { occurTime: '1999-12-31T23:59:59Z' }),
  occur_time_too_old: ofEvent('occurTime', { occurTime: '2026-10-21T11:59:59.999Z' }),
  time_ahead: ofEvent('occurTime', { occurTime: '2026-11-22T12:00:01Z' }),
  cookieless_identity: ofEvent('distinctId', { cookieless: true }),
  identity_required: ofEvent('distinctId', { distinctId: undefined }),
  distinct_id_length: ofEvent('distinctId', { distinctId: 'd'.repeat(513) }),
  distinct_id_prefix: ofEvent('distinctId', { distinctId: 'cookieless-1' }),
  kind_pattern: ofEvent('kind', { kind: 'a b' }),
  kind_length: ofEvent('kind', { kind: 'k'.repeat(201) }),
  kind_prefix: ofEvent('kind', { kind: 'svc.a' }),
  properties_object: ofEvent('customProperties', { customProperties: [] }),
  properties_count: ofEvent('customProperties', { customProperties: twoHundredFiftySeven }),
  property_key_length: ofEvent('customProperties[""]', { customProperties: { '': text } }),
  auto_key_prefix: ofEvent('autoProperties["a"]', { autoProperties: { a: text } }),
  custom_key_prefix: ofEvent('customProperties["$a"]', { customProperties: { $a: text } }),
  property_value: ofValue('', {}),
  string_length: ofValue('.stringValue', { stringValue: 'x'.repeat(1_025) }),
  int64: ofValue('.intValue', { intValue: '9223372036854775808' }),
  int64_number: ofValue('.intValue', { intValue: 1.5 }),
  finite_double: ofValue('.doubleValue', { doubleValue: 'NaN' }),
  well_known_required: ofKind('search', 'query'),
  well_known_id: ofKind('order_refunded', 'order_id', { boolValue: true }),
  well_known_text: ofKind('search', 'query', { boolValue: true }),
  well_known_non_empty: ofKind('screen_view', 'screen_name', { stringValue: '' }),
  well_known_amount: ofKind('purchase', 'amount', { doubleValue: 0 }),
  well_known_currency: ofKind('purchase', 'currency', { stringValue: 'eur' }),
  well_known_click_count: ofKind('rage_click', 'click_count', { intValue: '1' }),
  well_known_percent: ofKind('scroll', 'percent', { intValue: '101' }),
  well_known_score: ofKind('nps_submitted', 'score', { intValue: '11' }),
};

/** The violation that a reader found; undefined where it took the body. */
function violationOf(read: ReadBody | ReadChange): object | undefined {
  return read.kind === 'invalid' ? read.violation : undefined;
}

function sampleOf<R extends Rule>(samples: Record<R, Sample>, rule: R) {
  const { body, index, field } = samples[rule];
  return { body, verdict: { rule, index, field } };
}

const jsonOf = (body: string | Buffer) => JSON.parse(body.toString());

/** The bytes that `make` returns; undefined where it throws, because protobuf cannot express the sample. */
function encoded(make: () => Uint8Array): Buffer | undefined {
  try {
    return Buffer.from(make());
  } catch {
    return undefined;
  }
}

describe('both: a body of JSON in the typed shape', () => {
  const scanner = createScanner(limits, wellKnownKinds);
  it.each(rulesOf('both'))('%s', (rule) => {
    const { body, verdict } = sampleOf(samplesOfBoth, rule);
    const bytes = Buffer.from(body);
    expect(scanner.validate(bytes, receiveTimeMs, 0, context.maxAgeMs)).toMatchObject(verdict);
    expect(violationOf(readJsonBody(bytes, context))).toMatchObject(verdict);
  });

  it('a binary body of the same sample breaks the same rule, where protobuf can express it', () => {
    const onlyInJson: Rule[] = [];
    for (const rule of rulesOf('both')) {
      const { body, verdict } = sampleOf(samplesOfBoth, rule);
      const bytes = encoded(() =>
        toBinary(BatchCreateRequestSchema, fromJson(BatchCreateRequestSchema, jsonOf(body))),
      );
      if (bytes === undefined) onlyInJson.push(rule);
      else expect(violationOf(readBinaryBody(bytes, context))).toMatchObject(verdict);
    }
    expect(onlyInJson).toEqual([
      'body_utf8',
      'body_json',
      'body_object',
      'body_unicode',
      'body_depth',
      'member_once',
      'members_count',
      'events_array',
      'events_missing',
      'event_object',
      'must_be_string',
      'must_be_boolean',
      'timestamp',
      'properties_object',
      'int64',
      'int64_number',
    ]);
  });
});

/** A binary body: events of as many fields that no rule knows. */
function eventsOfFields(events: number, fields: number): Buffer {
  const content = Buffer.from('7801'.repeat(fields), 'hex');
  const length = [0x80 | (content.length & 0x7f), 0x80 | ((content.length >> 7) & 0x7f)];
  const event = Buffer.concat([Buffer.from([0x0a, ...length, content.length >> 14]), content]);
  return Buffer.concat(Array.from({ length: events }, () => event));
}

describe('binary only', () => {
  const unreadable = create(BatchCreateRequestSchema, {
    events: [
      { ...valid, occurTime: timestampFromMs(receiveTimeMs) },
      { ...valid, occurTime: { seconds: 253_402_300_800n } },
    ],
  });
  const samples: Record<RuleOf<'binary only'>, Sample> = {
    body_protobuf: ofRequest('body', Buffer.from('x')),
    fields_count: ofRequest('body', eventsOfFields(105, 9_999)),
    timestamp_range: {
      index: 1,
      field: '',
      body: Buffer.from(toBinary(BatchCreateRequestSchema, unreadable)),
    },
  };
  it.each(rulesOf('binary only'))('%s', (rule) => {
    const { body, verdict } = sampleOf(samples, rule);
    expect(violationOf(readBinaryBody(Buffer.from(body), context))).toMatchObject(verdict);
  });
});

describe('reference: the short shape', () => {
  const ofProperties = (field: string, properties: object): Sample => ({
    index: 0,
    field,
    body: JSON.stringify({ events: [{ name: 'a', properties }] }),
  });
  const samples: Record<RuleOf<'reference'>, Sample> = {
    plain_distinct_id: ofProperties('properties["distinct_id"]', { distinct_id: 7 }),
    plain_value: ofProperties('properties["k"]', { k: [1] }),
  };
  it.each(rulesOf('reference'))('%s', (rule) => {
    const { body, verdict } = sampleOf(samples, rule);
    expect(violationOf(readShortJsonBody(Buffer.from(body), context))).toMatchObject(verdict);
    const binary = toBinary(ShortRequestSchema, fromJson(ShortRequestSchema, jsonOf(body)));
    expect(violationOf(readShortBinaryBody(Buffer.from(binary), context))).toMatchObject(verdict);
  });
});

describe('transport', () => {
  const maxBodyBytes = 100;
  const samples: Record<RuleOf<'transport'>, [headers: Record<string, string>, body: string]> = {
    body_encoding: [{ 'content-encoding': 'gzip' }, 'no gzip'],
    body_size: [{}, 'x'.repeat(maxBodyBytes + 1)],
  };
  it.each(rulesOf('transport'))('%s', async (rule) => {
    const [headers, body] = samples[rule];
    expect(await receivingRefusal(headers, body, maxBodyBytes)).toBe(rule);
  });

  it('body_size: a body too large to be queued', () => {
    const body = Buffer.from(JSON.stringify({ events: [valid] }));
    const violation = { rule: 'body_size', index: -1, field: 'body' };
    expect(violationOf(readJsonBody(body, { ...context, maxBodyBytes }))).toMatchObject(violation);
  });
});

/** The reason under which the unary route counts its refusal of a body. */
async function receivingRefusal(
  headers: Record<string, string>,
  body: string,
  maxBodyBytes: number,
): Promise<string> {
  const reasons: string[] = [];
  const method: UnaryMethod = {
    accessMethod: 'sdk.events.v1.EventsService/BatchCreate',
    answer: () => Promise.reject(new Error('the body was taken')),
    count: (answer) => reasons.push(answer.kind === 'refused' ? answer.reason : answer.kind),
    writeJson: () => '',
    writeBinary: () => Buffer.of(),
  };
  const { nodeHttpRoute } = createUnaryRoute({
    methods: new Map([['/method', method]]),
    authenticate: () => ({
      kind: 'ok',
      principal: { projectId: 'p', organizationId: 'o', credential: 'private', keyId: 'k' },
    }),
    clock: systemClock,
    maxBodyBytes,
    refusals: { tell: () => {} },
    senders: { refusalOf: () => undefined },
    log: createLog('silent'),
  });
  const bodies = new BodyReceiver(new RequestMemory());
  const server = createServer((request, response) => {
    nodeHttpRoute(request, response, { path: '/method', query: '' }, bodies);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    await fetch(`http://127.0.0.1:${address.port}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
  } finally {
    server.close();
  }
  return reasons.join();
}

describe('identity: Identify', () => {
  const ofFields = (field: string, fields: string): Sample =>
    ofRequest(field, `{"externalId":"u",${fields}}`);
  const manyTraits = Array.from({ length: 257 }, (_, index) => `"k${index}":1`);
  const samples: Record<RuleOf<'identity'>, Sample> = {
    anonymous_id_length: ofFields('anonymousId', `"anonymousId":"anon-${'a'.repeat(251)}"`),
    anonymous_id_prefix: ofFields('anonymousId', '"anonymousId":"a"'),
    device_id_length: ofFields('deviceId', `"deviceId":"${'d'.repeat(37)}"`),
    id_placeholder: ofRequest('externalId', '{"externalId":"null","anonymousId":"anon-1"}'),
    trait_levels: ofFields('traits["a"]', `"traits":{"a":${'['.repeat(21)}${']'.repeat(21)}}`),
    trait_number: ofFields('traits["a"]', '"traits":{"a":1e999}'),
    traits_count: ofFields('traits', `"traits":{${manyTraits}}`),
    traits_object: ofFields('traits', '"traits":[]'),
    traits_size: ofFields('traits', `"traits":{"a":"${'a'.repeat(65_536)}"}`),
  };
  it.each(rulesOf('identity'))('%s', (rule) => {
    const { body, verdict } = sampleOf(samples, rule);
    expect(violationOf(identifyReader.readJson(Buffer.from(body)))).toMatchObject(verdict);
  });

  it('a binary body of the same sample breaks the same rule, where protobuf can express it', () => {
    const onlyInJson: Rule[] = [];
    for (const rule of rulesOf('identity')) {
      const { body, verdict } = sampleOf(samples, rule);
      const bytes = encoded(() =>
        toBinary(IdentifyRequestSchema, fromJson(IdentifyRequestSchema, jsonOf(body))),
      );
      if (bytes === undefined) onlyInJson.push(rule);
      else expect(violationOf(identifyReader.readBinary(bytes))).toMatchObject(verdict);
    }
    expect(onlyInJson).toEqual(['traits_object']);
  });
});
