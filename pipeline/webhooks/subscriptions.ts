// Which webhooks an event is for: the subscriptions of an organization, laid out once for each change of its webhooks,
// and found by project. A webhook matches once, however many of its subscriptions do. Inactive webhooks match nothing;
// paused ones match, because what they miss is recorded.

import type { PayloadSource, Subjects } from '../../platform/webhooks/payload.ts';
import type { WebhookDirectory } from '../../platform/webhooks/webhook-directory.ts';
import type {
  RoomEventType,
  SubjectType,
  Subscription,
  WebhookRecord,
} from '../../platform/webhooks/webhook-record.ts';
import { makeSubscriptionFilter, type SubscriptionFilter } from './subscription-filter.ts';

/** A project whose organization has webhooks, as a builder's thread is told of it. */
export interface SubscribedProject {
  projectId: string;
  organizationId: string;
  filter: SubscriptionFilter;
  /** Events of public keys match nothing. */
  privateOnly: boolean;
}

/** The part of an event that subscriptions ask about. */
export interface RoomEvent {
  projectId: string;
  eventType: RoomEventType;
  source: PayloadSource;
  subjects: Subjects;
}

export interface Subscriptions {
  /** Those of the projects whose organizations have webhooks that are not inactive. */
  subscribed(projectIds: readonly string[]): SubscribedProject[];
  /** The webhooks that the event is for, in the order of the organization's record. */
  match(event: RoomEvent): readonly WebhookRecord[];
}

export interface SubscriptionsOptions {
  webhooks: Pick<WebhookDirectory, 'webhooksOf'>;
  /** Undefined for a project that is gone. */
  organizationOf(projectId: string): string | undefined;
  /** As if every webhook were for events of private keys only. */
  privateOnly: boolean;
}

/** One subscription by the place of its webhook. */
interface Place {
  webhook: number;
  roomType: string | undefined;
}

interface Layout {
  webhooks: readonly WebhookRecord[];
  places: ReadonlyMap<string, readonly Place[]>;
  filter: SubscriptionFilter;
  privateOnly: boolean;
}

export function createSubscriptions(options: SubscriptionsOptions): Subscriptions {
  // The directory hands out the same list until a webhook changes.
  const layouts = new WeakMap<readonly WebhookRecord[], Layout>();
  const layoutOf = (organizationId: string): Layout | undefined => {
    const webhooks = options.webhooks.webhooksOf(organizationId);
    if (webhooks.length === 0) return undefined;
    const layout = layouts.get(webhooks) ?? layOut(webhooks);
    layouts.set(webhooks, layout);
    return layout.webhooks.length === 0 ? undefined : layout;
  };
  return {
    subscribed: (projectIds) =>
      projectIds.flatMap((projectId) => {
        const organizationId = options.organizationOf(projectId);
        const layout = organizationId === undefined ? undefined : layoutOf(organizationId);
        if (organizationId === undefined || layout === undefined) return [];
        const privateOnly = options.privateOnly || layout.privateOnly;
        return { projectId, organizationId, filter: layout.filter, privateOnly };
      }),
    match(event) {
      const organizationId = options.organizationOf(event.projectId);
      const layout = organizationId === undefined ? undefined : layoutOf(organizationId);
      if (layout === undefined || (event.source === 'PUBLIC' && options.privateOnly)) return [];
      return matchIn(layout, event);
    },
  };
}

function layOut(all: readonly WebhookRecord[]): Layout {
  const webhooks = all.filter(({ status }) => status !== 'INACTIVE');
  const places = new Map<string, Place[]>();
  const subscriptions: Subscription[] = [];
  for (const [webhook, record] of webhooks.entries()) {
    for (const subscription of record.subscriptions) {
      const { eventType, subjectType, subjectId, roomType } = subscription;
      const key = keyOf(eventType, subjectType, subjectId);
      const others = places.get(key) ?? [];
      others.push({ webhook, roomType });
      places.set(key, others);
      subscriptions.push(subscription);
    }
  }
  return {
    webhooks,
    places,
    filter: makeSubscriptionFilter(subscriptions),
    privateOnly: webhooks.every(({ privateOnly }) => privateOnly === true),
  };
}

function matchIn(
  { webhooks, places }: Layout,
  { eventType, subjects, source }: RoomEvent,
): readonly WebhookRecord[] {
  const { roomId, spaceId, blockId, roomType } = subjects;
  const matched = new Set<number>();
  const add = (subjectType: SubjectType, subjectId: string | undefined): void => {
    if (subjectId === undefined) return;
    for (const place of places.get(keyOf(eventType, subjectType, subjectId)) ?? []) {
      if (place.roomType === undefined || place.roomType === roomType) matched.add(place.webhook);
    }
  };
  add('ROOM', roomId);
  add('SPACE', spaceId);
  add('BLOCK', blockId);
  if (matched.size === 0) return [];
  return webhooks.filter(
    ({ privateOnly }, index) =>
      matched.has(index) && !(source === 'PUBLIC' && privateOnly === true),
  );
}

function keyOf(eventType: RoomEventType, subjectType: SubjectType, subjectId: string): string {
  return `${eventType} ${subjectType} ${subjectId}`;
}
