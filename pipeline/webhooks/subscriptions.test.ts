import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ProjectSubscription,
  type RoomSubscription,
  roomEventTypes,
  roomSubjectTypes,
  type WebhookRecord,
  webhookStatuses,
} from '../../platform/webhooks/webhook-record.ts';
import { webhookRecord } from '../../test/harness/models/webhook-records.ts';
import { isEmpty, makeSubscriptionFilter, mayMatch } from './subscription-filter.ts';
import { createSubscriptions, type RoomEvent } from './subscriptions.ts';

const few = fc.constantFrom('a', 'b', 'c');
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const subscriptions: fc.Arbitrary<RoomSubscription[]> = fc.array(
  fc
    .record({
      subjectType: fc.constantFrom(...roomSubjectTypes),
      subjectId: few,
      eventType: fc.constantFrom(...roomEventTypes.slice(0, 2)),
      roomType: optional(few),
    })
    .map(({ roomType, ...rest }) => (roomType === undefined ? rest : { ...rest, roomType })),
  { maxLength: 8 },
);

const webhooks: fc.Arbitrary<WebhookRecord[]> = fc
  .array(
    fc.record({
      subscriptions,
      status: fc.constantFrom(...webhookStatuses),
      privateOnly: fc.boolean(),
    }),
    { maxLength: 5 },
  )
  .map((all) =>
    all.map(({ privateOnly, ...fields }, index) =>
      webhookRecord({ id: `w${index}`, ...fields, ...(privateOnly && { privateOnly: true }) }),
    ),
  );

const event: fc.Arbitrary<RoomEvent> = fc
  .record({
    eventType: fc.constantFrom(...roomEventTypes.slice(0, 3)),
    source: fc.constantFrom('PUBLIC' as const, 'PRIVATE' as const),
    roomId: optional(few),
    spaceId: optional(few),
    blockId: optional(few),
    roomType: optional(few),
  })
  .map(({ eventType, source, ...all }) => {
    const subjects = Object.fromEntries(
      Object.entries(all).filter(([, value]) => value !== undefined),
    );
    return { projectId: 'p', eventType, source, subjects };
  });

/** The rules once more, in the plainest way. */
function expected(all: readonly WebhookRecord[], { eventType, source, subjects }: RoomEvent) {
  const idOf = { ROOM: subjects.roomId, SPACE: subjects.spaceId, BLOCK: subjects.blockId };
  return all
    .filter(({ status }) => status !== 'INACTIVE')
    .filter(({ privateOnly }) => !(privateOnly && source === 'PUBLIC'))
    .filter((webhook) =>
      webhook.subscriptions.some(
        (one) =>
          one.subjectType !== 'PROJECT' &&
          one.eventType === eventType &&
          one.subjectId === idOf[one.subjectType] &&
          (one.roomType === undefined || one.roomType === subjects.roomType),
      ),
    );
}

function open(all: readonly WebhookRecord[], privateOnly = false) {
  return createSubscriptions({
    webhooks: { webhooksOf: (id) => (id === 'acme' ? all : []) },
    organizationOf: (id) => (id === 'p' ? 'acme' : undefined),
    privateOnly,
  });
}

describe('subscriptions', () => {
  it('match as the plain rules do, and a builder is asked for every event that matches', () => {
    fc.assert(
      fc.property(webhooks, event, (all, one) => {
        const opened = open(all);
        const wanted = expected(all, one);
        expect(opened.match(one)).toEqual(wanted);
        const [project] = opened.subscribed(['other', 'p']);
        const live = all.filter(({ status }) => status !== 'INACTIVE');
        expect(project === undefined).toBe(live.length === 0);
        if (project === undefined) return;
        expect(project.privateOnly).toBe(live.every(({ privateOnly }) => privateOnly === true));
        const isAsked = mayMatch(project.filter, one.eventType, one.subjects);
        if (wanted.length > 0) expect(isAsked).toBe(true);
        const isFor = expected(live, { ...one, source: 'PRIVATE' }).length > 0;
        expect(isAsked).toBe(isFor);
      }),
      { numRuns: 1_000 },
    );
  });

  it('to alerts match no event of their project', () => {
    const subscription = { subjectType: 'PROJECT', subjectId: 'p', eventType: 'alert' } as const;
    const opened = open([webhookRecord({ id: 'w', subscriptions: [subscription] })]);
    const of = { projectId: 'p', source: 'PRIVATE', subjects: {} } as const;
    expect(opened.subscribed(['p'])[0]?.events).toBeUndefined();
    expect(opened.match({ ...of, eventType: 'message_sent', subjects: { roomId: 'p' } })).toEqual(
      [],
    );
  });

  it('match no event of a public key where the instance says so', () => {
    const about = {
      projectId: 'p',
      eventType: 'message_sent',
      subjects: { roomId: 'r1' },
    } as const;
    const opened = open([webhookRecord()], true);
    expect(opened.match({ ...about, source: 'PUBLIC' })).toEqual([]);
    expect(opened.match({ ...about, source: 'PRIVATE' })).toHaveLength(1);
    expect(opened.subscribed(['p'])[0]?.privateOnly).toBe(true);
  });

  it('to a project give it a filter of its own, and an event what it is in a room only once', () => {
    const every: ProjectSubscription = {
      subjectType: 'PROJECT',
      subjectId: 'p',
      eventType: 'event',
    };
    const room = webhookRecord().subscriptions;
    const opened = open([
      webhookRecord({ id: 'both', subscriptions: [...room, every] }),
      webhookRecord({ id: 'events', subscriptions: [every] }),
      webhookRecord({ id: 'private', subscriptions: [every], privateOnly: true }),
      webhookRecord({ id: 'off', subscriptions: [every], status: 'INACTIVE' }),
      webhookRecord({ id: 'other', subscriptions: [{ ...every, subjectId: 'q' }] }),
    ]);
    const [project] = opened.subscribed(['p']);
    const entries: unknown = JSON.parse(Buffer.from(project?.events?.json ?? []).toString());
    expect(entries).toEqual([
      { webhookId: 'both' },
      { webhookId: 'events' },
      { webhookId: 'private' },
    ]);
    expect(open([webhookRecord()]).subscribed(['p'])[0]).not.toHaveProperty('events');
    const event = {
      projectId: 'p',
      eventType: 'event',
      source: 'PRIVATE',
      kind: 'message_sent',
      subjects: { roomId: 'r1' },
      webhookIds: ['both', 'events', 'private', 'off', 'gone'],
    } as const;
    const ids = (of: Parameters<typeof opened.match>[0]) => opened.match(of).map(({ id }) => id);
    expect(ids({ ...event, eventType: 'message_sent' })).toEqual(['both']);
    expect(ids(event)).toEqual(['events', 'private']);
    expect(ids({ ...event, source: 'PUBLIC' })).toEqual(['events']);
    expect(ids({ ...event, subjects: { roomId: 'r2' } })).toEqual(['both', 'events', 'private']);
    expect(ids({ ...event, kind: 'purchase' })).toEqual(['both', 'events', 'private']);
    expect(ids({ ...event, webhookIds: ['events'] })).toEqual(['events']);
  });

  it('take one layout until a webhook changes', () => {
    let all = [webhookRecord()];
    const opened = createSubscriptions({
      webhooks: { webhooksOf: () => all },
      organizationOf: () => 'acme',
      privateOnly: false,
    });
    const filter = () => opened.subscribed(['p'])[0]?.filter;
    const before = filter();
    expect(filter()).toBe(before);
    all = [webhookRecord({ status: 'PAUSED' })];
    expect(filter()).not.toBe(before);
  });
});

it('a filter of no subscription is empty, and no other is', () => {
  const { subscriptions } = webhookRecord();
  const inRooms = subscriptions.flatMap((one) => (one.subjectType === 'ROOM' ? [one] : []));
  expect(inRooms).toHaveLength(1);
  expect(isEmpty(makeSubscriptionFilter([]))).toBe(true);
  expect(isEmpty(makeSubscriptionFilter(inRooms))).toBe(false);
});

it('a filter of thousands of subscriptions lets hardly anything else through', () => {
  const of = (subjectId: string): RoomSubscription => ({
    ...{ subjectType: 'ROOM', eventType: 'message_sent', subjectId },
  });
  const filter = makeSubscriptionFilter(Array.from({ length: 2_500 }, (_, n) => of(`room ${n}`)));
  const asked = (roomId: string) => mayMatch(filter, 'message_sent', { roomId });
  const rooms = Array.from({ length: 100_000 }, (_, n) => `room ${n}`);
  expect(rooms.slice(0, 2_500).every(asked)).toBe(true);
  expect(rooms.slice(2_500).filter(asked).length).toBeLessThan(3);
});
