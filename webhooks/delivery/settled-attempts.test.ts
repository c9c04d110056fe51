// Messages that come again although their attempt is in the log: none makes a second POST. The broker is killed for it,
// which then knows neither the acks of its last moments nor the ids of messages that were done.

import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { metricValue } from '../../platform/metrics.ts';
import type { Delivery } from '../../platform/webhooks/delivery.ts';
import { dueStream, dueSubject } from '../../platform/webhooks/webhook-streams.ts';
import { eventually } from '../../test/harness/clients/client.ts';
import {
  type DeliveryBroker,
  type Dispatcher,
  newDelivery,
  publishDelivery,
  startDeliveryBroker,
} from '../../test/harness/webhooks/delivery-broker.ts';
import { type Receiver, startReceiver } from '../../test/harness/webhooks/receiver.ts';

let deliveries: DeliveryBroker;
let receiver: Receiver;
const gated: ServerResponse[] = [];
beforeEach(async () => {
  deliveries = await startDeliveryBroker();
  receiver = await startReceiver({
    answer(request, response) {
      if (request.url !== '/gated') return false;
      gated.push(response);
      return true;
    },
  });
  await deliveries.setWebhooks('org', [
    { id: 'hook', endpointUrl: receiver.url('/204') },
    { id: 'gated', endpointUrl: receiver.url('/gated') },
  ]);
});
afterEach(async () => {
  for (const response of gated.splice(0)) response.end();
  await deliveries.stop();
  await receiver.close();
});

const untilPassedOver = ({ metrics }: Dispatcher, count: number): Promise<number> =>
  eventually(
    () => metricValue(metrics, 'millrace_webhook_deliveries_total', { outcome: 'repeated' }),
    (repeated) => repeated === count,
  );

const untilLogged = (count: number) =>
  eventually(
    async () => deliveries.attempts.length,
    (made) => made === count,
  );

async function untilNothingWaits(): Promise<void> {
  const manager = await deliveries.connection.jetstreamManager();
  await eventually(
    async () => (await manager.streams.info(dueStream)).state.messages,
    (left) => left === 0,
  );
}

/** Under another id: a broker that still knew the first one would not take it. */
function publishCopy(delivery: Delivery, lane: 'first' | 'retry' = 'first'): Promise<void> {
  const subject = dueSubject(lane, delivery.webhookId);
  return publishDelivery(deliveries.connection, subject, delivery, `copy:${delivery.deliveryId}`);
}

/** Resolves when the test's own connection is back. */
async function killBroker(): Promise<void> {
  await deliveries.broker.kill9();
  await deliveries.broker.restart();
  const manager = await deliveries.connection.jetstreamManager({ checkAPI: false, timeout: 500 });
  const isBack = () => manager.streams.info(dueStream).then(Boolean, () => false);
  await eventually(isBack, (back) => back);
}

describe('a delivery that is published again', () => {
  // What the pipeline does where the broker dies between the publishing and its ledger's mark.
  it('after the broker was killed is not sent again, whichever id it has', async () => {
    const dispatcher = await deliveries.start();
    const delivery = newDelivery('org', 'hook');
    await deliveries.publish(delivery);
    await untilLogged(1);
    await untilNothingWaits();
    await killBroker();
    await deliveries.publish(delivery);
    await untilPassedOver(dispatcher, 1);
    await publishCopy(delivery, 'retry');
    await untilPassedOver(dispatcher, 2);
    await untilNothingWaits();
    expect(receiver.received).toHaveLength(1);
  });

  it('while it is being sent waits until that has ended', async () => {
    const dispatcher = await deliveries.start();
    const delivery = newDelivery('org', 'gated');
    await deliveries.publish(delivery);
    await eventually(
      async () => gated.length,
      (count) => count === 1,
    );
    await publishCopy(delivery, 'retry');
    await eventually(
      async () => {
        const manager = await deliveries.connection.jetstreamManager();
        return (await manager.consumers.info(dueStream, 'due_retry')).num_ack_pending;
      },
      (pending) => pending === 1,
    );
    gated.splice(0)[0]?.end();
    await untilPassedOver(dispatcher, 1);
    await untilNothingWaits();
    expect(receiver.received).toHaveLength(1);
  });
});

describe('an attempt that another process has logged', () => {
  it('before the start is not made again; the next one is', async () => {
    const done = newDelivery('org', 'hook', { attempt: 2 });
    const skipped = newDelivery('org', 'hook', { attempt: 3 });
    const dispatcher = await deliveries.start({
      recentAttempts: async () => [done, { ...skipped, attempt: 0 }],
    });
    await publishCopy(done);
    await publishCopy(skipped);
    await untilPassedOver(dispatcher, 2);
    await deliveries.publish({ ...done, attempt: 3 });
    await untilLogged(1);
    await untilNothingWaits();
    expect(receiver.received).toHaveLength(1);
    expect(deliveries.attempts).toMatchObject([{ attempt: 3 }]);
  });

  it('by hand is not made again; one that was asked for at another moment is', async () => {
    const asked = newDelivery('org', 'hook', { trigger: 'MANUAL' });
    const dispatcher = await deliveries.start({ recentAttempts: async () => [asked] });
    await deliveries.publish(asked);
    await untilPassedOver(dispatcher, 1);
    await deliveries.publish({ ...asked, acceptTimeMs: asked.acceptTimeMs + 1 });
    await deliveries.publish({ ...asked, trigger: 'SCHEDULED' });
    await untilLogged(2);
    expect(receiver.received).toHaveLength(2);
  });

  it('while the broker was away is not made again: nothing is sent before it is known', async () => {
    const delivery = newDelivery('org', 'hook');
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    let reads = 0;
    const dispatcher = await deliveries.start({
      async recentAttempts() {
        if (reads++ === 0) return [];
        await gate;
        return [delivery];
      },
    });
    await killBroker();
    await publishCopy(delivery);
    await eventually(
      async () => reads,
      (count) => count > 1,
    );
    open();
    await untilPassedOver(dispatcher, 1);
    expect(receiver.received).toEqual([]);
  });
});
