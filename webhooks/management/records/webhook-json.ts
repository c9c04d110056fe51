// Between a webhook's record and its JSON.

import type { Subscription, WebhookRecord } from '../../../platform/webhooks/webhook-record.ts';
import {
  eventTypeOf,
  statusName,
  subjectTypeName,
  subjectTypeOf,
  subscriptionTypeName,
} from '../schema/event-names.ts';
import type { SubscriptionJson, WebhookJson } from '../schema/webhook-schema.ts';

export function webhookJson(organizationId: string, record: WebhookRecord): WebhookJson {
  const { pauseReason } = record;
  return {
    id: record.id,
    organization_id: organizationId,
    name: record.name,
    description: record.description,
    endpoint_url: record.endpointUrl,
    status: statusName(record.status),
    ...(record.status === 'PAUSED' && pauseReason !== undefined && { pause_reason: pauseReason }),
    subscriptions: record.subscriptions.map(subscriptionJson),
    private_only: record.privateOnly === true,
    create_time: record.createTime,
    update_time: record.updateTime,
  };
}

function subscriptionJson(subscription: Subscription): SubscriptionJson {
  const { subjectType, subjectId, eventType, roomType } = subscription;
  return {
    subject_type: subjectTypeName(subjectType),
    subject_id: subjectId,
    subscription_type: subscriptionTypeName(eventType),
    ...(roomType !== undefined && { filter: { room_type: roomType } }),
  };
}

export function subscriptionOf(json: SubscriptionJson): Subscription {
  const roomType = json.filter?.room_type;
  return {
    subjectType: subjectTypeOf(json.subject_type),
    subjectId: json.subject_id,
    eventType: eventTypeOf(json.subscription_type),
    ...(roomType !== undefined && { roomType }),
  };
}
