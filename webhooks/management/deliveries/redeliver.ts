// The methods that send again: one delivery, or those of a range of time. The dispatcher sends; here they are queued.

import { randomUUID } from 'node:crypto';
import { Code, ConnectError } from '@connectrpc/connect';
import { dayMs } from '../../../platform/clock.ts';
import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import { attemptStatuses } from '../../../platform/webhooks/attempt-record.ts';
import { type Delivery, maxPayloadBytes } from '../../../platform/webhooks/delivery.ts';
import type { StoredDelivery } from '../../attempts/read-deliveries.ts';
import { operation } from '../http/operation.ts';
import { exhausted, failedPrecondition } from '../http/refusals.ts';
import { webhookPath } from '../records/show-webhooks.ts';
import { momentMs } from '../schema/moment.ts';
import { deliveryId } from '../schema/webhook-schema.ts';
import { queueIsFull, requireActive, requireSendable } from './queue-rules.ts';
import { maxRecovered, recover } from './recover-range.ts';

const sending = {
  role: 'admin',
  needsProof: true,
  rate: 'change',
  refusals: [504],
  status: 202,
} as const;

export const redeliver = operation({
  name: 'redeliver',
  method: 'POST',
  path: `${webhookPath}/deliveries/{delivery_id}/redeliver`,
  summary:
    'Sends a delivery once more, under the same id and outside its schedule; also to a paused webhook.',
  ...sending,
  answer: {
    type: 'object',
    properties: { delivery_id: deliveryId },
    required: ['delivery_id'],
  },
  async run({ store, attempts, publishDelivery, clock }, received) {
    const { organizationId, webhookId, deliveryId } = received;
    requireSendable(await store.find(organizationId, webhookId));
    const stored = await attempts.readDelivery(organizationId, webhookId, deliveryId);
    if (stored === undefined) {
      throw new ConnectError('the log has no such delivery', Code.NotFound);
    }
    if (stored.payload === '') {
      throw failedPrecondition(
        `the delivery's body was not kept: it had more than ${maxPayloadBytes} bytes`,
      );
    }
    const again = againOf(stored, { organizationId, webhookId }, clock.nowMs());
    // Each request is one attempt: whoever repeats it wants another one.
    const published = await publishDelivery(again, randomUUID());
    if (published === 'full') throw queueIsFull();
    return { delivery_id: stored.deliveryId };
  },
});

const maxRangeDays = 14;

export const recoverDeliveries = operation({
  name: 'recoverDeliveries',
  method: 'POST',
  path: `${webhookPath}/recover`,
  summary: 'Sends the deliveries of a range of time again that did not arrive, the oldest first.',
  ...sending,
  body: {
    type: 'object',
    properties: {
      from: {
        type: 'string',
        format: 'date-time',
        description: 'Of the first attempt, or of the moment at which nothing was sent.',
      },
      to: {
        type: 'string',
        format: 'date-time',
        description: `After from, by at most ${maxRangeDays} days; deliveries before it.`,
      },
      statuses: {
        type: 'array',
        items: { type: 'string', enum: attemptStatuses },
        minItems: 1,
        maxItems: attemptStatuses.length,
        description:
          'Of the newest record of a delivery. EXHAUSTED and SKIPPED where it is absent.',
      },
    },
    required: ['from', 'to'],
  },
  answer: {
    type: 'object',
    properties: {
      delivery_ids: { type: 'array', items: deliveryId, maxItems: maxRecovered },
      without_body: {
        type: 'integer',
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Deliveries that were not taken because their body was not kept.',
      },
      next_from: {
        type: 'string',
        format: 'date-time',
        description: 'Present where some were left: ask again from there.',
      },
    },
    required: ['delivery_ids', 'without_body'],
  },
  async run(parts, { organizationId, webhookId, body }) {
    const fromMs = momentMs(body.from) ?? 0;
    const toMs = momentMs(body.to) ?? 0;
    if (fromMs >= toMs) throw invalidArgument('to', 'must be after from');
    if (toMs - fromMs > maxRangeDays * dayMs) {
      throw invalidArgument('to', `must be at most ${maxRangeDays} days after from`);
    }
    requireActive(await parts.store.find(organizationId, webhookId));
    if (parts.recovering.has(webhookId)) {
      throw exhausted('deliveries of this webhook are being recovered: try again later', 10);
    }
    parts.recovering.add(webhookId);
    try {
      const statuses = body.statuses ?? ['EXHAUSTED', 'SKIPPED'];
      const to = { organizationId, webhookId };
      const recovered = await recover(parts, to, { fromMs, toMs, statuses }, againOf);
      const { nextFromMs } = recovered;
      return {
        delivery_ids: recovered.deliveryIds,
        without_body: recovered.withoutBody,
        ...(nextFromMs !== undefined && { next_from: new Date(nextFromMs).toISOString() }),
      };
    } finally {
      parts.recovering.delete(webhookId);
    }
  },
});

function againOf(
  stored: StoredDelivery,
  to: { organizationId: string; webhookId: string },
  nowMs: number,
): Delivery {
  const { deliveryId, projectId, eventId, eventType, payload } = stored;
  return {
    ...to,
    deliveryId,
    projectId,
    eventId,
    eventType,
    payload,
    acceptTimeMs: nowMs,
    trigger: 'MANUAL',
    attempt: 1,
    dueTimeMs: nowMs,
  };
}
