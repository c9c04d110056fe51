// Bodies that cost their sender nothing and were dear to read: names, objects and fields by the hundred thousand.

import { describe, expect, it } from 'vitest';
import { maxMembersPerObject as most } from '../../../platform/limits.ts';
import { BatchCreateRequestSchema } from '../../../proto/gen/sdk/events/v1/events_pb.js';
import { context as typedContext } from '../../../test/harness/requests/typed-bodies.ts';
import { wideBody } from '../../../test/harness/requests/wide-body.ts';
import { identifyReader } from '../identity-rules.ts';
import { readShortBinaryBody, readShortJsonBody } from '../short-shape.ts';
import { describeViolation, type Violation } from '../violation.ts';
import { blankUnknown, knownMembers } from './known-members.ts';
import { readBinaryBody, readJsonBody } from './reference-body.ts';
import { scanJsonBody } from './scan-body.ts';

const context = { ...typedContext, projectId: typedContext.receiveTimeMs.toString() };
const shortContext = { ...context, idempotencyKey: undefined };

function verdictOf(read: { kind: 'valid' } | { kind: 'invalid'; violation: Violation }): string {
  return read.kind === 'valid' ? 'valid' : describeViolation(read.violation);
}

/** The verdict of both readers of the typed shape, which must agree. */
function verdict(text: string): string {
  const [scanned = '', reference = ''] = [scanJsonBody, readJsonBody].map((read) =>
    verdictOf(read(Buffer.from(text), context)),
  );
  expect(scanned).toBe(reference);
  return scanned;
}

const members = (count: number, from = 0, value = '0') =>
  Array.from({ length: count }, (_, index) => `"${(from + index).toString(36)}":${value}`).join();

/** Names of sixteen bytes whose two halves differ in bits that cancel each other in the hash of the scanner's table. */
function collidingMembers(count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const half = Buffer.alloc(8, '@');
    for (let byte = 0; byte < 7; byte++) half[byte] = 0x40 ^ ((index >> (2 * byte)) & 3);
    const delta = half.readBigUInt64LE() ^ 0x4040_4040_4040_4040n;
    const first = Buffer.alloc(8);
    const turned = ((delta << 27n) | (delta >> 37n)) & 0xffff_ffff_ffff_ffffn;
    first.writeBigUInt64LE(turned ^ 0x4040_4040_4040_4040n);
    return `"${first}${half}":0`;
  });
}

const tooMany = `must be among the first ${most} members of its object`;

describe('an object of a body', () => {
  it.each([
    ['the request', (inside: string) => `{${inside}}`],
    ['an event', (inside: string) => `{"events":[{${inside}}]}`],
    ['an unknown member', (inside: string) => `{"a":[{"b":{${inside}}}]}`],
    ['a map of properties', (inside: string) => `{"events":[{"customProperties":{${inside}}}]}`],
    ['a property', (inside: string) => `{"events":[{"customProperties":{"a":{${inside}}}}]}`],
  ])('holds at most 10,000 members: %s', (_, around) => {
    expect(verdict(around(members(most)))).not.toContain('members of its object');
    expect(verdict(around(members(most + 1)))).toContain(tooMany);
    // A repetition before the bound comes first, and one behind it is not looked for.
    expect(verdict(around(`${members(most - 1)},"0":0,"more":0`))).toContain('twice');
    expect(verdict(around(`${members(most)},"0":0`))).toContain(tooMany);
    expect(verdict(around(`${members(most + 2)},"0":0`))).toContain(tooMany);
  });

  it('counts known and unknown members of an event together', () => {
    const event = `"kind":"a","eventId":"","occurTime":"","distinctId":"d","cookieless":false`;
    expect(verdict(`{"events":[{${event},${members(most - 5)}}]}`)).not.toContain(tooMany);
    expect(verdict(`{"events":[{${event},${members(most - 4)}}]}`)).toContain(tooMany);
  });

  it('has the same bound in the short shape and in Identify', () => {
    const wide = () => Buffer.from(`{"x":{${members(most + 1)}}}`);
    expect(verdictOf(readShortJsonBody(wide(), shortContext))).toBe(`x: ${tooMany}`);
    expect(verdictOf(identifyReader.readJson(wide()))).toBe(`x: ${tooMany}`);
  });

  it('is checked in full where its names share a hash', () => {
    for (const count of [3, 200, 300, most - 1]) {
      const names = collidingMembers(count);
      expect(verdict(`{"events":[],"a":{${names.join()}}}`)).toBe('valid');
      expect(verdict(`{"a":{${names.join()},${names[count >> 1]}}}`)).toContain('twice');
    }
  });
});

describe('unknown members', () => {
  const known = knownMembers(BatchCreateRequestSchema);
  const blanked = (text: string) => {
    const body = Buffer.from(text);
    blankUnknown(body, known);
    expect(body).toHaveLength(Buffer.byteLength(text));
    return JSON.parse(body.toString());
  };

  it('leave a body that is JSON, wherever they stand', () => {
    const event = '"kind" : "a\\"}" , "customProperties" : {"k":{"stringValue":"v"}}';
    const expected = { kind: 'a"}', customProperties: { k: { stringValue: 'v' } } };
    const unknown = [`"x":1`, `"y" : {"a":[{}],"b":"]"} `, `"é":"\\\\"`, `"z":[]`, `"":null`];
    for (const [one, other] of unknown.flatMap((first) => unknown.map((next) => [first, next]))) {
      for (const text of [`${one},${event}`, `${event},${one}`, `${one},${event} ,${other}`]) {
        expect(blanked(`{"events":[{${text}}, {${text}}]}`)).toEqual({
          events: [expected, expected],
        });
      }
      expect(blanked(` {${one} , ${other}}`)).toEqual({});
    }
  });

  it('are told from known ones by their meaning', () => {
    expect(blanked('{"ev\\u0065nts":[{"\\u006bind":"a"}],"Events":1}')).toEqual({
      events: [{ kind: 'a' }],
    });
  });

  it('are gone from inside a value of a wrong type, whose type stays', () => {
    expect(blanked('{"events":[{"kind":{"a":{}},"eventId":[1,[2]],"distinctId":7}]}')).toEqual({
      events: [{ kind: {}, eventId: [], distinctId: 7 }],
    });
    expect(blanked('{"events":{"a":1}}')).toEqual({ events: {} });
    expect(blanked('[{"a":1}]')).toEqual([]);
  });

  it('change no verdict, nor the ids of a repetition', () => {
    const event = (more: string) =>
      `{"events":[{"name":"a","timestamp":"2026-11-20T11:00:00Z","properties":{"distinct_id":"d","n":7}${more}}]}`;
    const read = readShortJsonBody(Buffer.from(event(',"later":{"a":[1]}')), shortContext);
    expect(read).toMatchObject({ kind: 'valid', events: 1 });
    for (const more of [',"properties":{}', ',"later":{"a":1,"a":1}', ',"later":[1,]']) {
      expect(readShortJsonBody(Buffer.from(event(more)), shortContext).kind).toBe('invalid');
    }
  });
});

describe('a body of unknown names', () => {
  const colliding = (count: number) => {
    const object = `{${collidingMembers(count)}}`;
    return Buffer.from(
      `{"x":[${Array.from({ length: 100_000 / count }, () => object)}],"events":[]}`,
    );
  };

  // The limit is the reading of as many bytes that hold no name. Without the bounds it took 20 to 100 times as long;
  // names of one hash that are not sorted take a thousand times as long.
  it.each([
    ['10,000 an object', wideBody(200_000), 10],
    ['10 an object', wideBody(200_000, 10), 10],
    ['10,000 an object, with one hash', colliding(most), 50],
    ['250 an object, with one hash', colliding(250), 50],
  ])('costs a small multiple of any other body: %s', (_, wide, times) => {
    const plain = Buffer.from(`{"x":[${'1234567,'.repeat(wide.length / 8)}0],"events":[]}`);
    const timeOf = (body: Buffer, read: (bytes: Buffer) => object) => {
      const times = [1, 2, 3].map(() => {
        const copy = Buffer.from(body);
        // A busy machine takes the processor away from the longer of two, and leaves it to the shorter one.
        const start = process.cpuUsage();
        read(copy);
        const { user, system } = process.cpuUsage(start);
        return user + system;
      });
      return Math.min(...times);
    };
    const readers = [
      (bytes: Buffer) => scanJsonBody(bytes, context),
      (bytes: Buffer) => readShortJsonBody(bytes, shortContext),
    ];
    for (const read of readers) {
      expect(timeOf(wide, read) / timeOf(plain, read)).toBeLessThan(times);
    }
  });
});

describe('a binary body', () => {
  const repeated = (hex: string, times: number) => Buffer.from(hex.repeat(times), 'hex');
  const field = (number: number, content: Buffer) => {
    const length = [content.length & 0x7f];
    for (let rest = content.length >> 7; rest > 0; rest >>= 7) {
      length[length.length - 1] = (length.at(-1) ?? 0) | 0x80;
      length.push(rest & 0x7f);
    }
    return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), content]);
  };
  const event = (content: Buffer) => field(1, content);

  it.each([
    ['events', repeated('0a00', 4_000_000), 'events_count'],
    ['unknown fields', repeated('7801', 4_000_000), 'members_count'],
    ['unknown fields of an event', event(repeated('7801', 4_000_000)), 'members_count'],
    ['properties of an event', event(repeated('1a00', 4_000_000)), 'members_count'],
    [
      'fields of many events',
      Buffer.concat(Array.from({ length: 400 }, () => event(repeated('7801', 9_999)))),
      'fields_count',
    ],
  ])('is refused before it is decoded: %s', (_, body, rule) => {
    for (const read of [readBinaryBody, readShortBinaryBody]) {
      expect(read(body, shortContext)).toMatchObject({ kind: 'invalid', violation: { rule } });
    }
  });

  it('is refused before it is decoded: values of one property', () => {
    const body = event(field(3, repeated('1200', 2_000_000)));
    expect(readBinaryBody(body, context)).toMatchObject({ violation: { rule: 'fields_count' } });
  });

  it('is refused before it is decoded: messages in an unknown field of a map', () => {
    const body = event(field(3, field(3, repeated('1200', 2_000_000))));
    expect(readBinaryBody(body, context)).toMatchObject({ violation: { rule: 'body_protobuf' } });
  });
});
