// The deliveries of matched events: one for each webhook and event, with the reason where it is to be recorded and not
// sent. Made one at a time, because one event may be for fifty webhooks.

import {
  type Delivery,
  deliveryIdOf,
  fitsPayload,
  type SkipReason,
} from '../../platform/webhooks/delivery.ts';
import { payloadOf } from '../../platform/webhooks/payload.ts';
import type { WebhookRecord } from '../../platform/webhooks/webhook-record.ts';
import type { MatchedEvent } from '../build/thread-messages.ts';
import type { DeliveryLimit } from './delivery-limit.ts';
import type { Subscriptions } from './subscriptions.ts';

export interface AddressedDelivery {
  delivery: Delivery;
  webhook: WebhookRecord;
}

interface DeliveriesOptions {
  subscriptions: Subscriptions;
  limit: DeliveryLimit;
  /** Told of each delivery that is neither made nor recorded. */
  onUnrecorded(event: MatchedEvent): void;
}

export function* deliveriesOf(
  events: readonly MatchedEvent[],
  { subscriptions, limit, onUnrecorded }: DeliveriesOptions,
): Generator<AddressedDelivery> {
  for (const event of events) {
    const [project] = subscriptions.subscribed([event.projectId]);
    if (project === undefined) continue;
    for (const webhook of subscriptions.match(event)) {
      const grant = limit.take(event.projectId, event.receiveTimeMs);
      if (grant === 'unrecorded') onUnrecorded(event);
      else {
        const skip = grant === 'surplus' ? 'rate_limited' : undefined;
        yield { delivery: deliveryOf(event, project.organizationId, webhook, skip), webhook };
      }
    }
  }
}

function deliveryOf(
  { projectId, eventId, eventType, receiveTimeMs, part }: MatchedEvent,
  organizationId: string,
  { id: webhookId }: WebhookRecord,
  wanted: SkipReason | undefined,
): Delivery {
  const deliveryId = deliveryIdOf(projectId, eventId, webhookId);
  const payload = part === '' ? '' : payloadOf(deliveryId, webhookId, part);
  const fits = payload !== '' && fitsPayload(payload);
  const skip = fits ? wanted : 'payload_too_large';
  return {
    deliveryId,
    webhookId,
    organizationId,
    projectId,
    eventId,
    eventType,
    acceptTimeMs: receiveTimeMs,
    trigger: 'SCHEDULED',
    attempt: 1,
    dueTimeMs: receiveTimeMs,
    payload: fits ? payload : '',
    ...(skip !== undefined && { skip }),
  };
}
