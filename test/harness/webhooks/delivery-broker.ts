// A broker with webhooks in it for tests and benches of delivery: makes webhooks, puts deliveries into the lanes,
// starts one or several dispatchers, and overhears the records of attempts.

import { randomUUID } from 'node:crypto';
import { connectBroker, headers, type NatsConnection } from '../../../platform/broker/nats.ts';
import { ensureTopology } from '../../../platform/broker/topology.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createLog } from '../../../platform/log.ts';
import { createMetrics, type Metrics } from '../../../platform/metrics.ts';
import { networks } from '../../../platform/private-networks.ts';
import type { AttemptRecord } from '../../../platform/webhooks/attempt-record.ts';
import {
  type Delivery,
  deliveryIdOf,
  encodeDelivery,
} from '../../../platform/webhooks/delivery.ts';
import {
  createWebhookDirectory,
  type WebhookBucket,
  watchWebhooks,
} from '../../../platform/webhooks/webhook-directory.ts';
import type { WebhookRecord } from '../../../platform/webhooks/webhook-record.ts';
import {
  dueSubject,
  type RetryTier,
  retrySubject,
} from '../../../platform/webhooks/webhook-streams.ts';
import { type DeliveryOptions, startDelivery } from '../../../webhooks/delivery/start.ts';
import { type BrokerOptions, operatorUrl, startBroker } from '../servers/broker.ts';
import type { ChildServer } from '../servers/child-server.ts';

export const testSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const MiB = 1_048_576;

export interface Dispatcher {
  metrics: Metrics;
  ready(): boolean;
  stop(): Promise<void>;
}

export interface DeliveryBroker {
  broker: ChildServer;
  connection: NatsConnection;
  /** Records of attempts in the order in which they were published. */
  readonly attempts: readonly AttemptRecord[];
  /** Replaces the webhooks of an organization; each has its endpoint's URL and whatever else is given. */
  setWebhooks(
    organizationId: string,
    webhooks: readonly (Pick<WebhookRecord, 'id' | 'endpointUrl'> & Partial<WebhookRecord>)[],
  ): Promise<void>;
  webhook(organizationId: string, webhookId: string): WebhookRecord | undefined;
  publish(delivery: Delivery): Promise<void>;
  publishRetry(tier: RetryTier, delivery: Delivery): Promise<void>;
  start(options?: Partial<DeliveryOptions>): Promise<Dispatcher>;
  stop(): Promise<void>;
}

export const loopback = networks(['127.0.0.0/8']);

export async function startDeliveryBroker(options: BrokerOptions = {}): Promise<DeliveryBroker> {
  const broker = await startBroker(options);
  const log = createLog('silent');
  const connection = await connectBroker(broker.url, log);
  await ensureTopology(connection, { eventsMaxBytes: 4_096 * MiB, shards: 1 });
  const bucket = await watchWebhooks(connection, { log });
  const overhearing = await connectBroker(operatorUrl(broker), log);
  const attempts: AttemptRecord[] = [];
  overhearing.subscribe('whl.*', {
    callback: (_, message) => void attempts.push(message.json<AttemptRecord>()),
  });
  await overhearing.flush();
  const started: Dispatcher[] = [];
  const publish = (subject: string, delivery: Delivery, id: string): Promise<void> =>
    publishDelivery(connection, subject, delivery, id);
  return {
    broker,
    connection,
    attempts,
    setWebhooks: (organizationId, webhooks) => setWebhooks(bucket, organizationId, webhooks),
    webhook: (organizationId, webhookId) =>
      bucket.get(organizationId)?.record.webhooks.find(({ id }) => id === webhookId),
    publish: (delivery) => {
      const suffix = delivery.trigger === 'SCHEDULED' ? '' : `:${randomUUID()}`;
      const subject = dueSubject('first', delivery.webhookId);
      return publish(subject, delivery, `${delivery.deliveryId}${suffix}`);
    },
    publishRetry: (tier, delivery) =>
      publish(
        retrySubject(tier, delivery.webhookId),
        delivery,
        `${delivery.deliveryId}:${delivery.attempt}`,
      ),
    async start(changed = {}) {
      const metrics = createMetrics();
      // Each dispatcher is a process of its own in life.
      const own = await connectBroker(broker.url, log);
      const ownBucket = await watchWebhooks(own, { log });
      const service = await startDelivery({
        connection: own,
        bucket: ownBucket,
        directory: createWebhookDirectory(ownBucket),
        secretBox: { open: () => testSecret },
        allowed: loopback,
        logsAllowedBodies: true,
        notices: { exhausted() {}, pausing() {}, paused() {} },
        recentAttempts: async () => [],
        metrics,
        clock: systemClock,
        log,
        ...changed,
      });
      const end = () =>
        service
          .stop()
          .then(() => ownBucket.close())
          .then(() => own.close());
      const dispatcher = { metrics, ready: () => service.ready(), stop: once(end) };
      started.push(dispatcher);
      return dispatcher;
    },
    async stop() {
      await Promise.all(started.map((dispatcher) => dispatcher.stop()));
      await bucket.close();
      await overhearing.close();
      await connection.close();
      await broker.stop();
    },
  };
}

/** All calls have the promise of the first. */
function once(end: () => Promise<void>): () => Promise<void> {
  let ended: Promise<void> | undefined;
  return () => {
    ended ??= end();
    return ended;
  };
}

/** For a bucket of any broker. Secrets are sealed by whoever opens them. */
export async function setWebhooks(
  bucket: WebhookBucket,
  organizationId: string,
  webhooks: readonly (Pick<WebhookRecord, 'id' | 'endpointUrl'> & Partial<WebhookRecord>)[],
): Promise<void> {
  const createTime = new Date(Date.now() - 60_000).toISOString();
  const full = webhooks.map(
    (given): WebhookRecord => ({
      name: given.id,
      description: '',
      status: 'ACTIVE',
      subscriptions: [],
      sealedSecret: 'sealed',
      createTime,
      updateTime: createTime,
      activeTime: createTime,
      ...given,
    }),
  );
  const record = { schemaVersion: 1, sealedCurrentSecret: 'sealed', webhooks: full } as const;
  const held = await bucket.ask(organizationId);
  const { kind } =
    held.kind === 'absent'
      ? await bucket.create(organizationId, record)
      : await bucket.update(organizationId, record, held.revision);
  if (kind === 'conflict') throw new Error('somebody else has changed the webhooks');
}

/** Rejects where it is not known whether the stream has stored it. */
export async function publishDelivery(
  connection: NatsConnection,
  subject: string,
  delivery: Delivery,
  messageId: string,
): Promise<void> {
  const described = headers();
  described.set('Nats-Msg-Id', messageId);
  const reply = await connection.request(subject, encodeDelivery(delivery), {
    headers: described,
    timeout: 10_000,
  });
  if (Reflect.get(reply.json<object>(), 'error') !== undefined) throw new Error(reply.string());
}

let deliveries = 0;

export function newDelivery(
  organizationId: string,
  webhookId: string,
  changed: Partial<Delivery> = {},
): Delivery {
  const eventId = `event-${deliveries++}`;
  const deliveryId = deliveryIdOf('project', eventId, webhookId);
  const nowMs = Date.now();
  return {
    deliveryId,
    webhookId,
    organizationId,
    projectId: 'project',
    eventId,
    eventType: 'message_sent',
    acceptTimeMs: nowMs,
    trigger: 'SCHEDULED',
    attempt: 1,
    dueTimeMs: nowMs,
    payload: JSON.stringify({ deliveryId, webhookId, text: 'Zoë – 日本 😀' }),
    ...changed,
  };
}
