// The record of an organization's webhooks: the pipeline matches events with it, and webhooks/ sends by it and changes
// it. One aggregate is one key, the organization's id, so that a change is one compare-and-set.

import { hasTexts } from '../broker/record-bucket.ts';
import { parseUrl } from '../http/parse-url.ts';
import { isTextList } from '../json.ts';
import { isPropertyFilterRecord, type PropertyFilterRecord } from './property-filter-record.ts';

/** What room events are about. */
export const roomSubjectTypes = ['ROOM', 'SPACE', 'BLOCK'] as const;
export type RoomSubjectType = (typeof roomSubjectTypes)[number];

export const subjectTypes = [...roomSubjectTypes, 'PROJECT'] as const;
export type SubjectType = (typeof subjectTypes)[number];

export const webhookStatuses = ['ACTIVE', 'INACTIVE', 'PAUSED'] as const;
export type WebhookStatus = (typeof webhookStatuses)[number];

export interface RoomSubscription {
  subjectType: RoomSubjectType;
  subjectId: string;
  eventType: RoomEventType;
  /** Absent, rooms of every type match. */
  roomType?: string;
}

/** The events of one project. */
export interface ProjectSubscription {
  subjectType: 'PROJECT';
  /** The project's. */
  subjectId: string;
  eventType: 'event';
  /** Exact; absent, events of every kind match. */
  kinds?: readonly string[];
  /** All must hold. */
  properties?: readonly PropertyFilterRecord[];
}

/** What happens in one project besides its events. */
export interface HappeningSubscription {
  subjectType: 'PROJECT';
  /** The project's. */
  subjectId: string;
  eventType: ProjectEventType;
}

export type Subscription = RoomSubscription | ProjectSubscription | HappeningSubscription;

/** The kinds of events in rooms; such an event's kind is its type in a delivery. */
export const roomEventTypes = [
  'message_sent',
  'message_deleted',
  'message_edited',
  'room_recording_published',
  'room_recording_transcript_published',
  'block_response_sent',
] as const;
export type RoomEventType = (typeof roomEventTypes)[number];

/** What happens in a project besides its events: the state of an alert changed, a kept export is ready. */
export const projectEventTypes = ['alert', 'export_ready'] as const;
export type ProjectEventType = (typeof projectEventTypes)[number];

/** The types of deliveries. An event of any kind that its project is subscribed for is an `event`. */
export const eventTypes = [...roomEventTypes, 'event', ...projectEventTypes] as const;
export type EventType = (typeof eventTypes)[number];

/** Whether it is what happens in a project besides its events. */
export function isProjectEventType(type: unknown): type is ProjectEventType {
  return projectEventTypes.some((one) => one === type);
}

export function isHappening(subscription: Subscription): subscription is HappeningSubscription {
  return isProjectEventType(subscription.eventType);
}

/** Why a webhook is PAUSED. */
export type PauseReason = 'NO_SUCCESS_FOR_DAYS' | 'FAILURES_IN_A_ROW' | 'GONE';

/** Times are RFC 3339. */
export interface WebhookRecord {
  id: string;
  name: string;
  description: string;
  /** As `sentUrl` writes it. */
  endpointUrl: string;
  status: WebhookStatus;
  subscriptions: readonly Subscription[];
  /** Events of public keys do not trigger it. */
  privateOnly?: true;
  /** Sealed by the instance key for `webhookSecretPurpose`. */
  sealedSecret: string;
  pauseReason?: PauseReason;
  createTime: string;
  updateTime: string;
  /** When its status became ACTIVE the last time: failures from before count no more. */
  activeTime: string;
  /** When its status became INACTIVE the last time: retries that waited then are dropped even if it is active again. */
  inactiveTime?: string;
}

export interface OrganizationWebhooksRecord {
  schemaVersion: 1;
  /** Made with the first webhook or by a rotation; webhooks made afterwards get it. Sealed like theirs. */
  sealedCurrentSecret: string;
  webhooks: readonly WebhookRecord[];
}

export const maxWebhooks = 50;
export const maxSubscriptions = 50;

/** The same for all secrets of an organization, because webhooks share them. */
export function webhookSecretPurpose(organizationId: string): string {
  return `webhook secret of ${organizationId}`;
}

/**
 * The one form in which a URL is judged, stored, shown and sent to: what the parser of URLs makes of it, without the
 * fragment, which is sent nowhere. A text that is no URL stays as it is.
 */
export function sentUrl(text: string): string {
  const url = parseUrl(text);
  if (url === undefined) return text;
  url.hash = '';
  return url.href;
}

/**
 * Narrows a value of the bucket. Fields that this version does not know are kept. URLs come in the form in which they
 * are sent to: earlier versions stored them as they were written.
 */
export function readOrganizationWebhooks(value: unknown): OrganizationWebhooksRecord | undefined {
  if (!isOrganizationWebhooks(value)) return undefined;
  const webhooks = value.webhooks.map((webhook) => {
    const endpointUrl = sentUrl(webhook.endpointUrl);
    return endpointUrl === webhook.endpointUrl ? webhook : { ...webhook, endpointUrl };
  });
  return { ...value, webhooks };
}

function isOrganizationWebhooks(value: unknown): value is OrganizationWebhooksRecord {
  if (typeof value !== 'object' || value === null) return false;
  if (Reflect.get(value, 'schemaVersion') !== 1) return false;
  if (!hasTexts(value, ['sealedCurrentSecret'])) return false;
  const webhooks: unknown = Reflect.get(value, 'webhooks');
  return Array.isArray(webhooks) && webhooks.every(isWebhook);
}

function isWebhook(value: unknown): value is WebhookRecord {
  if (typeof value !== 'object' || value === null) return false;
  const names = ['id', 'name', 'description', 'endpointUrl', 'sealedSecret'] as const;
  if (!hasTexts(value, [...names, 'createTime', 'updateTime', 'activeTime'])) return false;
  const subscriptions: unknown = Reflect.get(value, 'subscriptions');
  return (
    webhookStatuses.some((status) => status === Reflect.get(value, 'status')) &&
    Array.isArray(subscriptions) &&
    subscriptions.every(isSubscription)
  );
}

function isSubscription(value: unknown): value is Subscription {
  if (typeof value !== 'object' || value === null) return false;
  if (!hasTexts(value, ['subjectId', 'subjectType'])) return false;
  if (value.subjectType === 'PROJECT') {
    if (isProjectEventType(Reflect.get(value, 'eventType'))) return true;
    const kinds: unknown = Reflect.get(value, 'kinds');
    const filters: unknown = Reflect.get(value, 'properties');
    return (
      Reflect.get(value, 'eventType') === 'event' &&
      (kinds === undefined || isTextList(kinds)) &&
      (filters === undefined || (Array.isArray(filters) && filters.every(isPropertyFilterRecord)))
    );
  }
  const roomType: unknown = Reflect.get(value, 'roomType');
  return (
    roomSubjectTypes.some((type) => type === value.subjectType) &&
    roomEventTypes.some((type) => type === Reflect.get(value, 'eventType')) &&
    ['string', 'undefined'].includes(typeof roomType)
  );
}
