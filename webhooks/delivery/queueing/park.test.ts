// The park alone, at a real broker: who gets its deliveries back where more webhooks have some than are drained at
// once.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLog } from '../../../platform/log.ts';
import { decodeDelivery } from '../../../platform/webhooks/delivery.ts';
import {
  type DeliveryBroker,
  newDelivery,
  startDeliveryBroker,
} from '../../../test/harness/webhooks/delivery-broker.ts';
import { Park } from './park.ts';
import { createPublisher } from './publisher.ts';

let deliveries: DeliveryBroker;
beforeAll(async () => {
  deliveries = await startDeliveryBroker();
});
afterAll(() => deliveries.stop());

it('takes up the deliveries of every webhook, also where 64 others never run out of theirs', async () => {
  const { connection } = deliveries;
  const log = createLog('silent');
  const stop = new AbortController();
  const publisher = createPublisher({ connection, log, signal: stop.signal });
  const webhooks = Array.from({ length: 70 }, () => randomUUID());
  const takenUp = new Set<string>();
  const park = new Park({
    ...{ connection, publisher, log, signal: stop.signal },
    roomOf: () => 1,
    // No delivery is ever sent: each stays in the park.
    onMessage: ({ data }) => void takenUp.add(decodeDelivery(data)?.webhookId ?? ''),
  });
  try {
    for (const webhookId of webhooks) {
      const delivery = newDelivery('org', webhookId);
      expect(await park.park(delivery, delivery.deliveryId)).toBe('stored');
    }
    await expect.poll(() => takenUp.size).toBe(webhooks.length);
  } finally {
    stop.abort();
    await park.stop();
  }
});
