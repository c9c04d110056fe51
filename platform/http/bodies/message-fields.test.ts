// The largest valid request beside bodies that would become too many objects. ingest's hostile-bodies.test.ts has more.

import { create, toBinary } from '@bufbuild/protobuf';
import { SourceCodeInfo_LocationSchema as location } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { BatchCreateRequestSchema as request } from '../../../proto/gen/sdk/events/v1/events_pb.js';
import { fieldFault } from './message-fields.ts';

const maxItems = 1_000;
const repeated = (bytes: string, times: number) => Buffer.from(bytes.repeat(times), 'hex');

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
])('refuses what a decoder splits into other fields: %s', (_, body) => {
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
