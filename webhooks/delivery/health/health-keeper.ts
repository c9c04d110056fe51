// Gathers what attempts say about their webhooks and writes it down: at most once a second for each webhook, by
// compare-and-set, and of successes only those that change something. Tells where a webhook is to be paused.

import type { WatchedBucket } from '../../../platform/broker/watched-bucket.ts';
import type { Log } from '../../../platform/log.ts';
import type { Delivery } from '../../../platform/webhooks/delivery.ts';
import type {
  OwnedWebhook,
  WebhookDirectory,
} from '../../../platform/webhooks/webhook-directory.ts';
import type { PauseReason } from '../../../platform/webhooks/webhook-record.ts';
import {
  failuresForPause,
  type HealthChange,
  healthAfter,
  keptId,
  pauseReasonOf,
  type WebhookHealthRecord,
} from './health-record.ts';

export type HealthBucket = Pick<WatchedBucket<WebhookHealthRecord>, 'get' | 'create' | 'update'>;

interface HealthKeeperOptions {
  bucket: HealthBucket;
  directory: Pick<WebhookDirectory, 'get'>;
  pause(owned: OwnedWebhook, reason: PauseReason): Promise<void>;
  log: Log;
  /** Between two writes (1 s); a test writes by itself. */
  everyMs?: number;
}

/** A success is written at least this often: five days without one are counted from it. */
const successEveryMs = 3_600_000;
const writesAtOnce = 16;

export class HealthKeeper {
  readonly #options: HealthKeeperOptions;
  #changes = new Map<string, HealthChange>();
  readonly #timer: NodeJS.Timeout;
  #writing: Promise<void> | undefined;

  constructor(options: HealthKeeperOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.write(), options.everyMs ?? 1_000);
    this.#timer.unref();
  }

  succeeded(webhookId: string, nowMs: number): void {
    const pending = this.#changes.get(webhookId);
    if (pending === undefined && !this.#isNews(webhookId, nowMs)) return;
    this.#changes.set(webhookId, { succeededMs: nowMs, failedDeliveries: new Set() });
  }

  failed({ webhookId, deliveryId }: Delivery): void {
    const { failedDeliveries } = this.#changeOf(webhookId);
    if (failedDeliveries.size < failuresForPause) failedDeliveries.add(keptId(deliveryId));
  }

  exhausted({ webhookId }: Delivery, nowMs: number): void {
    this.#changeOf(webhookId).exhaustedMs = nowMs;
  }

  /** Writes what was gathered. Never rejects: what could not be written is written the next time. */
  write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    await this.write();
  }

  #changeOf(webhookId: string): HealthChange {
    const change = this.#changes.get(webhookId) ?? { failedDeliveries: new Set() };
    this.#changes.set(webhookId, change);
    return change;
  }

  #isNews(webhookId: string, nowMs: number): boolean {
    const record = this.#options.bucket.get(webhookId)?.record;
    if (record === undefined) return true;
    const { lastSuccessTime, failedDeliveries, firstExhaustedTime, activeTime } = record;
    const hasFailed = failedDeliveries !== undefined || firstExhaustedTime !== undefined;
    const isResumed = activeTime !== this.#options.directory.get(webhookId)?.webhook.activeTime;
    const isOld = nowMs - Date.parse(lastSuccessTime ?? activeTime) > successEveryMs;
    return hasFailed || isResumed || isOld || lastSuccessTime === undefined;
  }

  async #writeAll(): Promise<void> {
    const changes = [...this.#changes];
    this.#changes = new Map();
    for (let first = 0; first < changes.length; first += writesAtOnce) {
      const some = changes.slice(first, first + writesAtOnce);
      await Promise.all(some.map(([webhookId, change]) => this.#writeOne(webhookId, change)));
    }
  }

  async #writeOne(webhookId: string, change: HealthChange): Promise<void> {
    const { bucket, directory, pause, log } = this.#options;
    const owned = directory.get(webhookId);
    if (owned === undefined) return;
    try {
      const held = bucket.get(webhookId);
      const after = healthAfter(held?.record, change, owned.webhook);
      const { kind } =
        held === undefined
          ? await bucket.create(webhookId, after)
          : await bucket.update(webhookId, after, held.revision);
      if (kind === 'conflict') return this.#putBack(webhookId, change);
      const reason = pauseReasonOf(after, change.exhaustedMs);
      if (reason !== undefined) await pause(owned, reason);
    } catch (error) {
      log.warn({ err: error, webhookId }, 'the health of a webhook is not written yet');
      this.#putBack(webhookId, change);
    }
  }

  /** What came meanwhile is newer. */
  #putBack(webhookId: string, former: HealthChange): void {
    const later = this.#changes.get(webhookId);
    if (later?.succeededMs !== undefined) return;
    const failed = [...former.failedDeliveries, ...(later?.failedDeliveries ?? [])];
    this.#changes.set(webhookId, {
      ...former,
      ...later,
      failedDeliveries: new Set(failed.slice(-failuresForPause)),
    });
  }
}
