// The events of webhooks out of a batch, on both paths of a body.

import { describe, expect, it } from 'vitest';
import { maxPayloadBytes } from '../../platform/webhooks/delivery.ts';
import { encodeContext, type RequestContext } from '../../proto/wire/frame.ts';
import { encodeFrame } from '../../proto/wire/frame-writer.ts';
import { BatchBuilder } from '../build/build-batch.ts';
import type { MatchedEvent, Messages, Verdict } from '../build/thread-messages.ts';
import { makeProjectFilter } from './project-filter.ts';
import { makeSubscriptionFilter } from './subscription-filter.ts';
import type { SubscribedProject } from './subscriptions.ts';

const secret = Buffer.alloc(32, 1);
const receiveTimeMs = Date.UTC(2026, 10, 20, 12);
const paths = [new BatchBuilder(secret), new BatchBuilder(secret, { fastPath: false })];

const subscribed: SubscribedProject = {
  projectId: 'p',
  organizationId: 'acme',
  filter: makeSubscriptionFilter([
    { subjectType: 'ROOM', subjectId: 'r1', eventType: 'message_sent' },
    { subjectType: 'ROOM', subjectId: '42', eventType: 'message_sent' },
    { subjectType: 'SPACE', subjectId: 's1', eventType: 'message_sent', roomType: 'chat' },
    { subjectType: 'BLOCK', subjectId: 'b1', eventType: 'block_response_sent' },
  ]),
  privateOnly: false,
};

interface Sent {
  project?: string;
  context?: Partial<RequestContext>;
  events: object[];
}

const text = (stringValue: string) => ({ stringValue });
let made = 0;

function event(customProperties: object = { room_id: text('r1') }, fields: object = {}): object {
  const eventId = `00000000-0000-4000-8000-${String(++made).padStart(12, '0')}`;
  return {
    ...{ eventId, sessionId: eventId, distinctId: 'ann', kind: 'message_sent' },
    occurTime: '2026-11-20T10:00:00Z',
    customProperties,
    ...fields,
  };
}

function pack(...requests: Sent[]): Messages {
  const frames = requests.map(({ project = 'p', context, events }) =>
    encodeFrame([
      {
        context: encodeContext({
          projectId: project,
          credential: 'private',
          receiveTimeMs,
          ...context,
        }),
        body: Buffer.from(JSON.stringify({ events })),
        events: events.length,
      },
    ]),
  );
  return {
    seqs: Float64Array.from(frames, (_, index) => 1 + index),
    lengths: Uint32Array.from(frames, ({ length }) => length),
    bytes: new Uint8Array(Buffer.concat(frames)),
  };
}

/** What both paths find, which must be the same. */
function matched(requests: readonly Sent[], verdict: Partial<Verdict> = {}): MatchedEvent[] {
  const [fast = [], reference] = paths.map((builder) => {
    const { sessionless } = builder.read(0, pack(...requests));
    const sessions = new Uint8Array(sessionless.rows.length * 16);
    return builder.finish({ dropped: undefined, sessions, subscribed: [subscribed], ...verdict })
      .matched;
  });
  expect(reference).toEqual(fast);
  return fast;
}

function dataOf({ part }: MatchedEvent): unknown {
  const parsed: { data: unknown } = JSON.parse(`{${part}`);
  return parsed.data;
}

describe('the matched events', () => {
  it('are those of the kinds, the projects and the subjects that are subscribed to', () => {
    const space = { space_id: text('s1'), room_id: text('r9') };
    const found = matched([
      {
        events: [
          event(),
          event({ roomId: text('r1') }),
          event({ room_id: { intValue: '42' } }),
          event({ room_id: text('r2') }),
          event({ ...space, room_type: text('chat') }),
          event({ ...space, room_type: text('video') }),
          event(space),
          event(undefined, { kind: 'message_edited' }),
          event(undefined, { kind: 'page_view' }),
          event({ block_id: text('b1') }, { kind: 'block_response_sent' }),
          event({ block_id: text('b1') }),
          event(undefined, { customProperties: undefined, autoProperties: { $x: text('r1') } }),
        ],
      },
      { project: 'another', events: [event()] },
    ]);
    expect(found.map(({ eventType, subjects }) => ({ eventType, ...subjects }))).toEqual([
      { eventType: 'message_sent', roomId: 'r1' },
      { eventType: 'message_sent', roomId: 'r1' },
      { eventType: 'message_sent', roomId: '42' },
      { eventType: 'message_sent', spaceId: 's1', roomId: 'r9', roomType: 'chat' },
      { eventType: 'block_response_sent', blockId: 'b1' },
    ]);
    expect(matched([{ events: [event()] }], { subscribed: [] })).toEqual([]);
  });

  it('are in the order of rows, without those that are dropped', () => {
    const past = { occurTime: '2026-10-01T00:00:00Z' };
    const events = [event(), event(undefined, past), event(), event(undefined, past)];
    const ids = (found: readonly MatchedEvent[]) => found.map(({ eventId }) => eventId.slice(-2));
    const [first, second, third, fourth] = matched([{ events: events.slice(0, 4) }])
      .toSorted((a, b) => (a.eventId < b.eventId ? -1 : 1))
      .map(({ eventId }) => eventId.slice(-2));
    expect(ids(matched([{ events }]))).toEqual([first, second, third, fourth]);
    const dropped = Uint8Array.of(0b0110);
    expect(ids(matched([{ events }], { dropped }))).toEqual([first, fourth]);
  });

  it('say which key they came with, and public ones can be left out', () => {
    const publicKey = { credential: 'public' } as const;
    const requests = [
      { events: [event()] },
      { events: [event(), event()], context: publicKey },
      { events: [event({ room_id: text('r2') })] },
      { events: [event()], context: publicKey },
      { events: [event()] },
    ];
    const expected = ['PRIVATE', 'PUBLIC', 'PUBLIC', 'PUBLIC', 'PRIVATE'];
    expect(matched(requests).map(({ source }) => source)).toEqual(expected);
    expect(matched(requests).map(({ part }) => /"source":"(\w+)"/.exec(part)?.[1])).toEqual(
      expected,
    );
    const privateOnly = [{ ...subscribed, privateOnly: true }];
    expect(matched(requests, { subscribed: privateOnly }).map(({ source }) => source)).toEqual([
      'PRIVATE',
      'PRIVATE',
    ]);
  });

  it('are rendered with every type of value, whatever the names', () => {
    const properties = {
      room_id: text('r1'),
      message_id: text('Zoë 日本 😀 "\u0000'),
      big: { intValue: '9223372036854775807' },
      negative: { intValue: '-9007199254740993' },
      safe: { intValue: '9007199254740991' },
      ratio: { doubleValue: 1e21 },
      is_first: { boolValue: true },
      sent_at: { timestampValue: '2026-11-20T10:00:00.123456Z' },
      constructor: text('c'),
      'a"b\\': text(''),
    };
    const hostile = JSON.parse('{"__proto__":{"stringValue":"p"}}');
    const [found] = matched([
      {
        events: [
          event({ ...properties }, { autoProperties: { $url: text('https://a/'), $n: text('x') } }),
        ],
      },
    ]);
    expect(found && dataOf(found)).toEqual({
      eventId: found?.eventId,
      distinctId: 'ann',
      roomId: 'r1',
      messageId: 'Zoë 日本 😀 "\u0000',
      big: '9223372036854775807',
      negative: '-9007199254740993',
      safe: 9_007_199_254_740_991,
      ratio: 1e21,
      isFirst: true,
      sentAt: '2026-11-20T10:00:00.123Z',
      constructor: 'c',
      'a"b\\': '',
    });
    Object.defineProperty(hostile, 'room_id', { value: text('r1'), enumerable: true });
    const [other] = matched([{ events: [event(hostile)] }]);
    expect(other?.part).toContain(',"__proto__":"p"}}');
  });

  it('name a cookieless visitor by the id of the day', () => {
    const cookieless = { sessionId: undefined, distinctId: undefined, cookieless: true };
    const context = { cookieless: { today: 'cookieless-t' } };
    const [found] = matched([{ events: [event(undefined, cookieless)], context }]);
    expect(found && dataOf(found)).toMatchObject({ distinctId: 'cookieless-t' });
  });

  it('have no part where it would be longer than a payload may be', () => {
    const long = { room_id: text('r1'), text: text('x'.repeat(maxPayloadBytes)) };
    const [found, next] = matched([{ events: [event(long), event()] }]);
    expect(found?.part).toBe('');
    expect(next?.part).not.toBe('');
  });

  describe('of a project', () => {
    type Filter = Parameters<typeof makeProjectFilter>[0][number]['subscription'];
    const to = (webhookId: string, filter: Pick<Filter, 'kinds' | 'properties'>) =>
      ({
        webhookId,
        subscription: { subjectType: 'PROJECT', subjectId: 'p', eventType: 'event', ...filter },
      }) as const;
    const asked = (...entries: ReturnType<typeof to>[]) => [
      { ...subscribed, events: makeProjectFilter(entries) },
    ];
    const equals = (property: string, value: string) => ({
      ...{ property, value },
      operator: 'FILTER_OPERATOR_EQUALS',
    });
    const wanting = (found: readonly MatchedEvent[]) =>
      found.map((one) => (one.eventType === 'event' ? one.webhookIds : one.eventType));

    it('are of the exact kinds, or of every kind, and come beside what they are in a room', () => {
      const events = asked(
        to('shop', { kinds: ['purchase', 'order_refunded'] }),
        to('shop', { kinds: ['purchase'] }),
        to('all', {}),
      );
      const of = (kind: string) => event({ order_id: text('o1') }, { kind });
      const requests = [
        { events: [of('purchase'), of('Purchase'), event()] },
        { project: 'another', events: [of('purchase')] },
      ];
      const found = matched(requests, { subscribed: events });
      expect(wanting(found)).toEqual([['shop', 'all'], ['all'], 'message_sent', ['all']]);
      expect(found.map(({ part }) => /"eventType":"(\w+)"/.exec(part)?.[1])).toEqual([
        'event',
        'event',
        'message_sent',
        'event',
      ]);
      expect(found[0] && dataOf(found[0])).toEqual({
        ...{ eventId: found[0]?.eventId, distinctId: 'ann', kind: 'purchase', orderId: 'o1' },
      });
      const shop = asked(to('shop', { kinds: ['order_refunded'] }));
      expect(matched([{ events: [of('purchase')] }], { subscribed: shop })).toEqual([]);
    });

    it('have the properties, wherever these lie in the columns', () => {
      const kinds = ['page_view'];
      const above = { property: 'amount', operator: 'FILTER_OPERATOR_GT', value: '100' };
      const events = asked(
        to('page', { kinds, properties: [equals('$pathname', '/pricing')] }),
        to('url', { kinds, properties: [equals('$url', 'https://a.example/pricing')] }),
        to('campaign', {
          kinds,
          properties: [equals('$utmSource', 'zoë'), equals('$utmContent', 'c')],
        }),
        to('amount', { kinds, properties: [above] }),
        to('flag', { kinds, properties: [equals('is_first', 'true'), above] }),
        to('time', { kinds, properties: [equals('at', '2026-11-20T10:00:00.123Z')] }),
        to('absent', {
          kinds,
          properties: [{ property: '$utmSource', operator: 'FILTER_OPERATOR_IS_NOT_SET' }],
        }),
        to('unknown', { kinds, properties: [{ property: 'a', operator: 'FILTER_OPERATOR_LIKE' }] }),
      );
      const fields = { kind: 'page_view' };
      const url = { $url: text('https://a.example/pricing') };
      const campaign = '?utm_source=zo%C3%AB&utm_content=c';
      const first = { amount: { intValue: '101' }, is_first: { boolValue: true } };
      const found = matched(
        [
          {
            context: { credential: 'public' },
            events: [
              event({}, { ...fields, autoProperties: url }),
              event(
                {},
                { ...fields, autoProperties: { $url: text(`https://a.example/${campaign}`) } },
              ),
              event({ amount: { intValue: '100' } }, fields),
              event({ amount: { doubleValue: 100.5 } }, fields),
              event(first, fields),
              event({ amount: text('101') }, fields),
              event({ at: { timestampValue: '2026-11-20T10:00:00.123456Z' } }, fields),
            ],
          },
        ],
        { subscribed: events },
      );
      expect(wanting(found)).toEqual([
        ['page', 'url', 'absent'],
        ['campaign'],
        ['absent'],
        ['amount', 'absent'],
        ['amount', 'flag', 'absent'],
        ['absent'],
        ['time', 'absent'],
      ]);
    });

    it('are not those of dropped rows, nor of public keys where all are for private ones', () => {
      const events = asked(to('all', {}));
      const one = () => event({}, { kind: 'purchase' });
      const dropped = Uint8Array.of(0b01);
      const requests = [{ events: [one(), one()] }];
      expect(matched(requests, { subscribed: events, dropped })).toHaveLength(1);
      const context = { credential: 'public' } as const;
      const privateOnly = events.map((project) => ({ ...project, privateOnly: true }));
      expect(matched([{ context, events: [one()] }], { subscribed: privateOnly })).toEqual([]);
    });
  });
});
