// Deliveries of what happens in a project besides its events: one for each webhook of the organization that subscribes
// to it. The same happening makes the same deliveries, so that whoever is not sure tells it again.

import type { PublishOutcome } from '../broker/nats.ts';
import { type Delivery, deliveryIdOf, encodeDelivery } from './delivery.ts';
import { payloadOf } from './payload.ts';
import type { WebhookDirectory } from './webhook-directory.ts';
import type { ProjectEventType, WebhookRecord } from './webhook-record.ts';
import { dueSubject } from './webhook-streams.ts';

export interface QueueParts {
  webhooks: Pick<WebhookDirectory, 'webhooksOf'>;
  /** One try to store a message; a message whose id was stored in the last minutes is not stored again. */
  publish(subject: string, content: Uint8Array, messageId: string): Promise<PublishOutcome>;
}

export interface Happening {
  organizationId: string;
  projectId: string;
  eventType: ProjectEventType;
  /** Of what happened. */
  eventId: string;
  timeMs: number;
  /** The payload up to the webhook. */
  part: string;
}

/** `later`: at least one is not known to be queued. A second call queues none twice. */
export async function queueDeliveries(
  parts: QueueParts,
  happening: Happening,
): Promise<'queued' | 'later'> {
  for (const webhook of subscribersOf(parts, happening)) {
    const deliveryId = deliveryIdOf(happening.projectId, happening.eventId, webhook.id);
    const delivery = deliveryOf(happening, webhook.id, { deliveryId, trigger: 'SCHEDULED' });
    if (!(await isQueued(parts, delivery))) return 'later';
  }
  return 'queued';
}

/** Inactive webhooks are told nothing; what paused ones miss is recorded. */
export function subscribersOf(
  { webhooks }: Pick<QueueParts, 'webhooks'>,
  {
    organizationId,
    projectId,
    eventType,
  }: Pick<Happening, 'organizationId' | 'projectId' | 'eventType'>,
): WebhookRecord[] {
  return webhooks
    .webhooksOf(organizationId)
    .filter(
      ({ status, subscriptions }) =>
        status !== 'INACTIVE' &&
        subscriptions.some((one) => one.eventType === eventType && one.subjectId === projectId),
    );
}

/** Never rejects. */
export async function isQueued(
  { publish }: Pick<QueueParts, 'publish'>,
  delivery: Delivery,
): Promise<boolean> {
  const { deliveryId, webhookId } = delivery;
  const subject = dueSubject('first', webhookId);
  const outcome = await publish(subject, encodeDelivery(delivery), deliveryId);
  return outcome.kind === 'stored';
}

export function deliveryOf(
  { organizationId, projectId, eventType, eventId, timeMs, part }: Happening,
  webhookId: string,
  { deliveryId, trigger }: Pick<Delivery, 'deliveryId' | 'trigger'>,
): Delivery {
  return {
    ...{ deliveryId, webhookId, organizationId, projectId, eventId, eventType },
    ...{ acceptTimeMs: timeMs, trigger, attempt: 1, dueTimeMs: timeMs },
    payload: payloadOf(deliveryId, webhookId, part),
  };
}
