// The contract's names of statuses, subjects and subscriptions, and the shorter ones that records hold.

import {
  type EventType,
  eventTypes,
  type SubjectType,
  subjectTypes,
  type WebhookStatus,
  webhookStatuses,
} from '../../../platform/webhooks/webhook-record.ts';

type StatusName = `WEBHOOK_STATUS_${WebhookStatus}`;
type SubjectTypeName = `WEBHOOK_SUBJECT_TYPE_${SubjectType}`;
type SubscriptionTypeName = `WEBHOOK_SUBSCRIPTION_TYPE_${Uppercase<EventType>}`;

export const statusName = (status: WebhookStatus): StatusName => `WEBHOOK_STATUS_${status}`;
export const subjectTypeName = (type: SubjectType): SubjectTypeName =>
  `WEBHOOK_SUBJECT_TYPE_${type}`;
export const subscriptionTypeName = (type: EventType): SubscriptionTypeName =>
  subscriptionTypeNames[type];

const subscriptionTypeNames = {
  message_sent: 'WEBHOOK_SUBSCRIPTION_TYPE_MESSAGE_SENT',
  message_deleted: 'WEBHOOK_SUBSCRIPTION_TYPE_MESSAGE_DELETED',
  message_edited: 'WEBHOOK_SUBSCRIPTION_TYPE_MESSAGE_EDITED',
  room_recording_published: 'WEBHOOK_SUBSCRIPTION_TYPE_ROOM_RECORDING_PUBLISHED',
  room_recording_transcript_published:
    'WEBHOOK_SUBSCRIPTION_TYPE_ROOM_RECORDING_TRANSCRIPT_PUBLISHED',
  block_response_sent: 'WEBHOOK_SUBSCRIPTION_TYPE_BLOCK_RESPONSE_SENT',
  event: 'WEBHOOK_SUBSCRIPTION_TYPE_EVENT',
  alert: 'WEBHOOK_SUBSCRIPTION_TYPE_ALERT',
  export_ready: 'WEBHOOK_SUBSCRIPTION_TYPE_EXPORT_READY',
} as const satisfies Record<EventType, SubscriptionTypeName>;

export const statusNames = webhookStatuses.map(statusName);
export const subjectTypeNames = subjectTypes.map(subjectTypeName);
export const allSubscriptionTypeNames = eventTypes.map(subscriptionTypeName);

export function statusOf(name: StatusName): WebhookStatus {
  return found(webhookStatuses, (status) => statusName(status) === name);
}

export function subjectTypeOf(name: SubjectTypeName): SubjectType {
  return found(subjectTypes, (type) => subjectTypeName(type) === name);
}

export function eventTypeOf(name: SubscriptionTypeName): EventType {
  return found(eventTypes, (type) => subscriptionTypeNames[type] === name);
}

function found<T>(values: readonly T[], isIt: (value: T) => boolean): T {
  const value = values.find(isIt);
  if (value === undefined) throw new Error('a name of the contract has no value');
  return value;
}
