// Bodies that would become too many objects, in JSON and in binary, beside the largest valid ones.

import { create, toBinary, toJsonString } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { BatchCreateRequestSchema as desc } from '../../../proto/gen/sdk/events/v1/events_pb.js';
import { holdsTooMany, maxMessages } from './message-count.ts';

const many = maxMessages + 1;
/** Field 1 with an empty message: an event. */
const emptyEvent = [0x0a, 0x00];

function binaryOf(bytes: readonly number[], times: number): Buffer {
  return Buffer.concat(Array.from({ length: times }, () => Buffer.from(bytes)));
}

function inField(number: number, content: Buffer): Buffer {
  const length: number[] = [];
  for (let left = content.length; left > 0; left >>>= 7) {
    length.push((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
  }
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), content]);
}

describe('too many', () => {
  it.each([
    ['empty events', `{"events":[${'{},'.repeat(many)}{}]}`],
    ['empty lists nobody knows', `{"x":[${'[],'.repeat(many)}[]]}`],
    ['objects behind a text with an escaped quote', `["\\"",${'{},'.repeat(many)}{}]`],
  ])('JSON: %s', (_name, text) => {
    expect(holdsTooMany(desc, Buffer.from(text), true)).toBe(true);
  });

  it.each([
    ['empty events', binaryOf(emptyEvent, many)],
    ['empty entries in the map of one event', inField(1, binaryOf([0x1a, 0x00], 4 * many))],
    ['values of one entry', inField(1, inField(3, binaryOf([0x12, 0x00], many)))],
    ['numbers that no field has', binaryOf([0x78, 0x00], 4 * many)],
  ])('binary: %s', (_name, bytes) => {
    expect(holdsTooMany(desc, bytes, false)).toBe(true);
  });
});

describe('not too many', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 255 }, (_, index) => [
      `k${index}`,
      { value: { case: 'stringValue' as const, value: '{[' } },
    ]),
  );
  const largest = create(desc, {
    events: Array.from({ length: 1_000 }, () => ({ customProperties: properties })),
  });

  it('are the messages of the largest valid request', () => {
    expect(holdsTooMany(desc, toBinary(desc, largest), false)).toBe(false);
    expect(holdsTooMany(desc, Buffer.from(toJsonString(desc, largest)), true)).toBe(false);
  });

  it('are bytes that cannot be decoded: their decoder says so', () => {
    expect(holdsTooMany(desc, Buffer.alloc(3 * many, 0xff), false)).toBe(false);
  });
});
