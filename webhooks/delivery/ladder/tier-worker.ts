// Moves the retries of one tier to the lane of retries as they come due. In a tier the first message is due first, up
// to jitter: so the worker looks at the head alone while that is far from due, and the rest waits on the broker's disk.
// A message that is nearly due waits at the broker too, in the consumer's bounded list. Where that is full, one behind
// it waits for a message that was queued before it and is due later, by less than the tier's jitter: so every retry
// comes within its delay and the most jitter, if not at its own moment.

import type { NatsConnection } from '../../../platform/broker/nats.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Log } from '../../../platform/log.ts';
import { decodeDelivery } from '../../../platform/webhooks/delivery.ts';
import {
  dueSubject,
  type RetryTier,
  retryConsumer,
  retryStream,
} from '../../../platform/webhooks/webhook-streams.ts';
import { HeldMessages } from '../queueing/held-messages.ts';
import type { Publisher } from '../queueing/publisher.ts';
import { openQueuePuller, type QueuedMessage } from '../queueing/queue-puller.ts';
import { maxJitterMs } from './retry-plan.ts';

export interface TierWorkerOptions {
  connection: NatsConnection;
  publisher: Publisher;
  tier: RetryTier;
  clock: Clock;
  log: Log;
  /** The longest time between two looks at the clock (30 s): a test that sets the clock looks oftener. */
  maxNapMs?: number;
}

/** Messages that are on their way to the lane at once. */
const maxMoving = 256;
const maxMovingBytes = 16 * 1_048_576;
const fullPauseMs = 1_000;

/** Of the tier's consumer: what the broker keeps in memory for it, however many wait. */
export const tierMaxAckPending = 1_024;

/** Works until it is stopped; several processes share a tier. */
export function startTierWorker(options: TierWorkerOptions): { stop(): Promise<void> } {
  const { connection, publisher, tier, clock, log, maxNapMs = 30_000 } = options;
  const held = new HeldMessages(connection);
  const jitterMs = maxJitterMs(tier);
  /** Nothing in the tier is due before. */
  let sleepUntilMs = 0;
  /** Real time, because the broker counts a message's delay in it. */
  let napEnd = 0;
  let isNear = false;

  const move = async (message: QueuedMessage, webhookId: string, data: Buffer): Promise<void> => {
    const subject = dueSubject('retry', webhookId);
    const outcome = await publisher.publish(subject, data, message.key);
    if (outcome === 'stored') held.ack(message.key);
    else held.giveBack(message.key, fullPauseMs);
  };

  const consider = (message: QueuedMessage): void => {
    if (!held.take(message)) return;
    const delivery = decodeDelivery(message.data);
    if (delivery === undefined) {
      log.error({ tier }, 'a retry of a webhook delivery cannot be read and is dropped');
      held.ack(message.key);
      return;
    }
    const waitMs = delivery.dueTimeMs - clock.nowMs();
    isNear = waitMs <= jitterMs;
    if (waitMs <= 0) {
      move(message, delivery.webhookId, Buffer.from(message.data)).catch(() => {
        // Only a worker that stops gives up; the message comes again.
      });
      return;
    }
    const napMs = Math.min(waitMs, maxNapMs);
    held.giveBack(message.key, napMs);
    if (isNear) return;
    sleepUntilMs = delivery.dueTimeMs - jitterMs;
    napEnd = performance.now() + napMs;
  };

  const puller = openQueuePuller({
    connection,
    stream: retryStream,
    consumer: retryConsumer(tier),
    wants() {
      if (clock.nowMs() < sleepUntilMs && performance.now() < napEnd) return 0;
      if (held.bytes > maxMovingBytes) return 0;
      return isNear ? maxMoving - held.count : Math.min(1, maxMoving - held.count);
    },
    onMessage: consider,
  });
  return {
    async stop() {
      await puller.stop();
      held.stop();
    },
  };
}
