// The REST of webhooks, as /openapi.json describes it.

import { rest } from '../client.ts';

/** A room's subscription has a room type, a project's has kinds and properties. */
export type SubscriptionFilter = {
  room_type?: string;
  kinds?: string[];
  properties?: PropertyFilterJson[];
};

/** common.v1.PropertyFilter. */
export type PropertyFilterJson = {
  property: string;
  operator: string;
  value?: string;
  values?: string[];
  source?: string;
};

export type Subscription = {
  subject_type: string;
  subject_id: string;
  subscription_type: string;
  filter?: SubscriptionFilter;
};

export type Webhook = {
  id: string;
  organization_id: string;
  name: string;
  description: string;
  endpoint_url: string;
  status: string;
  subscriptions: Subscription[];
};

export type Attempt = {
  delivery_id: string;
  event_id: string;
  event_type: string;
  attempt: number;
  retry_count: number;
  trigger: string;
  status: string;
  response_code?: number | null;
  error?: string | null;
  duration_ms: number;
  response_body?: string | null;
  endpoint_url: string;
  attempt_time: string;
  next_attempt_time?: string | null;
};

export type WebhookContent = {
  name: string;
  description: string;
  endpoint_url: string;
  subscriptions: Subscription[];
};

const base = (orgId: string): string => `/v1/organizations/${encodeURIComponent(orgId)}/webhooks`;
const one = (orgId: string, id: string): string => `${base(orgId)}/${encodeURIComponent(id)}`;

export const webhooksApi = {
  list: (orgId: string) => rest<{ webhooks: Webhook[] }>('GET', base(orgId)),
  create: (orgId: string, content: WebhookContent) =>
    rest<{ webhook: Webhook; secret: string }>('POST', base(orgId), { content }),
  update: (orgId: string, id: string, content: Partial<WebhookContent & { status: string }>) =>
    rest<{ webhook: Webhook }>('PATCH', one(orgId, id), { content }),
  remove: (orgId: string, id: string) => rest('DELETE', one(orgId, id)),
  rotate: (orgId: string) => rest<{ secret: string }>('POST', `${base(orgId)}/secret/rotate`),
  test: (orgId: string, id: string, eventType: string) =>
    rest('POST', `${one(orgId, id)}/test`, { event_type: eventType }),
  redeliver: (orgId: string, id: string, deliveryId: string) =>
    rest('POST', `${one(orgId, id)}/deliveries/${encodeURIComponent(deliveryId)}/redeliver`),
  recover: (orgId: string, id: string, from: Date, to: Date) =>
    rest<{ delivery_ids?: string[] }>('POST', `${one(orgId, id)}/recover`, {
      from: from.toISOString(),
      to: to.toISOString(),
    }),
  logs: (orgId: string, id: string, query: Record<string, string>) =>
    rest<{ logs: Attempt[]; next_page_token: string }>(
      'GET',
      `${one(orgId, id)}/logs?${new URLSearchParams(query)}`,
    ),
};

export const projectSubject = 'WEBHOOK_SUBJECT_TYPE_PROJECT';
export const projectSubscriptionType = 'WEBHOOK_SUBSCRIPTION_TYPE_EVENT';
/** Of what happens in a project besides its events; they have no filter. */
export const happeningTypes = [
  'WEBHOOK_SUBSCRIPTION_TYPE_ALERT',
  'WEBHOOK_SUBSCRIPTION_TYPE_EXPORT_READY',
] as const;

/** What room events are about. */
export const subjects = [
  { value: 'WEBHOOK_SUBJECT_TYPE_ROOM', name: 'A room' },
  { value: 'WEBHOOK_SUBJECT_TYPE_SPACE', name: 'All rooms of a space' },
  { value: 'WEBHOOK_SUBJECT_TYPE_BLOCK', name: 'A block' },
] as const;

/** `event`: the type that is delivered. */
export const subscriptionTypes = [
  { value: projectSubscriptionType, name: 'An event of a project came', event: 'event' },
  { value: happeningTypes[0], name: 'An alert of a project changed', event: 'alert' },
  { value: happeningTypes[1], name: 'An export of a project is ready', event: 'export_ready' },
  {
    value: 'WEBHOOK_SUBSCRIPTION_TYPE_MESSAGE_SENT',
    name: 'A message was sent',
    event: 'message_sent',
  },
  {
    value: 'WEBHOOK_SUBSCRIPTION_TYPE_MESSAGE_EDITED',
    name: 'A message was edited',
    event: 'message_edited',
  },
  {
    value: 'WEBHOOK_SUBSCRIPTION_TYPE_MESSAGE_DELETED',
    name: 'A message was deleted',
    event: 'message_deleted',
  },
  {
    value: 'WEBHOOK_SUBSCRIPTION_TYPE_ROOM_RECORDING_PUBLISHED',
    name: 'A recording is ready',
    event: 'room_recording_published',
  },
  {
    value: 'WEBHOOK_SUBSCRIPTION_TYPE_ROOM_RECORDING_TRANSCRIPT_PUBLISHED',
    name: 'A transcript is ready',
    event: 'room_recording_transcript_published',
  },
  {
    value: 'WEBHOOK_SUBSCRIPTION_TYPE_BLOCK_RESPONSE_SENT',
    name: 'A block was answered',
    event: 'block_response_sent',
  },
] as const;

/** A status as a word and a tone. */
export function statusOf(status: string): { name: string; tone: string } {
  switch (status) {
    case 'WEBHOOK_STATUS_ACTIVE':
      return { name: 'active', tone: 'good' };
    case 'WEBHOOK_STATUS_PAUSED':
      return { name: 'paused', tone: 'bad' };
    default:
      return { name: 'inactive', tone: '' };
  }
}

/** An attempt's status as a word and a tone. */
export function outcomeOf(status: string): { name: string; tone: string } {
  switch (status) {
    case 'SUCCEEDED':
      return { name: 'delivered', tone: 'good' };
    case 'FAILED_WILL_RETRY':
      return { name: 'will retry', tone: 'warn' };
    case 'EXHAUSTED':
      return { name: 'given up', tone: 'bad' };
    default:
      return { name: 'not sent', tone: '' };
  }
}
