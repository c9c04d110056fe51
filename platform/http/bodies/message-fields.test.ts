// The largest valid request beside bodies that would become too many objects. ingest's hostile-bodies.test.ts has more.

import { create, toBinary } from '@bufbuild/protobuf';
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
