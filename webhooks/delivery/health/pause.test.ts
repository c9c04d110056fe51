// A webhook that pauses itself, and the notice of it: whichever moment the process dies at, people are told.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../../platform/clock.ts';
import { createLog } from '../../../platform/log.ts';
import { watchWebhooks } from '../../../platform/webhooks/webhook-directory.ts';
import { eventually } from '../../../test/harness/clients/client.ts';
import {
  type DeliveryBroker,
  newDelivery,
  startDeliveryBroker,
} from '../../../test/harness/webhooks/delivery-broker.ts';
import { type Receiver, startReceiver } from '../../../test/harness/webhooks/receiver.ts';
import type { DeliveryNotices } from '../settlement.ts';
import { pauseWebhook } from './pause.ts';

let deliveries: DeliveryBroker;
let receiver: Receiver;
beforeAll(async () => {
  deliveries = await startDeliveryBroker();
  receiver = await startReceiver();
});
afterAll(async () => {
  await deliveries.stop();
  await receiver.close();
});

it('a process that dies while it pauses a webhook leaves it told, or active and failing again', async () => {
  await deliveries.setWebhooks('org', [{ id: 'gone', endpointUrl: receiver.url('/410') }]);
  const status = () => deliveries.webhook('org', 'gone')?.status;
  const steps: string[] = [];
  const notices = (pausing: () => Promise<void>): DeliveryNotices => ({
    exhausted() {},
    pausing({ reason }) {
      steps.push(`${reason} while ${status()}`);
      return pausing();
    },
    paused: () => void steps.push('paused'),
  });
  const dying = await deliveries.start({ notices: notices(() => new Promise(() => {})) });
  await deliveries.publish(newDelivery('org', 'gone'));
  await eventually(
    async () => steps.length,
    (count) => count === 1,
  );
  // Its time is over before the notice is written.
  await dying.stop();
  expect(status()).toBe('ACTIVE');
  await deliveries.start({ notices: notices(async () => {}) });
  await eventually(
    async () => steps.at(-1),
    (step) => step === 'paused',
  );
  expect(steps).toEqual(['GONE while ACTIVE', 'GONE while ACTIVE', 'paused']);
  expect(status()).toBe('PAUSED');
});

it('an endpoint that is gone pauses no webhook that leads elsewhere by now', async () => {
  await deliveries.setWebhooks('org', [{ id: 'moved', endpointUrl: receiver.url('/410') }]);
  const webhook = deliveries.webhook('org', 'moved');
  if (webhook === undefined) throw new Error('no webhook');
  await deliveries.setWebhooks('org', [{ ...webhook, endpointUrl: receiver.url('/200') }]);
  const bucket = await watchWebhooks(deliveries.connection, { log: createLog('silent') });
  const pause = (endpointUrl: string) => {
    const owned = { organizationId: 'org', webhook: { ...webhook, endpointUrl } };
    return pauseWebhook(bucket, owned, 'GONE', systemClock);
  };
  expect(await pause(receiver.url('/410'))).toBeUndefined();
  expect(await pause(receiver.url('/200'))).toMatchObject({ status: 'PAUSED' });
  await bucket.close();
});
