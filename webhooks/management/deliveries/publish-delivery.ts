// Queues deliveries that people ask for, in the lane of first attempts. The pipeline queues those of events itself.

import { Code, ConnectError } from '@connectrpc/connect';
import type { NatsConnection } from '../../../platform/broker/nats.ts';
import { type Delivery, encodeDelivery } from '../../../platform/webhooks/delivery.ts';
import { publishMessage } from '../../../platform/webhooks/publish-message.ts';
import { dueSubject } from '../../../platform/webhooks/webhook-streams.ts';

/**
 * Resolves once the broker has stored it, or with `full` where too many wait already. A second one with the same
 * `messageId` within ten minutes is not stored, and counts as queued. Throws unavailable where it may be queued or not.
 */
export type PublishDelivery = (delivery: Delivery, messageId: string) => Promise<'queued' | 'full'>;

export function createPublishDelivery(nats: NatsConnection): PublishDelivery {
  return async (delivery, messageId) => {
    const subject = dueSubject('first', delivery.webhookId);
    const outcome = await publishMessage(nats, subject, encodeDelivery(delivery), messageId);
    switch (outcome.kind) {
      case 'stored':
        return 'queued';
      case 'full':
        return 'full';
      case 'unavailable':
        throw new ConnectError(
          'the delivery is not known to be queued, try again',
          Code.Unavailable,
        );
      default:
        return outcome satisfies never;
    }
  };
}
