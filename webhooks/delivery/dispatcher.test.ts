// What the dispatcher does beside a single attempt, at a real broker: bounds, park and breaker, the webhook's state,
// and several dispatchers that share the work.

import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { buckets } from '../../platform/broker/buckets.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { createLog } from '../../platform/log.ts';
import { metricValue } from '../../platform/metrics.ts';
import type { AttemptRecord } from '../../platform/webhooks/attempt-record.ts';
import type { Delivery } from '../../platform/webhooks/delivery.ts';
import { dueStream, parkStream, retryStream } from '../../platform/webhooks/webhook-streams.ts';
import { eventually } from '../../test/harness/clients/client.ts';
import { asOperator } from '../../test/harness/servers/broker.ts';
import {
  type DeliveryBroker,
  type Dispatcher,
  newDelivery,
  startDeliveryBroker,
} from '../../test/harness/webhooks/delivery-broker.ts';
import { type Receiver, startReceiver } from '../../test/harness/webhooks/receiver.ts';

let deliveries: DeliveryBroker;
let receiver: Receiver;
/** Answers that wait until the test opens the gate. */
const gated: ServerResponse[] = [];
let isGateOpen = false;
let isDown = false;
beforeAll(async () => {
  deliveries = await startDeliveryBroker();
  receiver = await startReceiver({
    answer(request, response) {
      if (request.url?.startsWith('/gated') !== true) {
        if (request.url?.startsWith('/down') !== true) return false;
        response.writeHead(isDown ? 500 : 200).end();
        return true;
      }
      if (isGateOpen) response.end();
      else gated.push(response);
      return true;
    },
  });
});

const running: Dispatcher[] = [];
async function start(...options: Parameters<DeliveryBroker['start']>): Promise<Dispatcher> {
  const dispatcher = await deliveries.start(...options);
  running.push(dispatcher);
  return dispatcher;
}
function openGate(): void {
  isGateOpen = true;
  for (const response of gated.splice(0)) response.end();
}
afterEach(async () => {
  openGate();
  for (const dispatcher of running.splice(0)) await dispatcher.stop();
  isGateOpen = false;
});
afterAll(async () => {
  await deliveries.stop();
  await receiver.close();
});

async function publish(count: number, webhookId: string, changed = {}): Promise<Delivery[]> {
  const made = Array.from({ length: count }, () => newDelivery('org', webhookId, changed));
  await Promise.all(made.map((delivery) => deliveries.publish(delivery)));
  return made;
}

const recordsAt = (webhookId: string): AttemptRecord[] =>
  deliveries.attempts.filter((record) => record.webhookId === webhookId);

const untilRecords = (webhookId: string, count: number): Promise<AttemptRecord[]> =>
  eventually(
    async () => recordsAt(webhookId),
    (found) => found.length >= count,
  );

async function messagesIn(stream: string): Promise<number> {
  const manager = await deliveries.connection.jetstreamManager();
  return (await manager.streams.info(stream)).state.messages;
}

const untilEmpty = (stream: string): Promise<number> =>
  eventually(
    () => messagesIn(stream),
    (left) => left === 0,
  );

const postsTo = (path: string) => receiver.received.filter((post) => post.path === path);

describe('a webhook that gets more than its endpoint takes', () => {
  it('has eight attempts in flight, parks the rest, holds up nobody, and loses nothing', async () => {
    await deliveries.setWebhooks('org', [
      { id: 'slow', endpointUrl: receiver.url('/gated-slow') },
      { id: 'quick', endpointUrl: receiver.url('/quick') },
    ]);
    await start();
    const made = await publish(200, 'slow');
    const parked = await eventually(
      () => messagesIn(parkStream),
      (count) => count >= 200 - 8 - 32,
    );
    expect(parked).toBe(160);
    await publish(20, 'quick');
    await untilRecords('quick', 20);
    expect(recordsAt('slow')).toEqual([]);
    openGate();
    await untilRecords('slow', 200);
    expect(receiver.mostAtOnce('/gated-slow')).toBe(8);
    expect(postsTo('/gated-slow')).toHaveLength(200);
    const ids = new Set(recordsAt('slow').map(({ deliveryId }) => deliveryId));
    expect(ids).toEqual(new Set(made.map(({ deliveryId }) => deliveryId)));
    await untilEmpty(parkStream);
    await untilEmpty(dueStream);
  });
});

describe('several dispatchers', () => {
  it('send nothing twice, not even what the other one has in flight', async () => {
    await deliveries.setWebhooks('org', [
      { id: 'shared', endpointUrl: receiver.url('/gated-shared') },
    ]);
    await start();
    await start();
    await publish(300, 'shared');
    await eventually(
      async () => postsTo('/gated-shared').length,
      (count) => count === 16,
    );
    openGate();
    await untilRecords('shared', 300);
    await untilEmpty(parkStream);
    expect(postsTo('/gated-shared')).toHaveLength(300);
    expect(recordsAt('shared')).toHaveLength(300);
  });

  it('that stop hand over what waits, at once', async () => {
    await deliveries.setWebhooks('org', [
      { id: 'handed', endpointUrl: receiver.url('/gated-handed') },
    ]);
    const first = await start();
    await publish(30, 'handed');
    await eventually(
      async () => postsTo('/gated-handed').length,
      (count) => count === 8,
    );
    const stopping = first.stop();
    openGate();
    await stopping;
    expect(recordsAt('handed')).toHaveLength(8);
    await start();
    await untilRecords('handed', 30);
    expect(postsTo('/gated-handed')).toHaveLength(30);
  });
});

describe('the breaker', () => {
  it('keeps deliveries away from an endpoint that fails, and uses up no attempt', async () => {
    let nowMs = Date.now();
    isDown = true;
    await deliveries.setWebhooks('org', [{ id: 'down', endpointUrl: receiver.url('/down') }]);
    await start({ steady: { nowMs: () => nowMs } });
    for (let count = 1; count <= 10; count++) {
      await publish(1, 'down');
      await untilRecords('down', count);
    }
    await publish(20, 'down');
    await eventually(
      () => messagesIn(parkStream),
      (count) => count === 20,
    );
    expect(postsTo('/down')).toHaveLength(10);
    isDown = false;
    nowMs += 31_000;
    const records = await untilRecords('down', 30);
    expect(records.slice(10)).toHaveLength(20);
    for (const record of records.slice(10)) {
      expect(record).toMatchObject({ status: 'SUCCEEDED', attempt: 1 });
    }
    expect(postsTo('/down')).toHaveLength(30);
  });
});

describe('a webhook', () => {
  const fields = (id: string) => ({ id, endpointUrl: receiver.url('/state') });

  it.each([
    ['PAUSED', 'webhook_paused'],
    ['INACTIVE', 'webhook_inactive'],
  ] as const)('that is %s gets nothing that waits; the log says so', async (status, error) => {
    const id = `is-${status}`;
    await deliveries.setWebhooks('org', [{ ...fields(id), status }]);
    await start();
    await deliveries.publishRetry('2h', newDelivery('org', id, { attempt: 3 }));
    await publish(1, id);
    const records = await untilRecords(id, 2);
    for (const record of records) {
      expect(record).toMatchObject({ status: 'SKIPPED', error, attempt: 0, nextAttemptTimeMs: 0 });
    }
    // The first record of a delivery has its payload, for sending it later.
    expect(records.map(({ payload }) => payload !== '').sort()).toEqual([false, true]);
    await untilEmpty(dueStream);
  });

  it('that is PAUSED gets what somebody asks for', async () => {
    await deliveries.setWebhooks('org', [{ ...fields('asked'), status: 'PAUSED' }]);
    await start();
    await publish(1, 'asked', { trigger: 'MANUAL' });
    await publish(1, 'asked', { trigger: 'TEST' });
    expect(await untilRecords('asked', 2)).toMatchObject([
      { status: 'SUCCEEDED' },
      { status: 'SUCCEEDED' },
    ]);
  });

  it('that was inactive gets no retries from before; that was paused gets them', async () => {
    const inactiveTime = new Date().toISOString();
    await deliveries.setWebhooks('org', [{ ...fields('back'), inactiveTime }, fields('resumed')]);
    await start();
    const before = { attempt: 2, acceptTimeMs: Date.now() - 60_000 };
    await deliveries.publishRetry('2h', newDelivery('org', 'back', before));
    await deliveries.publishRetry('2h', newDelivery('org', 'resumed', before));
    expect(await untilRecords('back', 1)).toMatchObject([{ error: 'webhook_inactive' }]);
    expect(await untilRecords('resumed', 1)).toMatchObject([{ status: 'SUCCEEDED', attempt: 2 }]);
  });

  it('that is deleted gets nothing, and leaves nothing', async () => {
    await deliveries.setWebhooks('org', [fields('other')]);
    const { metrics } = await start();
    await deliveries.publishRetry('2h', newDelivery('org', 'deleted', { attempt: 2 }));
    await publish(3, 'deleted');
    const name = 'millrace_webhook_deliveries_total';
    await eventually(
      () => metricValue(metrics, name, { outcome: 'dropped' }),
      (dropped) => dropped === 4,
    );
    await untilEmpty(dueStream);
    expect(recordsAt('deleted')).toEqual([]);
  });

  it('whose secret cannot be opened keeps its deliveries, also where no retry can be queued', async () => {
    await deliveries.setWebhooks('org', [fields('sealed')]);
    const limitRetries = (max_bytes: number) =>
      asOperator(deliveries.broker, async ({ streams }) => {
        const { config } = await streams.info(retryStream);
        await streams.update(retryStream, { max_bytes });
        return config.max_bytes;
      });
    const usualBytes = await limitRetries(1);
    let opened = 0;
    const open = () => {
      opened++;
      return undefined;
    };
    await start({ secretBox: { open } });
    await publish(1, 'sealed');
    await eventually(
      async () => opened,
      (count) => count > 1,
    );
    const queued = await messagesIn(retryStream);
    await limitRetries(usualBytes);
    await untilEmpty(dueStream);
    expect(await messagesIn(retryStream)).toBe(queued + 1);
  });

  it('whose record is of a newer version has its deliveries wait, and not in the lane', async () => {
    let nowMs = Date.now();
    const log = createLog('silent');
    const complaints = vi.spyOn(log, 'error');
    await start({ steady: { nowMs: () => nowMs }, lookEveryMs: 100, log });
    const { kv } = await openBucket(deliveries.connection, buckets.webhooks, () => undefined);
    await kv.put('newer', JSON.stringify({ schemaVersion: 2 }));
    const before = await messagesIn(retryStream);
    const made = Array.from({ length: 50 }, () => newDelivery('newer', 'of-newer'));
    await Promise.all(made.map((delivery) => deliveries.publish(delivery)));
    await eventually(
      () => messagesIn(retryStream),
      (count) => count === before + 50,
    );
    await untilEmpty(dueStream);
    expect(complaints).toHaveBeenCalledTimes(1);
    await deliveries.setWebhooks('newer', [fields('of-newer')]);
    nowMs += 60_000;
    for (const record of await untilRecords('of-newer', 50)) {
      expect(record).toMatchObject({ status: 'SUCCEEDED', attempt: 1 });
    }
  });

  it('whose endpoint is gone is paused, its delivery ends, and that is told once', async () => {
    await deliveries.setWebhooks('org', [{ id: 'gone', endpointUrl: receiver.url('/410') }]);
    const paused: unknown[] = [];
    const exhausted: unknown[] = [];
    const notices = {
      pausing: (fact: unknown) => void paused.push(fact),
      paused() {},
      exhausted: (fact: unknown) => void exhausted.push(fact),
    };
    await start({ notices });
    await publish(1, 'gone');
    expect(await untilRecords('gone', 1)).toMatchObject([
      { status: 'EXHAUSTED', responseCode: 410, nextAttemptTimeMs: 0 },
    ]);
    const state = () => deliveries.webhook('org', 'gone');
    await eventually(
      async () => state()?.status,
      (status) => status === 'PAUSED',
    );
    expect(state()?.pauseReason).toBe('GONE');
    expect(paused).toMatchObject([{ organizationId: 'org', reason: 'GONE' }]);
    expect(exhausted).toHaveLength(1);
    await publish(1, 'gone');
    expect((await untilRecords('gone', 2))[1]).toMatchObject({ error: 'webhook_paused' });
  });

  it('is paused after a hundred failed deliveries in a row', async () => {
    const activeTime = new Date().toISOString();
    await deliveries.setWebhooks('org', [
      { id: 'failing', endpointUrl: receiver.url('/500'), activeTime },
    ]);
    // By hand, because the breaker would let through one at a time.
    let nowMs = Date.now();
    await start({ steady: { nowMs: () => (nowMs += 1_000_000) } });
    await publish(100, 'failing');
    await eventually(
      async () => deliveries.webhook('org', 'failing')?.pauseReason,
      (reason) => reason === 'FAILURES_IN_A_ROW',
    );
    expect(recordsAt('failing').filter(({ attempt }) => attempt > 0).length).toBeGreaterThan(99);
  });
});
