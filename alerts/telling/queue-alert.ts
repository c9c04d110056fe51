// Queues the deliveries of a change of state: one for each webhook of the organization that subscribes to alerts of the
// project. The same change makes the same deliveries.

import { randomBytes } from 'node:crypto';
import type { ChangeRecord } from '../../platform/alerts/alert-state.ts';
import type { PublishOutcome } from '../../platform/broker/nats.ts';
import { renderAlert } from '../../platform/webhooks/alert-payload.ts';
import { type Delivery, deliveryIdOf, encodeDelivery } from '../../platform/webhooks/delivery.ts';
import { payloadOf } from '../../platform/webhooks/payload.ts';
import type { WebhookDirectory } from '../../platform/webhooks/webhook-directory.ts';
import type { WebhookRecord } from '../../platform/webhooks/webhook-record.ts';
import { dueSubject } from '../../platform/webhooks/webhook-streams.ts';
import type { OwnedAlert } from '../owned-alerts.ts';
import { conditionName, stateName } from './alert-names.ts';

/** `later`: at least one is not known to be queued. A second call queues none twice. */
export type QueueAlert = (owned: OwnedAlert, change: ChangeRecord) => Promise<'queued' | 'later'>;

export interface QueueParts {
  webhooks: Pick<WebhookDirectory, 'webhooksOf'>;
  /** One try to store a message; a message whose id was stored in the last minutes is not stored again. */
  publish(subject: string, content: Uint8Array, messageId: string): Promise<PublishOutcome>;
}

export function createQueueAlert(parts: QueueParts): QueueAlert {
  return async (owned, change) => {
    for (const webhook of webhooksFor(parts, owned)) {
      const deliveryId = deliveryIdOf(owned.projectId, change.id, webhook.id);
      const delivery = deliveryOf(owned, change, webhook, { deliveryId, trigger: 'SCHEDULED' });
      if (!(await isQueued(parts, delivery))) return 'later';
    }
    return 'queued';
  };
}

/** Queues a test for each webhook; returns how many are queued. */
export async function queueTests(
  parts: QueueParts,
  owned: OwnedAlert,
  change: ChangeRecord,
): Promise<number> {
  let queued = 0;
  for (const webhook of webhooksFor(parts, owned)) {
    if (webhook.status !== 'ACTIVE') continue;
    const deliveryId = randomBytes(16).toString('hex');
    const delivery = deliveryOf(owned, change, webhook, { deliveryId, trigger: 'TEST' });
    if (await isQueued(parts, delivery)) queued += 1;
  }
  return queued;
}

async function isQueued({ publish }: QueueParts, delivery: Delivery): Promise<boolean> {
  const { deliveryId, webhookId } = delivery;
  const subject = dueSubject('first', webhookId);
  const outcome = await publish(subject, encodeDelivery(delivery), deliveryId);
  return outcome.kind === 'stored';
}

/** Inactive webhooks are told nothing; what paused ones miss is recorded. */
function webhooksFor(
  { webhooks }: QueueParts,
  { organizationId, projectId }: OwnedAlert,
): WebhookRecord[] {
  return webhooks
    .webhooksOf(organizationId)
    .filter(
      ({ status, subscriptions }) =>
        status !== 'INACTIVE' &&
        subscriptions.some((one) => one.eventType === 'alert' && one.subjectId === projectId),
    );
}

function deliveryOf(
  { projectId, organizationId, alert }: OwnedAlert,
  change: ChangeRecord,
  { id: webhookId }: WebhookRecord,
  { deliveryId, trigger }: Pick<Delivery, 'deliveryId' | 'trigger'>,
): Delivery {
  const { id: eventId, timeMs, look } = change;
  const { condition } = alert;
  const part = renderAlert({
    ...{ organizationId, projectId, eventId, occurTimeMs: timeMs, isTest: trigger === 'TEST' },
    ...{ alertId: alert.id, name: alert.displayName },
    ...{ state: stateName(change.state), previousState: stateName(change.before) },
    condition: conditionName(condition?.kind),
    threshold: condition?.threshold ?? 0,
    ...look,
  });
  return {
    ...{ deliveryId, webhookId, organizationId, projectId, eventId, eventType: 'alert' },
    ...{ acceptTimeMs: timeMs, trigger, attempt: 1, dueTimeMs: timeMs },
    payload: payloadOf(deliveryId, webhookId, part),
  };
}
