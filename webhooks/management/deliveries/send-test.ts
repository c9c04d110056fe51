// The method that sends a test event to a webhook, whatever it subscribes to.

import { randomBytes, randomUUID } from 'node:crypto';
import { payloadOf } from '../../../platform/webhooks/payload.ts';
import { exampleEvent } from '../catalogue/event-types.ts';
import { operation } from '../http/operation.ts';
import { webhookPath } from '../records/show-webhooks.ts';
import { deliveryId, eventType } from '../schema/webhook-schema.ts';
import { queueIsFull, requireSendable } from './queue-rules.ts';

export const sendTest = operation({
  name: 'sendTest',
  method: 'POST',
  path: `${webhookPath}/test`,
  summary: 'Sends the example of an event type, once. The log shows it with the trigger TEST.',
  role: 'admin',
  needsProof: true,
  rate: 'change',
  body: {
    type: 'object',
    properties: { event_type: eventType },
    required: ['event_type'],
  },
  status: 202,
  answer: {
    type: 'object',
    properties: { delivery_id: deliveryId, event_id: { type: 'string' } },
    required: ['delivery_id', 'event_id'],
  },
  async run({ store, publishDelivery, clock }, { organizationId, webhookId, body }) {
    requireSendable(await store.find(organizationId, webhookId));
    const deliveryId = randomBytes(16).toString('hex');
    const eventId = randomUUID();
    const nowMs = clock.nowMs();
    const { projectId, part } = exampleEvent(body.event_type, {
      organizationId,
      eventId,
      occurTimeMs: nowMs,
    });
    const published = await publishDelivery(
      {
        deliveryId,
        webhookId,
        organizationId,
        projectId,
        eventId,
        eventType: body.event_type,
        acceptTimeMs: nowMs,
        trigger: 'TEST',
        attempt: 1,
        dueTimeMs: nowMs,
        payload: payloadOf(deliveryId, webhookId, part),
      },
      deliveryId,
    );
    if (published === 'full') throw queueIsFull();
    return { delivery_id: deliveryId, event_id: eventId };
  },
});
