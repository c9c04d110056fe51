// SIGKILL of the service, and of the broker, while webhooks are being delivered: no delivery is lost, no more are
// repeated than were in flight, and a repeated one keeps its id.

import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectBroker, type NatsConnection } from '../platform/broker/nats.ts';
import { createLog } from '../platform/log.ts';
import { openSecretBox } from '../platform/secrets/secret-box.ts';
import { watchWebhooks } from '../platform/webhooks/webhook-directory.ts';
import { webhookSecretPurpose } from '../platform/webhooks/webhook-record.ts';
import { dueSubject } from '../platform/webhooks/webhook-streams.ts';
import { eventually, rows } from './harness/clients/client.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';
import {
  newDelivery,
  publishDelivery,
  setWebhooks,
  testSecret,
} from './harness/webhooks/delivery-broker.ts';
import { type Receiver, startReceiver } from './harness/webhooks/receiver.ts';

const organizationId = 'crashing';
const webhooks = Array.from({ length: 10 }, (_, index) => `hook-${index}`);
const deliveriesOfRound = 600;
/** So slow that deliveries wait in memory and are parked when the kill comes. */
let answerMs = 250;
/** Eight attempts of each webhook. */
const mostInFlight = 8 * webhooks.length;

let stack: Stack;
let receiver: Receiver;
const log = createLog('silent');
beforeAll(async () => {
  receiver = await startReceiver({
    answer(_, response) {
      setTimeout(() => response.end(), answerMs);
      return true;
    },
  });
  stack = await startStack({ env: { MILLRACE_WEBHOOK_ALLOW: '127.0.0.0/8' } });
  await withBroker(makeWebhooks);
});
afterAll(async () => {
  await stack.stop();
  await receiver.close();
});

async function withBroker<T>(work: (connection: NatsConnection) => Promise<T>): Promise<T> {
  const connection = await connectBroker(stack.natsUrl, log);
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

async function makeWebhooks(connection: NatsConnection): Promise<void> {
  const purpose = webhookSecretPurpose(organizationId);
  const sealedSecret = openSecretBox(stack.dataDir).seal(testSecret, purpose);
  const bucket = await watchWebhooks(connection, { log });
  const endpointUrl = receiver.url('/hook');
  await setWebhooks(
    bucket,
    organizationId,
    webhooks.map((id) => ({ id, endpointUrl, sealedSecret })),
  );
  await bucket.close();
}

/** The ids of the round's deliveries; each is published until the broker has said that it has it. */
async function publishRound(): Promise<string[]> {
  return withBroker(async (connection) => {
    const ids: string[] = [];
    for (let count = 0; count < deliveriesOfRound; count++) {
      const webhookId = webhooks[count % webhooks.length] ?? '';
      const delivery = newDelivery(organizationId, webhookId);
      ids.push(delivery.deliveryId);
      await publishSurely(connection, delivery);
    }
    return ids;
  });
}

async function publishSurely(
  connection: NatsConnection,
  delivery: ReturnType<typeof newDelivery>,
): Promise<void> {
  const subject = dueSubject('first', delivery.webhookId);
  for (;;) {
    try {
      await publishDelivery(connection, subject, delivery, delivery.deliveryId);
      return;
    } catch {
      await delay(100);
    }
  }
}

const idOf = (post: Receiver['received'][number]): string =>
  String(post.headers['x-service-delivery']);

/** What arrived of these, and how often beyond once. */
async function arrived(ids: readonly string[]): Promise<{ repeated: number }> {
  const wanted = new Set(ids);
  const posts = () => receiver.received.filter((post) => wanted.has(idOf(post)));
  await eventually(
    async () => new Set(posts().map(idOf)).size,
    (different) => different === wanted.size,
    300_000,
  );
  for (const post of posts()) {
    expect(JSON.parse(post.body)).toMatchObject({ deliveryId: idOf(post) });
  }
  return { repeated: posts().length - wanted.size };
}

/** Resolves when an attempt of the delivery is in the log. */
async function recorded(deliveryId: string): Promise<void> {
  const query = `SELECT 1 FROM webhook_attempts WHERE delivery_id = '${deliveryId}'`;
  await eventually(
    () => rows(stack.clickhouseUrl, query),
    (found) => found.length > 0,
  );
}

it('loses nothing when the broker is killed, and repeats what was in flight at most', async () => {
  const publishing = publishRound();
  await delay(400);
  stack.kill9('broker');
  const { repeated } = await arrived(await publishing);
  expect(repeated).toBeLessThanOrEqual(mostInFlight);
});

it('loses nothing when the service is killed, and repeats what was in flight at most', async () => {
  // Slower than a busy machine publishes: most still wait when the kill comes.
  answerMs = 2_000;
  const ids = await publishRound();
  const wanted = new Set(ids);
  expect(receiver.received.filter((post) => wanted.has(idOf(post))).length).toBeLessThan(
    ids.length,
  );
  stack.kill9('service');
  answerMs = 250;
  stack = await stack.restart();
  const { repeated } = await arrived(ids);
  expect(repeated).toBeLessThanOrEqual(mostInFlight);
});

it('does not send again what the log of attempts had before a restart', async () => {
  const [webhookId = ''] = webhooks;
  const subject = dueSubject('first', webhookId);
  const done = newDelivery(organizationId, webhookId);
  await withBroker((connection) => publishSurely(connection, done));
  await recorded(done.deliveryId);
  stack.kill9('service');
  stack = await stack.restart();
  const next = newDelivery(organizationId, webhookId);
  await withBroker(async (connection) => {
    await publishDelivery(connection, subject, done, `${done.deliveryId} again`);
    await publishSurely(connection, next);
  });
  // The copy stands before `next` in the webhook's queue: it would have arrived by the time that `next` is answered.
  await recorded(next.deliveryId);
  expect(receiver.received.map(idOf).filter((id) => id === done.deliveryId)).toHaveLength(1);
});
