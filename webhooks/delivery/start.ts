// Puts the delivery together: consumers, the two lanes and the park, the tiers of retries, breakers and health.

import type { BlockList } from 'node:net';
import { buckets } from '../../platform/broker/buckets.ts';
import { followConnection, type NatsConnection } from '../../platform/broker/nats.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { watchBucket } from '../../platform/broker/watched-bucket.ts';
import { type Clock, steadyClock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { SecretBox } from '../../platform/secrets/secret-box.ts';
import type {
  OwnedWebhook,
  WebhookBucket,
  WebhookDirectory,
} from '../../platform/webhooks/webhook-directory.ts';
import type { PauseReason } from '../../platform/webhooks/webhook-record.ts';
import {
  dueConsumer,
  dueLanes,
  dueStream,
  dueSubject,
  queueConsumerConfig,
  retryConsumer,
  retryStream,
  retrySubject,
  retryTiers,
} from '../../platform/webhooks/webhook-streams.ts';
import type { LoggedAttempt } from '../attempts/recent-attempts.ts';
import { type AdmissionOptions, createAdmission } from './admission.ts';
import { Dispatcher } from './dispatcher.ts';
import { Breakers } from './health/breaker.ts';
import { forgetDeleted } from './health/forget-deleted.ts';
import { HealthKeeper } from './health/health-keeper.ts';
import { readWebhookHealth } from './health/health-record.ts';
import { pauseWebhook } from './health/pause.ts';
import { createDeliveryMetrics } from './metrics.ts';
import type { TurnLimits } from './queueing/fair-queue.ts';
import { createPublisher, type Publisher } from './queueing/publisher.ts';
import { ensureQueueConsumer } from './queueing/queue-consumer.ts';
import { type RetryClocks, retryClocks } from './retries/retry-wait.ts';
import { startTierWorker, tierAckWaitMs, tierMaxAckPending } from './retries/tier-worker.ts';
import type { AttemptOptions, Attempts } from './sending/attempt.ts';
import { SettledAttempts } from './settled-attempts.ts';
import { type DeliveryNotices, Settlement } from './settlement.ts';
import { openWaitingGauges } from './waiting-gauges.ts';

export interface DeliveryOptions {
  connection: NatsConnection;
  bucket: WebhookBucket;
  /** On `bucket`. */
  directory: WebhookDirectory;
  secretBox: Pick<SecretBox, 'open'>;
  /** As AdmissionOptions. */
  isDeleted?: AdmissionOptions['isDeleted'];
  /** Networks that endpoints may be in besides the public internet; plain http may be spoken there. */
  allowed: BlockList;
  /** Whether the answers of endpoints in `allowed` are kept. */
  logsAllowedBodies: boolean;
  notices: DeliveryNotices;
  /** The newest of the log, the oldest first. Never rejects. */
  recentAttempts(): Promise<readonly LoggedAttempt[]>;
  metrics: Metrics;
  clock: Clock;
  /** By which everything waits: the clock on the wall may be set (`steadyClock`). */
  steady?: Clock;
  log: Log;
  /** What tests exchange. */
  sending?: Pick<
    AttemptOptions,
    'internet' | 'extraCertificates' | 'connect' | 'connectTimeoutMs' | 'attemptTimeoutMs'
  >;
  limits?: TurnLimits;
  lookEveryMs?: number;
  draw?: () => number;
}

export interface DeliveryService {
  /** Whether the state of webhooks is known and deliveries are taken. */
  ready(): boolean;
  stop(): Promise<void>;
}

// Two processes' worth of held messages.
const laneMaxAckPending = 6_000;
/** A directory that was not confirmed for so long may hold a webhook that is paused or deleted. */
const unconfirmedLimitMs = 15_000;

/** Resolves when deliveries are taken. The streams and buckets must exist. */
export async function startDelivery(options: DeliveryOptions): Promise<DeliveryService> {
  const { connection, bucket, directory, notices, draw, clock, log } = options;
  const steady = options.steady ?? steadyClock;
  const clocks = retryClocks(clock, steady);
  await ensureConsumers(connection);
  const ending = new AbortController();
  const publisher = createPublisher({ connection, log, signal: ending.signal });
  const metrics = createDeliveryMetrics(options.metrics);
  const breakers = new Breakers(steady);
  const healthRecords = await openBucket(connection, buckets.webhookHealth, readWebhookHealth);
  const healthBucket = await watchBucket(connection, healthRecords, { log });
  const forgetting = forgetDeleted({
    bucket: healthBucket,
    remove: (webhookId, previousSeq) => healthRecords.kv.delete(webhookId, { previousSeq }),
    ...{ directory, log },
  });
  // Told first, because nobody who comes after a crash could see that a pause is untold.
  const pause = async ({ organizationId, webhook }: OwnedWebhook, reason: PauseReason) => {
    if (directory.get(webhook.id)?.webhook.status !== 'ACTIVE') return;
    await notices.pausing({ organizationId, webhook, reason });
    const paused = await pauseWebhook(bucket, { organizationId, webhook }, reason, clock);
    if (paused === undefined) return;
    metrics.paused.inc({ reason });
    log.warn({ webhookId: webhook.id, reason }, 'a webhook is paused');
    notices.paused({ organizationId });
  };
  const health = new HealthKeeper({ bucket: healthBucket, directory, pause, log });
  const attempts = attemptsWhenNeeded({ ...options, ...options.sending });
  const settled = await knowSettled(options);
  const told = { publisher, health, breakers, settled, notices, pause, metrics, clocks, log };
  const settlement = new Settlement({ ...told, ...(draw !== undefined && { draw }) });
  const admit = createAdmission({ directory, bucket, isDeleted: options.isDeleted });
  const { limits } = options;
  const sending = { connection, publisher, admit, attempts, settlement, settled, limits };
  const dispatcher = new Dispatcher({ ...sending, breakers, metrics, clock, log });
  dispatcher.start();
  const tiers = startTiers(options, publisher, clocks);
  const gauges = openWaitingGauges({ connection, breakers, metrics });
  let isStopped = false;
  return {
    ready: () => !isStopped && bucket.unconfirmedMs() < unconfirmedLimitMs,
    async stop() {
      isStopped = true;
      gauges.close();
      await Promise.all([...tiers, dispatcher].map((part) => part.stop()));
      ending.abort();
      await Promise.all([health.stop(), forgetting.close()]);
      await attempts.close();
      await healthBucket.close();
    },
  };
}

/** Resolves when it knows what the log knows; after each loss of the connection it asks again. */
async function knowSettled({
  connection,
  recentAttempts,
}: DeliveryOptions): Promise<SettledAttempts> {
  const settled = new SettledAttempts(recentAttempts);
  let isBack = (): void => {};
  followConnection(connection).onChange((isConnected) => {
    isBack();
    // From the loss on, because what the broker has forgotten comes before anything can be asked.
    if (!isConnected) void settled.load(new Promise((resolve) => (isBack = resolve)));
  });
  await settled.load();
  return settled;
}

function startTiers(
  { connection, log, lookEveryMs }: DeliveryOptions,
  publisher: Publisher,
  clocks: RetryClocks,
): { stop(): Promise<void> }[] {
  return retryTiers.map(({ name: tier }) =>
    startTierWorker({
      connection,
      publisher,
      tier,
      clocks,
      log,
      ...(lookEveryMs !== undefined && { lookEveryMs }),
    }),
  );
}

async function ensureConsumers(connection: NatsConnection): Promise<void> {
  for (const lane of dueLanes) {
    const config = queueConsumerConfig(dueConsumer(lane), dueSubject(lane, '*'), laneMaxAckPending);
    await ensureQueueConsumer(connection, dueStream, config);
  }
  for (const { name } of retryTiers) {
    const subject = retrySubject(name, '*');
    const config = queueConsumerConfig(
      ...([retryConsumer(name), subject, tierMaxAckPending, tierAckWaitMs] as const),
    );
    await ensureQueueConsumer(connection, retryStream, config);
  }
}

/** Loads undici, which takes the process eight megabytes, at the first attempt. */
function attemptsWhenNeeded(options: AttemptOptions): Attempts {
  let loaded: Promise<Attempts> | undefined;
  const load = async (): Promise<Attempts> => {
    const { createAttempts } = await import('./sending/attempt.ts');
    return createAttempts(options);
  };
  return {
    async make(delivery, owned) {
      loaded ??= load();
      return (await loaded).make(delivery, owned);
    },
    close: async () => (await loaded)?.close(),
  };
}
