// From the stream of events to the queue of deliveries, with the whole pipeline on a real broker and engine: through
// crashes, repetitions, changed subscriptions and full queues.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { buckets } from '../../platform/broker/buckets.ts';
import {
  connectBroker,
  type JetStreamManager,
  type NatsConnection,
} from '../../platform/broker/nats.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { eventsStream, eventsSubject, writerConsumer } from '../../platform/broker/streams.ts';
import { ensureTopology } from '../../platform/broker/topology.ts';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { oneGroup } from '../../platform/clickhouse/groups.ts';
import { systemClock } from '../../platform/clock.ts';
import { createLog } from '../../platform/log.ts';
import { createMetrics, type Metrics, metricValue } from '../../platform/metrics.ts';
import type { AttemptRecord } from '../../platform/webhooks/attempt-record.ts';
import { type Delivery, decodeDelivery, deliveryIdOf } from '../../platform/webhooks/delivery.ts';
import {
  createWebhookDirectory,
  type WebhookBucket,
  type WebhookDirectory,
  watchWebhooks,
} from '../../platform/webhooks/webhook-directory.ts';
import {
  readOrganizationWebhooks,
  type WebhookRecord,
} from '../../platform/webhooks/webhook-record.ts';
import { attemptLogStream, dueStream } from '../../platform/webhooks/webhook-streams.ts';
import { encodeContext } from '../../proto/wire/frame.ts';
import { encodeFrame } from '../../proto/wire/frame-writer.ts';
import { compiledWorker } from '../../test/harness/compiled-entries.ts';
import { webhookRecord } from '../../test/harness/models/webhook-records.ts';
import { asOperator } from '../../test/harness/servers/broker.ts';
import { useBroker, useEngine } from '../../test/harness/servers/use-servers.ts';
import { startPipeline } from '../start.ts';

const log = createLog('silent');
const broker = useBroker();
const engine = useEngine();
const project = 'p';
const organization = 'acme';
let nats: NatsConnection;
let manager: JetStreamManager;
let clickhouse: DatabaseClient;
let watched: WebhookBucket;
let directory: WebhookDirectory;

beforeAll(async () => {
  nats = await connectBroker(broker.url, log);
  manager = await nats.jetstreamManager();
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 4 });
  await ensureTopology(nats, { eventsMaxBytes: 256 * 1_048_576, shards: 1 });
  // Messages that a dead writer had taken are delivered again after this time.
  const { config } = await manager.consumers.info(eventsStream(0), writerConsumer);
  await manager.consumers.update(eventsStream(0), writerConsumer, { ...config, ack_wait: 5e8 });
  watched = await watchWebhooks(nats, { log });
  directory = createWebhookDirectory(watched);
});

beforeEach(async () => {
  await asOperator(broker, async ({ streams }) => {
    await streams.purge(dueStream);
    await streams.purge(attemptLogStream);
  });
  await change(webhookRecord({ id: 'w1' }), webhookRecord({ id: 'w2' }));
});

afterAll(async () => {
  await watched.close();
  await nats.close();
  await clickhouse.close();
});

/** Another process changes the organization's webhooks; resolves once this one knows. */
async function change(...webhooks: WebhookRecord[]): Promise<void> {
  const bucket = await openBucket(nats, buckets.webhooks, readOrganizationWebhooks);
  const record = { schemaVersion: 1, sealedCurrentSecret: '', webhooks } as const;
  const before = await bucket.get(organization);
  const written =
    before.kind === 'found'
      ? await bucket.update(organization, record, before.revision)
      : await bucket.create(organization, record);
  expect(written.kind).toBe('written');
  await expect.poll(() => directory.webhooksOf(organization)).toEqual(webhooks);
}

interface Writer {
  metrics: Metrics;
  stop(): Promise<void>;
}

function start(connection = nats): Writer {
  const metrics = createMetrics();
  const pipeline = startPipeline({
    ...{
      nats: connection,
      clickhouse: oneGroup(clickhouse),
      shards: 1,
      log,
      clock: systemClock,
      metrics,
    },
    ...{ threads: 1, seenMaxBytes: 0, stopGraceMs: 0, workerFile: compiledWorker() },
    webhooks: {
      webhooks: directory,
      organizationOf: (id) => (id === project ? organization : undefined),
      privateOnly: false,
    },
  });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= pipeline.stop();
    return stopped;
  };
  onTestFinished(stop);
  return { metrics, stop };
}

interface SentEvent {
  eventId: string;
  [field: string]: unknown;
}

function message(roomId = 'r1'): SentEvent {
  return {
    eventId: randomUUID(),
    sessionId: randomUUID(),
    distinctId: 'ann',
    kind: 'message_sent',
    occurTime: new Date().toISOString(),
    customProperties: { room_id: { stringValue: roomId }, message_id: { stringValue: 'm' } },
  };
}

async function send(events: readonly object[]): Promise<void> {
  const context = { projectId: project, credential: 'private', receiveTimeMs: Date.now() } as const;
  const body = Buffer.from(JSON.stringify({ events }));
  const frame = encodeFrame([{ context: encodeContext(context), body, events: events.length }]);
  await nats.jetstream().publish(eventsSubject(0), frame);
}

const messagesIn = async (stream: string): Promise<number> =>
  (await manager.streams.info(stream)).state.messages;

async function untilWritten(): Promise<void> {
  await expect.poll(() => messagesIn(eventsStream(0))).toBe(0);
}

async function contents(stream: string): Promise<Uint8Array[]> {
  const { state } = await manager.streams.info(stream);
  const found: Uint8Array[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
    found.push((await manager.streams.getMessage(stream, { seq })).data);
  }
  return found;
}

async function due(): Promise<Delivery[]> {
  return (await contents(dueStream)).flatMap((bytes) => decodeDelivery(bytes) ?? []);
}

async function logged(): Promise<AttemptRecord[]> {
  return (await contents(attemptLogStream)).map((bytes) =>
    JSON.parse(Buffer.from(bytes).toString()),
  );
}

function idsOf(events: readonly { eventId: string }[], webhooks = ['w1', 'w2']): string[] {
  return events
    .flatMap(({ eventId }) => webhooks.map((id) => deliveryIdOf(project, eventId, id)))
    .toSorted();
}

const deliveryIds = (deliveries: readonly Delivery[]): string[] =>
  deliveries.map(({ deliveryId }) => deliveryId).toSorted();

describe('an event that webhooks are for', () => {
  it('is one delivery for each webhook, however often it is sent', async () => {
    start();
    const [first, second, other] = [message(), message(), message('elsewhere')];
    await send([first, first, second, other]);
    await send([first]);
    await untilWritten();
    await send([second, first]);
    await untilWritten();
    const deliveries = await due();
    expect(deliveryIds(deliveries)).toEqual(idsOf([first, second]));
    const [one] = deliveries.filter(({ webhookId }) => webhookId === 'w1');
    const payload: unknown = JSON.parse(one?.payload ?? '');
    expect(payload).toMatchObject({
      deliveryId: one?.deliveryId,
      webhookId: 'w1',
      organizationId: organization,
      projectId: project,
      eventType: 'message_sent',
      source: 'PRIVATE',
      data: { eventId: one?.eventId, distinctId: 'ann', roomId: 'r1', messageId: 'm' },
    });
    expect(one).toMatchObject({ trigger: 'SCHEDULED', attempt: 1 });
    expect(one?.skip).toBeUndefined();
  });

  it('follows every change of the webhooks', async () => {
    start();
    const [before, paused, inactive, moved] = [message(), message(), message(), message('r2')];
    await send([before]);
    await untilWritten();
    await change(webhookRecord({ id: 'w1', status: 'PAUSED' }));
    await send([paused]);
    await untilWritten();
    await change(webhookRecord({ id: 'w1', status: 'INACTIVE' }));
    await send([inactive]);
    await untilWritten();
    const subscription = {
      subjectType: 'ROOM',
      subjectId: 'r2',
      eventType: 'message_sent',
    } as const;
    await change(webhookRecord({ id: 'w1', subscriptions: [subscription] }));
    await send([moved, message()]);
    await untilWritten();
    await change();
    await send([message('r2')]);
    await untilWritten();
    expect(deliveryIds(await due())).toEqual(
      [...idsOf([before]), ...idsOf([paused, moved], ['w1'])].toSorted(),
    );
  });
});

/** A connection that fails for ever from the first call on for which `dies` is true, like a process that is killed. */
async function mortalConnection(dies: (subject: string) => boolean): Promise<{
  connection: NatsConnection;
  died: Promise<void>;
}> {
  const connection = await connectBroker(broker.url, log);
  onTestFinished(() => connection.close());
  const request = connection.request.bind(connection);
  let tellDied = () => {};
  const died = new Promise<void>((resolve) => {
    tellDied = resolve;
  });
  let isDead = false;
  connection.request = async (subject, ...rest) => {
    isDead ||= dies(subject);
    if (!isDead) return request(subject, ...rest);
    tellDied();
    throw new Error('killed');
  };
  return { connection, died };
}

describe('a writer that dies', () => {
  const deaths = {
    'between two deliveries': (_: string, delivered: number) => delivered === 20,
    'between the last delivery and the mark': (subject: string, delivered: number) =>
      delivered > 0 && subject.startsWith('$KV.ledger'),
  };
  /** Sends 30 events to a writer that dies. The dispatcher is done with what it delivered: the queue is empty. */
  async function die(dies: (subject: string, delivered: number) => boolean) {
    let delivered = 0;
    const { connection, died } = await mortalConnection((subject) => {
      if (subject.startsWith('whd.')) delivered++;
      return dies(subject, delivered);
    });
    const events = Array.from({ length: 30 }, () => message());
    await send(events);
    const first = start(connection);
    await died;
    await first.stop();
    const before = await due();
    await asOperator(broker, ({ streams }) => streams.purge(dueStream));
    return { events, before };
  }

  for (const [at, dies] of Object.entries(deaths)) {
    it(`${at} makes no delivery twice and loses none`, async () => {
      const { events, before } = await die(dies);
      start();
      await untilWritten();
      const after = await due();
      expect(deliveryIds([...before, ...after])).toEqual(idsOf(events));
      const rows = await clickhouse.query({
        query:
          'SELECT count(), uniqExact(event_id) FROM events WHERE event_id IN {ids:Array(UUID)}',
        query_params: { ids: events.map(({ eventId }) => eventId) },
        format: 'JSONCompactEachRow',
      });
      expect(await rows.json()).toEqual([['30', '30']]);
    });
  }

  // The dispatcher sends none of them twice: webhooks/delivery/settled-attempts.test.ts.
  it('with its broker, which forgets ids, makes the very same deliveries again', async () => {
    const { events, before } = await die(deaths['between the last delivery and the mark']);
    expect(deliveryIds(before)).toEqual(idsOf(events));
    await broker.kill9();
    await broker.restart();
    await expect.poll(() => messagesIn(dueStream).catch(() => -1)).toBe(0);
    start();
    await untilWritten();
    const byId = (deliveries: readonly Delivery[]) =>
      deliveries.toSorted((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1));
    expect(byId(await due())).toEqual(byId(before));
  });
});

describe('a queue that is full', () => {
  const setLimit = (stream: string, maxBytes: number) =>
    asOperator(broker, async ({ streams }) => {
      const { config } = await streams.info(stream);
      await streams.update(stream, { ...config, max_bytes: maxBytes });
      return config.max_bytes;
    });

  it('holds no event up: deliveries are recorded, and where that is full too, counted', async () => {
    const dueBytes = await setLimit(dueStream, 1);
    const { metrics } = start();
    const count = (outcome: string) =>
      metricValue(metrics, 'millrace_pipeline_webhook_matches_total', { outcome });
    const recorded = message();
    await send([recorded]);
    await untilWritten();
    const records = await logged();
    expect(records.map(({ deliveryId }) => deliveryId).toSorted()).toEqual(idsOf([recorded]));
    expect(records[0]).toMatchObject({
      status: 'SKIPPED',
      error: 'queue_full',
      attempt: 0,
      eventId: recorded.eventId,
      endpointUrl: 'https://example.com/hook',
    });
    expect(JSON.parse(records[0]?.payload ?? '')).toMatchObject({ data: { roomId: 'r1' } });
    const logBytes = await setLimit(attemptLogStream, 1);
    await send([message()]);
    await untilWritten();
    expect(await count('queue_full')).toBe(2);
    expect(await count('lost')).toBe(2);
    await setLimit(dueStream, dueBytes);
    await setLimit(attemptLogStream, logBytes);
    const queued = message();
    await send([queued]);
    await untilWritten();
    expect(deliveryIds(await due())).toEqual(idsOf([queued]));
  });
});
