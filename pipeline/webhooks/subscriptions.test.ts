import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  roomEventTypes,
  type Subscription,
  subjectTypes,
  type WebhookRecord,
  webhookStatuses,
} from '../../platform/webhooks/webhook-record.ts';
import { webhookRecord } from '../../test/harness/models/webhook-records.ts';
import { makeSubscriptionFilter, mayMatch } from './subscription-filter.ts';
import { createSubscriptions, type RoomEvent } from './subscriptions.ts';

const few = fc.constantFrom('a', 'b', 'c');
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const subscriptions: fc.Arbitrary<Subscription[]> = fc.array(
  fc
    .record({
      subjectType: fc.constantFrom(...subjectTypes),
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

it('a filter of thousands of subscriptions lets hardly anything else through', () => {
  const of = (subjectId: string): Subscription => ({
    ...{ subjectType: 'ROOM', eventType: 'message_sent', subjectId },
  });
  const filter = makeSubscriptionFilter(Array.from({ length: 2_500 }, (_, n) => of(`room ${n}`)));
  const asked = (roomId: string) => mayMatch(filter, 'message_sent', { roomId });
  const rooms = Array.from({ length: 100_000 }, (_, n) => `room ${n}`);
  expect(rooms.slice(0, 2_500).every(asked)).toBe(true);
  expect(rooms.slice(2_500).filter(asked).length).toBeLessThan(3);
});
