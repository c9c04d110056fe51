// Which webhooks an event is for: the subscriptions of an organization, laid out once for each change of its webhooks,
// and found by project. A webhook matches once, however many of its subscriptions do. Inactive webhooks match nothing;
// paused ones match, because what they miss is recorded.

import type { PayloadSource, Subjects } from '../../platform/webhooks/payload.ts';
import type { WebhookDirectory } from '../../platform/webhooks/webhook-directory.ts';
import {
  isHappening,
  type ProjectSubscription,
  type RoomEventType,
  type RoomSubjectType,
  type RoomSubscription,
  roomEventTypes,
  type WebhookRecord,
} from '../../platform/webhooks/webhook-record.ts';
import { makeProjectFilter, type ProjectFilter } from './project-filter.ts';
import { makeSubscriptionFilter, type SubscriptionFilter } from './subscription-filter.ts';

/** A project whose organization has webhooks, as a builder's thread is told of it. */
export interface SubscribedProject {
  projectId: string;
  organizationId: string;
  filter: SubscriptionFilter;
  /** Absent where nobody subscribes to the project's events. */
  events?: ProjectFilter;
  /** Events of public keys match nothing. */
  privateOnly: boolean;
}

/** The part of an event in a room that subscriptions ask about. */
export interface RoomEvent {
  projectId: string;
  eventType: RoomEventType;
  source: PayloadSource;
  subjects: Subjects;
}

/** An event of a kind that the project is subscribed for. */
export interface ProjectEvent extends Omit<RoomEvent, 'eventType'> {
  eventType: 'event';
  kind: string;
  /** The webhooks that wanted it when the verdict on its batch was given. */
  webhookIds: readonly string[];
}

export interface Subscriptions {
  /** Those of the projects whose organizations have webhooks that are not inactive. */
  subscribed(projectIds: readonly string[]): SubscribedProject[];
  /** The webhooks that the event is for, in the order of the organization's record. */
  match(event: RoomEvent | ProjectEvent): readonly WebhookRecord[];
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
  /** By project. */
  projects: ReadonlyMap<string, ProjectFilter>;
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
        const events = layout.projects.get(projectId);
        const { filter } = layout;
        return {
          ...{ projectId, organizationId, filter, privateOnly },
          ...(events !== undefined && { events }),
        };
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
  const inRooms: RoomSubscription[] = [];
  const inProjects = new Map<string, { webhookId: string; subscription: ProjectSubscription }[]>();
  for (const [webhook, { id: webhookId, subscriptions }] of webhooks.entries()) {
    for (const subscription of subscriptions) {
      // Alerts and exports are no events.
      if (isHappening(subscription)) continue;
      if (subscription.subjectType === 'PROJECT') {
        addTo(inProjects, subscription.subjectId, { webhookId, subscription });
        continue;
      }
      const { eventType, subjectType, subjectId, roomType } = subscription;
      addTo(places, keyOf(eventType, subjectType, subjectId), { webhook, roomType });
      inRooms.push(subscription);
    }
  }
  return {
    webhooks,
    places,
    filter: makeSubscriptionFilter(inRooms),
    projects: new Map([...inProjects].map(([id, own]) => [id, makeProjectFilter(own)])),
    privateOnly: webhooks.every(({ privateOnly }) => privateOnly === true),
  };
}

function addTo<Item>(lists: Map<string, Item[]>, key: string, item: Item): void {
  const others = lists.get(key);
  if (others === undefined) lists.set(key, [item]);
  else others.push(item);
}

function matchIn(layout: Layout, event: RoomEvent | ProjectEvent): readonly WebhookRecord[] {
  const wants =
    event.eventType === 'event' ? projectMatch(layout, event) : roomMatch(layout, event);
  return layout.webhooks.filter(
    (webhook, index) =>
      wants(webhook, index) && !(event.source === 'PUBLIC' && webhook.privateOnly === true),
  );
}

/** A webhook that gets the event as what it is in a room gets it once, as that. */
function projectMatch(
  layout: Layout,
  { kind, webhookIds, ...event }: ProjectEvent,
): (webhook: WebhookRecord, index: number) => boolean {
  const eventType = roomEventTypes.find((type) => type === kind);
  const inRoom = eventType === undefined ? () => false : roomMatch(layout, { ...event, eventType });
  return (webhook, index) => webhookIds.includes(webhook.id) && !inRoom(webhook, index);
}

function roomMatch(
  { places }: Pick<Layout, 'places'>,
  { eventType, subjects }: RoomEvent,
): (webhook: WebhookRecord, index: number) => boolean {
  const { roomId, spaceId, blockId, roomType } = subjects;
  const matched = new Set<number>();
  const add = (subjectType: RoomSubjectType, subjectId: string | undefined): void => {
    if (subjectId === undefined) return;
    for (const place of places.get(keyOf(eventType, subjectType, subjectId)) ?? []) {
      if (place.roomType === undefined || place.roomType === roomType) matched.add(place.webhook);
    }
  };
  add('ROOM', roomId);
  add('SPACE', spaceId);
  add('BLOCK', blockId);
  return (_, index) => matched.has(index);
}

function keyOf(eventType: RoomEventType, subjectType: RoomSubjectType, subjectId: string): string {
  return `${eventType} ${subjectType} ${subjectId}`;
}
