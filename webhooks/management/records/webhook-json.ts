// The JSON of a webhook's record. The other way is checked-subscriptions.ts's.

import {
  isHappening,
  type Subscription,
  type WebhookRecord,
} from '../../../platform/webhooks/webhook-record.ts';
import { statusName, subjectTypeName, subscriptionTypeName } from '../schema/event-names.ts';
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
  const { subjectType, subjectId, eventType } = subscription;
  const filter = filterJson(subscription);
  return {
    subject_type: subjectTypeName(subjectType),
    subject_id: subjectId,
    subscription_type: subscriptionTypeName(eventType),
    ...(Object.keys(filter).length > 0 && { filter }),
  };
}

function filterJson(subscription: Subscription): NonNullable<SubscriptionJson['filter']> {
  if (isHappening(subscription)) return {};
  if (subscription.subjectType !== 'PROJECT') {
    const { roomType } = subscription;
    return roomType === undefined ? {} : { room_type: roomType };
  }
  const { kinds, properties } = subscription;
  return {
    ...(kinds !== undefined && { kinds }),
    ...(properties !== undefined && { properties }),
  };
}
