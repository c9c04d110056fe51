// What follows an attempt, or the decision not to make one, in the order that loses nothing: the next attempt is
// queued, then the record of this one, and only then the message is done (its caller acks). Whoever repeats this
// after a crash makes the same retry again, which the broker takes once.

import { randomUUID } from 'node:crypto';
import type { Log } from '../../platform/log.ts';
import {
  type AttemptRecord,
  type AttemptStatus,
  attemptRecordOf,
  skippedRecordOf,
} from '../../platform/webhooks/attempt-record.ts';
import {
  type Delivery,
  encodeDelivery,
  type SkipReason,
} from '../../platform/webhooks/delivery.ts';
import type { OwnedWebhook } from '../../platform/webhooks/webhook-directory.ts';
import type { PauseReason, WebhookRecord } from '../../platform/webhooks/webhook-record.ts';
import {
  attemptLogSubject,
  type DueLane,
  retrySubject,
  retryTiers,
} from '../../platform/webhooks/webhook-streams.ts';
import type { Breakers } from './health/breaker.ts';
import type { HealthKeeper } from './health/health-keeper.ts';
import type { DeliveryMetrics } from './metrics.ts';
import type { Publisher } from './queueing/publisher.ts';
import { type PlannedRetry, planRetry } from './retries/retry-plan.ts';
import { type RetryClocks, waiting } from './retries/retry-wait.ts';
import type { Attempt } from './sending/attempt.ts';
import type { SettledAttempts } from './settled-attempts.ts';

/** Tells people. Each may be called again for the same fact after a crash. */
export interface DeliveryNotices {
  /** A scheduled delivery has used up its attempts. */
  exhausted(fact: {
    organizationId: string;
    webhookId: string;
    delivery: Delivery;
    record: AttemptRecord;
  }): Promise<void> | void;
  /** The webhook is about to be paused: resolves once no crash loses that. The pause may not come about. */
  pausing(fact: {
    organizationId: string;
    webhook: WebhookRecord;
    reason: PauseReason;
  }): Promise<void> | void;
  /** The pause of which `pausing` told stands: people may be told. */
  paused(fact: { organizationId: string }): void;
}

interface SettlementOptions {
  publisher: Publisher;
  health: HealthKeeper;
  breakers: Breakers;
  settled: SettledAttempts;
  notices: DeliveryNotices;
  pause(owned: OwnedWebhook, reason: PauseReason): Promise<void>;
  metrics: DeliveryMetrics;
  clocks: RetryClocks;
  log: Log;
  /** In [0, 1), for jitter. */
  draw?: () => number;
}

const complainEveryMs = 60_000;

export class Settlement {
  readonly #options: SettlementOptions;
  /** When each message was logged last. */
  readonly #complainedMs = new Map<string, number>();

  constructor(options: SettlementOptions) {
    this.#options = options;
  }

  /** Resolves when everything is stored that must outlive a crash. */
  async attempted(
    delivery: Delivery,
    owned: OwnedWebhook,
    attempt: Attempt,
    lane: DueLane,
  ): Promise<void> {
    const { draw = Math.random } = this.#options;
    const mayRetry = attempt.kind === 'failed' && delivery.trigger === 'SCHEDULED';
    const retry = mayRetry
      ? planRetry({ ...attempt, attempt: delivery.attempt, draw: draw() })
      : undefined;
    const isQueued = retry !== undefined && (await this.#queue(delivery, retry));
    const record = attemptRecordOf(delivery, {
      attemptId: randomUUID(),
      ...resultOf(attempt),
      status: statusOf(attempt, isQueued),
      attempt: delivery.attempt,
      endpointUrl: owned.webhook.endpointUrl,
      attemptTimeMs: attempt.startTimeMs,
      nextAttemptTimeMs: isQueued ? retry.dueTimeMs : 0,
    });
    this.#count(delivery, attempt, record, lane);
    await this.#tell(delivery, owned, attempt, record);
    await this.#log(record);
  }

  /** Records a delivery that is not sent. */
  async skipped(delivery: Delivery, owned: OwnedWebhook, reason: SkipReason): Promise<void> {
    const { clocks, metrics } = this.#options;
    metrics.deliveries.inc({ outcome: 'skipped' });
    const record = skippedRecordOf(delivery, {
      attemptId: randomUUID(),
      endpointUrl: owned.webhook.endpointUrl,
      error: reason,
      timeMs: clocks.wall.nowMs(),
    });
    await this.#log(record);
  }

  /**
   * The same attempt again in a minute, for a fault of ours: it uses up nothing. `sourceKey`: the message's. Throws
   * where the stream of retries is full: the message itself comes again. `fault`: one of few, for the log.
   */
  async postpone(delivery: Delivery, sourceKey: string, fault: string): Promise<void> {
    const { clocks, publisher } = this.#options;
    this.#complain(fault, { webhookId: delivery.webhookId });
    const [{ name, delayMs }] = retryTiers;
    const later = waiting(delivery, clocks.wall.nowMs() + delayMs, delayMs, clocks);
    const subject = retrySubject(name, delivery.webhookId);
    const outcome = await publisher.publish(subject, encodeDelivery(later), sourceKey);
    if (outcome === 'full') throw new Error('the stream of retries of webhooks is full');
  }

  /** A fault here must not repeat the attempt: it is told, and the next failure brings the fact up again. */
  async #tell(
    delivery: Delivery,
    owned: OwnedWebhook,
    { kind }: Attempt,
    record: AttemptRecord,
  ): Promise<void> {
    const { pause, notices, log } = this.#options;
    const { organizationId, webhookId } = delivery;
    try {
      if (kind === 'gone') await pause(owned, 'GONE');
      if (record.status !== 'EXHAUSTED' || delivery.trigger !== 'SCHEDULED') return;
      await notices.exhausted({ organizationId, webhookId, delivery, record });
    } catch (error) {
      log.error({ err: error, webhookId }, 'nobody is told of an exhausted delivery');
    }
  }

  /** False where the stream of retries is full: the delivery ends with this attempt, and can be sent again by hand. */
  async #queue(delivery: Delivery, retry: PlannedRetry): Promise<boolean> {
    const { publisher, clocks } = this.#options;
    const attempt = delivery.attempt + 1;
    const next = waiting({ ...delivery, attempt }, retry.dueTimeMs, retry.waitMs, clocks);
    const subject = retrySubject(retry.tier, delivery.webhookId);
    const id = `${delivery.deliveryId}:${attempt}`;
    const isQueued = (await publisher.publish(subject, encodeDelivery(next), id)) === 'stored';
    if (!isQueued) this.#complain('the stream of retries of webhooks is full');
    return isQueued;
  }

  async #log(record: AttemptRecord): Promise<void> {
    const { publisher, settled, metrics } = this.#options;
    const subject = attemptLogSubject(record.webhookId);
    const bytes = Buffer.from(JSON.stringify(record));
    const outcome = await publisher.publish(subject, bytes, record.attemptId);
    settled.add(record);
    if (outcome === 'stored') return;
    metrics.unlogged.inc();
    this.#complain('the stream of the log of webhooks is full: records are lost');
  }

  #count(delivery: Delivery, attempt: Attempt, record: AttemptRecord, lane: DueLane): void {
    const { metrics, health, breakers, log } = this.#options;
    const { webhookId, deliveryId, trigger } = delivery;
    const { error, durationMs, status, responseCode } = record;
    metrics.attempts.inc({ outcome: error || 'succeeded', lane });
    metrics.attemptSeconds.observe(durationMs / 1_000);
    if (delivery.attempt === 1 && trigger === 'SCHEDULED') {
      const lagMs = attempt.startTimeMs - delivery.acceptTimeMs;
      metrics.lagSeconds.observe(Math.max(0, lagMs) / 1_000);
    }
    if (attempt.kind === 'succeeded') {
      metrics.deliveries.inc({ outcome: 'succeeded' });
      health.succeeded(webhookId, attempt.endTimeMs);
      breakers.record(webhookId, 'succeeded');
    } else {
      breakers.record(webhookId, error === 'timeout' ? 'timed_out' : 'failed');
      if (trigger === 'SCHEDULED') health.failed(delivery);
      if (status === 'EXHAUSTED') {
        metrics.deliveries.inc({ outcome: 'exhausted' });
        if (trigger === 'SCHEDULED') health.exhausted(delivery, attempt.endTimeMs);
      }
    }
    const line = { webhookId, deliveryId, attempt: delivery.attempt, trigger, status };
    log.info({ ...line, responseCode, error, durationMs }, 'webhook attempt');
  }

  /** Logs each message once a minute at most. */
  #complain(message: string, fields: object = {}): void {
    const nowMs = performance.now();
    const lastMs = this.#complainedMs.get(message) ?? Number.NEGATIVE_INFINITY;
    if (nowMs - lastMs < complainEveryMs) return;
    this.#complainedMs.set(message, nowMs);
    this.#options.log.error(fields, message);
  }
}

function resultOf({ responseCode, error, responseBody, durationMs }: Attempt) {
  return { responseCode, error, responseBody, durationMs };
}

function statusOf({ kind }: Attempt, isQueued: boolean): AttemptStatus {
  if (kind === 'succeeded') return 'SUCCEEDED';
  return isQueued ? 'FAILED_WILL_RETRY' : 'EXHAUSTED';
}
