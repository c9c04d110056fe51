// The kind that is told of a refused event, by every reader. proto/wire/scanner/fuzz.test.ts holds the scanner's
// against JSON.parse for any body.

import { fromJsonString, toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { BatchCreateRequestSchema as ShortRequestSchema } from '../../proto/gen/events/v1/events_pb.js';
import { BatchCreateRequestSchema } from '../../proto/gen/sdk/events/v1/events_pb.js';
import { bodyText, context, eventText } from '../../test/harness/requests/typed-bodies.ts';
import { readShortBinaryBody, readShortJsonBody } from './short-shape.ts';
import { type ReadBody, readBinaryBody, readJsonBody } from './text/reference-body.ts';
import { scanJsonBody } from './text/scan-body.ts';

const shortContext = {
  ...context,
  projectId: '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
  idempotencyKey: undefined,
};
const valid = eventText();

/** The told kind; `valid` where the body breaks no rule. */
function told(read: ReadBody): string | undefined {
  return read.kind === 'valid' ? 'valid' : read.violation.eventKind;
}

describe('the typed shape', () => {
  const readers = {
    scanner: (text: string) => scanJsonBody(Buffer.from(text), context),
    'reference path': (text: string) => readJsonBody(Buffer.from(text), context),
  };
  const broken = { eventId: '"7"' };
  const rows: [what: string, event: string, kind: string | undefined][] = [
    ['a kind', eventText({ ...broken, kind: '"signup"' }), 'signup'],
    ['a kind with escapes', eventText({ ...broken, kind: '"sign\\u0075p"' }), 'signup'],
    ['no kind', eventText({ ...broken, kind: undefined }), undefined],
    ['a reserved kind', eventText({ ...broken, kind: '"svc.reserved"' }), undefined],
    ['an address', eventText({ ...broken, kind: '"ada@example.com"' }), undefined],
    ['a long kind', eventText({ ...broken, kind: `"${'k'.repeat(201)}"` }), undefined],
    ['a number', eventText({ ...broken, kind: '7' }), undefined],
    ['a broken kind', eventText({ kind: '"a b"' }), undefined],
    ['no event', '7', undefined],
    ['a fault of the text', eventText({ x: '{"a":1,"a":1}', kind: '"signup"' }), 'signup'],
    ['the last of two kinds', eventText({}).replace('{', '{"kind":"first",'), 'page_view'],
    ['null behind a kind', eventText({}).replace(/}$/, ',"kind":null}'), undefined],
    ['a long event', eventText({ ...broken, text: `"${'x'.repeat(100_000)}"` }), 'page_view'],
  ];
  describe.each(Object.entries(readers))('%s', (_, read) => {
    it.each(rows)('%s', (_name, event, kind) => {
      expect(told(read(bodyText(valid, event)))).toBe(kind);
      const earlier = bodyText(eventText({ kind: '"other"' }), valid, event, valid);
      expect(told(read(earlier))).toBe(kind);
    });

    it('none of a fault that is no single event\u2019s', () => {
      const body = bodyText(eventText({ ...broken, kind: '"signup"' }));
      for (const text of [body.slice(0, -1), `${body.slice(0, -1)},"x":1,"x":2}`, '{"event":[]}']) {
        expect(told(read(text))).toBe(undefined);
      }
    });
  });

  it('of binary protobuf', () => {
    const body = bodyText(valid, eventText({ ...broken, kind: '"signup"' }));
    const bytes = toBinary(
      BatchCreateRequestSchema,
      fromJsonString(BatchCreateRequestSchema, body),
    );
    expect(told(readBinaryBody(Buffer.from(bytes), context))).toBe('signup');
  });
});

describe('the short shape', () => {
  const event = (members: string): string => `{"events":[{"name":"a"},{${members}}]}`;
  const rows: [members: string, kind: string | undefined][] = [
    ['"name":"buy","properties":{"k":[]}', 'buy'],
    ['"name":"search"', 'search'],
    ['"name":"buy","kind":"other","properties":{"k":[]}', 'buy'],
    ['"name":"buy","properties":{"k":1,"k":2}', 'buy'],
    ['"name":"buy","properties":{"k":9007199254740993}', 'buy'],
    ['"name":"a b"', undefined],
    ['"properties":{"k":[]}', undefined],
  ];
  it.each(rows)('%s', (members, kind) => {
    expect(told(readShortJsonBody(Buffer.from(event(members)), shortContext))).toBe(kind);
  });

  it('none of a fault in the text of a long body', () => {
    const members = `"name":"buy","x":"${'x'.repeat(70_000)}","properties":{"k":1,"k":2}`;
    expect(told(readShortJsonBody(Buffer.from(event(members)), shortContext))).toBe(undefined);
  });

  it('of binary protobuf', () => {
    const message = fromJsonString(ShortRequestSchema, event('"name":"search"'));
    const bytes = Buffer.from(toBinary(ShortRequestSchema, message));
    expect(told(readShortBinaryBody(bytes, shortContext))).toBe('search');
  });
});
