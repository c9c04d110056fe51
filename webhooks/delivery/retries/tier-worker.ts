// Moves the retries of one tier to the lane of retries as they come due. In a tier the first message is due first, up
// to jitter: so the worker looks at the head alone while that is far from due, and the rest waits on the broker's disk.
// A message that is nearly due is held here, with a timer of its own. Where there is no room for more, one behind it
// waits for a message that was queued before it and is due later, by less than the tier's jitter: so every retry comes
// within its delay and the most jitter, if not at its own moment.

import type { NatsConnection } from '../../../platform/broker/nats.ts';
import type { Log } from '../../../platform/log.ts';
import { setBounded } from '../../../platform/memory/bounded-map.ts';
import { decodeDelivery } from '../../../platform/webhooks/delivery.ts';
import {
  dueSubject,
  type RetryTier,
  retryConsumer,
  retryStream,
} from '../../../platform/webhooks/webhook-streams.ts';
import { HeldMessages } from '../queueing/held-messages.ts';
import type { Publisher } from '../queueing/publisher.ts';
import { openQueuePuller, type QueuedMessage, type QueuePuller } from '../queueing/queue-puller.ts';
import { maxJitterMs } from './retry-plan.ts';
import { type RetryClocks, remainingWaitMs } from './retry-wait.ts';

export interface TierWorkerOptions {
  connection: NatsConnection;
  publisher: Publisher;
  tier: RetryTier;
  clocks: RetryClocks;
  log: Log;
  /** A test that sets the steady clock has it looked at this often, because no timer follows it. */
  lookEveryMs?: number;
}

/** Of the tier's consumer: what the broker keeps in memory for it, however many wait. */
export const tierMaxAckPending = 1_024;
/**
 * Less than the least jitter: nats-server 2.9 may forget a message that is given back while a pull expires, and one of
 * a process that was killed waits as long. A retry that moves twice is stored once.
 */
export const tierAckWaitMs = 3_000;
/** Retries that are nearly due or on their way to the lane. */
const maxHeld = 1_000;
const maxHeldBytes = 16 * 1_048_576;
const fullPauseMs = 1_000;
/** Between two looks for retries that a process left which has ended. */
const maxNapMs = 10_000;

/** Works until it is stopped; several processes share a tier. */
export function startTierWorker(options: TierWorkerOptions): { stop(): Promise<void> } {
  const worker = new TierWorker(options);
  return { stop: () => worker.stop() };
}

class TierWorker {
  readonly #options: TierWorkerOptions;
  readonly #held: HeldMessages;
  readonly #puller: QueuePuller;
  readonly #jitterMs: number;
  readonly #lookEveryMs: number;
  /** When a retry is due by the steady clock: the first look decides, whatever becomes of the wall clock. */
  readonly #dueMs = new Map<string, number>();
  /** Of `#dueMs` those that were far from due and are given back: the least of them ends the nap. */
  readonly #far = new Map<string, number>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #isNear = false;
  /** By the steady clock. */
  #napEndMs = 0;

  constructor(options: TierWorkerOptions) {
    const { connection, tier, lookEveryMs = maxNapMs } = options;
    this.#options = options;
    this.#jitterMs = maxJitterMs(tier);
    this.#lookEveryMs = lookEveryMs;
    this.#held = new HeldMessages(connection, tierAckWaitMs);
    this.#puller = openQueuePuller({
      connection,
      stream: retryStream,
      consumer: retryConsumer(tier),
      wants: () => this.#wants(),
      onMessage: (message) => this.#consider(message),
    });
  }

  async stop(): Promise<void> {
    await this.#puller.stop();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#held.stop();
  }

  #wants(): number {
    if (this.#isNapping()) return 0;
    if (this.#held.bytes > maxHeldBytes) return 0;
    // Whatever was given back, and one that this process has not seen: a process that ended may have left it.
    const wanted = this.#isNear ? maxHeld : this.#far.size + 1;
    return Math.min(wanted, maxHeld - this.#held.count);
  }

  #isNapping(): boolean {
    const nowMs = this.#options.clocks.steady.nowMs();
    for (const [key, dueMs] of this.#far) {
      // Another process has moved it.
      if (dueMs + maxNapMs < nowMs) this.#far.delete(key);
      else if (dueMs - this.#jitterMs <= nowMs) return false;
    }
    return nowMs < this.#napEndMs;
  }

  #consider(message: QueuedMessage): void {
    if (!this.#held.take(message)) return;
    const { tier, clocks, log } = this.#options;
    const { key, storedTimeMs } = message;
    const delivery = decodeDelivery(message.data);
    if (delivery === undefined) {
      log.error({ tier }, 'a retry of a webhook delivery cannot be read and is dropped');
      this.#held.ack(key);
      return;
    }
    const nowMs = clocks.steady.nowMs();
    const dueMs =
      this.#dueMs.get(key) ?? nowMs + remainingWaitMs(delivery, storedTimeMs, tier, clocks);
    setBounded(this.#dueMs, key, dueMs, tierMaxAckPending);
    this.#isNear = dueMs - nowMs <= this.#jitterMs;
    if (!this.#isNear) {
      const napMs = Math.min(dueMs - nowMs - this.#jitterMs, maxNapMs);
      this.#far.set(key, dueMs);
      this.#napEndMs = nowMs + napMs;
      this.#held.giveBack(key, Math.min(napMs, this.#lookEveryMs));
      return;
    }
    this.#far.delete(key);
    this.#napEndMs = 0;
    this.#moveWhenDue(key, dueMs, delivery.webhookId, Buffer.from(message.data));
  }

  #moveWhenDue(key: string, dueMs: number, webhookId: string, data: Buffer): void {
    const waitMs = dueMs - this.#options.clocks.steady.nowMs();
    if (waitMs > 0) {
      const again = (): void => this.#moveWhenDue(key, dueMs, webhookId, data);
      this.#timers.set(key, setTimeout(again, Math.min(Math.ceil(waitMs), this.#lookEveryMs)));
      return;
    }
    this.#timers.delete(key);
    this.#move(key, webhookId, data).catch(() => {
      // Only a worker that stops gives up; the message comes again.
    });
  }

  async #move(key: string, webhookId: string, data: Buffer): Promise<void> {
    const subject = dueSubject('retry', webhookId);
    const outcome = await this.#options.publisher.publish(subject, data, key);
    if (outcome === 'full') {
      this.#held.giveBack(key, fullPauseMs);
      return;
    }
    this.#held.ack(key);
    this.#dueMs.delete(key);
  }
}
