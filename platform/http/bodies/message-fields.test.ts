// The largest valid request beside bodies that would become too many objects. ingest's hostile-bodies.test.ts has more.

import {
  create,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonObject,
  toBinary,
} from '@bufbuild/protobuf';
import {
  ListValueSchema,
  SourceCodeInfo_LocationSchema as location,
  type Value,
  ValueSchema,
} from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BatchCreateRequestSchema as request } from '../../../proto/gen/sdk/events/v1/events_pb.js';
import { IdentifyRequestSchema } from '../../../proto/gen/sdk/profiles/v1/profiles_pb.js';
import { ListRequestSchema } from '../../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { fieldFault } from './message-fields.ts';

const maxItems = 1_000;
const repeated = (bytes: string, times: number) => Buffer.from(bytes.repeat(times), 'hex');

const samples: [DescMessage, JsonObject][] = [
  [
    request,
    {
      events: [
        {
          eventId: 'e',
          kind: 'k\u00e9',
          occurTime: '2026-01-02T03:04:05.678Z',
          cookieless: true,
          autoProperties: { $url: { stringValue: '\u{1f389}' }, $n: { intValue: '-1' } },
          customProperties: { d: { doubleValue: 1.5 }, b: { boolValue: true } },
        },
      ],
    },
  ],
  [IdentifyRequestSchema, { externalId: 'u', traits: { plan: 'pro', list: [1, { a: null }] } }],
  [
    ListRequestSchema,
    {
      filterGroups: [
        {
          operator: 'LOGICAL_OPERATOR_OR',
          filters: [{ property: 'p', operator: 'FILTER_OPERATOR_IN', values: ['a', 'b'] }],
        },
      ],
    },
  ],
  [location, { path: [1, 200], span: [3], leadingDetachedComments: ['c'] }],
];

it('lets the largest valid request pass', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 256 }, (_, index) => [
      `k${index}`,
      { value: { case: 'stringValue' as const, value: 'v' } },
    ]),
  );
  const event = { kind: 'a', distinctId: 'd', eventId: 'e', customProperties: properties };
  const events = Array.from({ length: maxItems }, () => event);
  expect(fieldFault(request, toBinary(request, create(request, { events })), maxItems)).toBe(
    undefined,
  );
});

it('names the list that is too long, and counts it up to a bound', () => {
  const faultOf = (events: number) => fieldFault(request, repeated('0a00', events), maxItems);
  expect(faultOf(1_000)).toBe(undefined);
  expect(faultOf(1_001)).toEqual({ kind: 'items', field: 'events', count: '1001' });
  expect(faultOf(1_000_000)).toEqual({ kind: 'items', field: 'events', count: 'more than 10000' });
});

it('counts the fields of one message, and of all', () => {
  expect(fieldFault(request, repeated('7801', 10_000), maxItems)).toBe(undefined);
  expect(fieldFault(request, repeated('7801', 10_001), maxItems)).toEqual({ kind: 'members' });
  const event = Buffer.concat([Buffer.from('0a9e9c01', 'hex'), repeated('7801', 9_999)]);
  const body = Buffer.concat(Array.from({ length: 104 }, () => event));
  expect(fieldFault(request, body, maxItems)).toEqual({ kind: 'fields' });
});

// The decoder reads a known field by its type alone, does not skip unknown fields of an entry, and reads on behind the
// end of a message: so a body could hide a million messages in what its tags call one field.
it.each([
  ['a list of messages with the tag of a number', '0800'],
  ['a list of messages with a tag of eight bytes', '090009000900090009'],
  ['a text with the tag of a number', '0a021001'],
  ['a map with the tag of a number', '0a021800'],
  ['a key with the tag of a number', '0a041a020801'],
  ['a value with the tag of a number', '0a041a021001'],
  ['unknown fields of an entry', '0a061a041a021200'],
  ['a text that goes on behind its message', '0a02120161'],
  ['a key that goes on behind its entry', '0a041a020a0161'],
  ['a message that is cut off', '0a02'],
  ['a fault behind too many events', `${'0a00'.repeat(1_001)}07`],
  ['a text that is not UTF-8', '0a030a01ff'],
  ['a key that is not UTF-8', '0a051a030a01ff'],
  ['a varint of eleven bytes', `0a0c40${'80'.repeat(10)}00`],
  ['a group', '7b7c'],
])('refuses what a decoder splits into other fields, or cannot read: %s', (_, body) => {
  expect(fieldFault(request, Buffer.from(body, 'hex'), maxItems)).toEqual({ kind: 'undecodable' });
});

it('takes a list of numbers in one piece, and number by number', () => {
  const numbers = (hex: string) => fieldFault(location, Buffer.from(hex, 'hex'), maxItems);
  expect([numbers('0a020102'), numbers('08010802'), numbers('0a00')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  // The last number goes on behind the list.
  expect([numbers('0a0180'), numbers('0a01800a00')]).toEqual(
    Array(2).fill({ kind: 'undecodable' }),
  );
});

it('takes messages in messages, up to a depth', () => {
  const nested = (depth: number): Value =>
    depth === 0
      ? create(ValueSchema)
      : create(ValueSchema, {
          kind: {
            case: 'listValue',
            value: create(ListValueSchema, { values: [nested(depth - 1)] }),
          },
        });
  const faultOf = (depth: number) =>
    fieldFault(ValueSchema, toBinary(ValueSchema, nested(depth)), maxItems);
  expect(faultOf(49)).toBe(undefined);
  expect(faultOf(50)).toEqual({ kind: 'depth' });
});

// The Connect router calls it an internal error where its decoder throws, and senders repeat such requests for ever.
it('what it lets pass can be decoded', () => {
  const messages = samples.map(([desc]) => desc);
  const valid = samples.map(([desc, json]) => toBinary(desc, fromJson(desc, json)));
  const change = fc.record({
    at: fc.nat(400),
    bytes: fc.uint8Array({ maxLength: 3 }),
    cut: fc.nat(3),
  });
  const body = fc
    .record({ of: fc.constantFrom(...valid), changes: fc.array(change, { maxLength: 4 }) })
    .map(({ of, changes }) =>
      changes.reduce((body, { at, bytes: put, cut }) => {
        const start = body.length === 0 ? 0 : at % body.length;
        return Buffer.concat([body.subarray(0, start), put, body.subarray(start + cut)]);
      }, Buffer.from(of)),
    );
  let decoded = 0;
  fc.assert(
    fc.property(fc.constantFrom(...messages), body, (desc, bytes) => {
      if (fieldFault(desc, bytes, maxItems) !== undefined) return;
      fromBinary(desc, bytes, { readUnknownFields: false });
      decoded++;
    }),
    { numRuns: 6_000, seed: 20_261_123 },
  );
  expect(decoded).toBeGreaterThan(300);
});
