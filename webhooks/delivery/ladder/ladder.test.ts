// The ladder of retries at a real broker with a clock that this test sets: no retry comes before its time, each comes
// when its time has come, however many wait beside it.

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

let nowMs = Date.now();
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
    clock: { nowMs: () => nowMs },
    // Nothing, nearly everything, and a half.
    draw: () => [0, 0.999, 0.5][draws++ % 3] ?? 0,
    maxNapMs: 20,
  });
}, 60_000);
afterAll(async () => {
  await deliveries.stop();
  await receiver.close();
});

const attemptsAt = (webhookId: string) =>
  deliveries.attempts.filter((record) => record.webhookId === webhookId);

/** Resolves when the tiers have been looked at again with the clock as it is. */
async function lookedAgain(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 200));
}

it('tries a failing delivery six times, each after its delay and at most its jitter', async () => {
  await deliveries.publish(newDelivery('org', 'failing', { acceptTimeMs: nowMs }));
  for (const [index, { name, delayMs }] of retryTiers.entries()) {
    const made = await eventually(
      async () => attemptsAt('failing'),
      (found) => found.length === index + 1,
      10_000,
    );
    const { status, attempt, nextAttemptTimeMs, attemptTimeMs } = made.at(-1) ?? expect.fail();
    expect({ status, attempt }).toEqual({ status: 'FAILED_WILL_RETRY', attempt: index + 1 });
    const waitMs = nextAttemptTimeMs - attemptTimeMs;
    expect(waitMs).toBeGreaterThanOrEqual(delayMs);
    expect(waitMs).toBeLessThanOrEqual(delayMs + maxJitterMs(name));
    nowMs = nextAttemptTimeMs - 1;
    await lookedAgain();
    expect(attemptsAt('failing')).toHaveLength(index + 1);
    nowMs = nextAttemptTimeMs;
  }
  const last = await eventually(
    async () => attemptsAt('failing').at(-1),
    (record) => record?.attempt === 6,
    10_000,
  );
  expect(last).toMatchObject({ status: 'EXHAUSTED', nextAttemptTimeMs: 0 });
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
});

it('sends many retries between their delay and the end of their jitter', {
  timeout: 60_000,
}, async () => {
  const tier: RetryTier = '5m';
  const jitterMs = maxJitterMs(tier);
  const firstDueMs = nowMs + 300_000;
  // More than the broker keeps in memory, in no order of their jitter.
  const dues = Array.from({ length: 1_500 }, (_, n) => firstDueMs + ((n * 7_919) % jitterMs));
  await Promise.all(
    dues.map((dueTimeMs) =>
      deliveries.publishRetry(tier, newDelivery('org', 'well', { attempt: 2, dueTimeMs })),
    ),
  );
  await lookedAgain();
  expect(attemptsAt('well')).toEqual([]);
  for (nowMs = firstDueMs; nowMs < firstDueMs + jitterMs; nowMs += 5_000) {
    await lookedAgain();
    const due = dues.filter((dueTimeMs) => dueTimeMs <= nowMs).length;
    expect(attemptsAt('well').length).toBeLessThanOrEqual(due);
  }
  nowMs = firstDueMs + jitterMs;
  await eventually(
    async () => attemptsAt('well').length,
    (made) => made === dues.length,
    20_000,
  );
  expect(receiver.mostAtOnce('/204')).toBeLessThanOrEqual(8);
  const manager = await deliveries.connection.jetstreamManager();
  await eventually(
    async () => (await manager.streams.info(retryStream)).state.messages,
    (left) => left === 0,
  );
});
