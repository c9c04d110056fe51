// The retries of deliveries at a real broker with clocks that this test sets: no retry comes before its time, each
// comes when its time has come, however many wait beside it and whatever becomes of the clock on the wall.

import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type RetryTier,
  retryStream,
  retryTiers,
} from '../../../platform/webhooks/webhook-streams.ts';
import { eventually } from '../../../test/harness/clients/client.ts';
import {
  type DeliveryBroker,
  newDelivery,
  startDeliveryBroker,
} from '../../../test/harness/webhooks/delivery-broker.ts';
import { type Receiver, startReceiver } from '../../../test/harness/webhooks/receiver.ts';
import { maxJitterMs } from './retry-plan.ts';
import { longestWaitMs } from './retry-wait.ts';

/** Goes on; the wall clock goes with it, and is set besides. */
let steadyMs = 0;
let wallOffsetMs = Date.now();
const wallMs = (): number => steadyMs + wallOffsetMs;
let draws = 0;
let deliveries: DeliveryBroker;
let receiver: Receiver;
beforeAll(async () => {
  deliveries = await startDeliveryBroker();
  receiver = await startReceiver();
  await deliveries.setWebhooks('org', [
    { id: 'failing', endpointUrl: receiver.url('/500') },
    { id: 'well', endpointUrl: receiver.url('/204') },
  ]);
  await deliveries.start({
    clock: { nowMs: wallMs },
    steady: { nowMs: () => steadyMs },
    // Nothing, nearly everything, and a half.
    draw: () => [0, 0.999, 0.5][draws++ % 3] ?? 0,
    lookEveryMs: 20,
  });
});
afterAll(async () => {
  await deliveries.stop();
  await receiver.close();
});

const attemptsAt = (webhookId: string) =>
  deliveries.attempts.filter((record) => record.webhookId === webhookId);

/** Resolves when the tiers have been looked at again with the clock as it is. */
async function lookedAgain(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 100));
}

it('tries a failing delivery six times, each after its delay and at most its jitter', async () => {
  await deliveries.publish(newDelivery('org', 'failing', { acceptTimeMs: wallMs() }));
  for (const [index, { name, delayMs }] of retryTiers.entries()) {
    const made = await eventually(
      async () => attemptsAt('failing'),
      (found) => found.length === index + 1,
    );
    const { status, attempt, nextAttemptTimeMs, attemptTimeMs } = made.at(-1) ?? expect.fail();
    expect({ status, attempt }).toEqual({ status: 'FAILED_WILL_RETRY', attempt: index + 1 });
    const waitMs = nextAttemptTimeMs - attemptTimeMs;
    expect(waitMs).toBeGreaterThanOrEqual(delayMs);
    expect(waitMs).toBeLessThanOrEqual(delayMs + maxJitterMs(name));
    steadyMs += waitMs - 1;
    await lookedAgain();
    expect(attemptsAt('failing')).toHaveLength(index + 1);
    steadyMs += 1;
  }
  const last = await eventually(
    async () => attemptsAt('failing').at(-1),
    (record) => record?.attempt === 6,
  );
  expect(last).toMatchObject({ status: 'EXHAUSTED', nextAttemptTimeMs: 0 });
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
});

it('sends many retries between their delay and the end of their jitter', async () => {
  const tier: RetryTier = '5m';
  const jitterMs = maxJitterMs(tier);
  // The broker's stamps are of its own clock.
  wallOffsetMs = Date.now() - steadyMs;
  const startMs = steadyMs;
  const firstDueMs = wallMs() + 300_000;
  // More than the broker keeps in memory, in no order of their jitter.
  const dues = Array.from({ length: 1_500 }, (_, n) => firstDueMs + ((n * 7_919) % jitterMs));
  await Promise.all(
    dues.map((dueTimeMs) =>
      deliveries.publishRetry(tier, newDelivery('org', 'well', { attempt: 2, dueTimeMs })),
    ),
  );
  await lookedAgain();
  expect(attemptsAt('well')).toEqual([]);
  for (let passedMs = 0; passedMs < jitterMs; passedMs += 5_000) {
    steadyMs = startMs + 300_000 + passedMs;
    await lookedAgain();
    const due = dues.filter((dueTimeMs) => dueTimeMs <= wallMs()).length;
    expect(attemptsAt('well').length).toBeLessThanOrEqual(due);
  }
  steadyMs = startMs + 300_000 + jitterMs;
  await eventually(
    async () => attemptsAt('well').length,
    (made) => made === dues.length,
  );
  expect(receiver.mostAtOnce('/204')).toBeLessThanOrEqual(8);
  const manager = await deliveries.connection.jetstreamManager();
  await eventually(
    async () => (await manager.streams.info(retryStream)).state.messages,
    (left) => left === 0,
  );
});

it.each(retryTiers)(
  'makes each of many retries in the tier of $name when it is due',
  async ({ name: tier, delayMs }) => {
    const webhookId = `many-${tier}`;
    await deliveries.setWebhooks('org', [{ id: webhookId, endpointUrl: receiver.url('/204') }]);
    wallOffsetMs = Date.now() - steadyMs;
    const jitterMs = maxJitterMs(tier);
    const gapMs = jitterMs / 2;
    // As they were queued: one after the other, each with its delay and some jitter.
    const firstDueMs = wallMs() + delayMs - 18 * gapMs;
    const dues = Array.from({ length: 18 }, (_, n) => {
      return Math.round(firstDueMs + n * gapMs + ((n * 7_919) % jitterMs));
    });
    for (const dueTimeMs of dues) {
      await deliveries.publishRetry(tier, newDelivery('org', webhookId, { attempt: 2, dueTimeMs }));
    }
    for (const [index, dueTimeMs] of dues.toSorted((a, b) => a - b).entries()) {
      steadyMs += dueTimeMs - 1 - wallMs();
      await lookedAgain();
      expect(attemptsAt(webhookId)).toHaveLength(index);
      steadyMs += 1;
      await eventually(
        async () => attemptsAt(webhookId).length,
        (made) => made === index + 1,
      );
    }
  },
);

it('tries again after the delay where the clock on the wall is set back by an hour', async () => {
  await deliveries.setWebhooks('org', [{ id: 'back', endpointUrl: receiver.url('/500') }]);
  await deliveries.publish(newDelivery('org', 'back', { acceptTimeMs: wallMs() }));
  const made = (count: number) =>
    eventually(
      async () => attemptsAt('back').length,
      (found) => found === count,
    );
  await made(1);
  wallOffsetMs -= 3_600_000;
  await lookedAgain();
  steadyMs += longestWaitMs('1m');
  await made(2);
  await lookedAgain();
  wallOffsetMs -= 3_600_000;
  steadyMs += longestWaitMs('5m');
  await made(3);
});
