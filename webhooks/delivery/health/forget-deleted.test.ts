// Health records of webhooks that no longer exist, with a real broker.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { buckets } from '../../../platform/broker/buckets.ts';
import { openBucket } from '../../../platform/broker/record-bucket.ts';
import { eventually } from '../../../test/harness/clients/client.ts';
import {
  type DeliveryBroker,
  startDeliveryBroker,
} from '../../../test/harness/webhooks/delivery-broker.ts';
import { readWebhookHealth } from './health-record.ts';

let deliveries: DeliveryBroker;
beforeAll(async () => {
  deliveries = await startDeliveryBroker();
});
afterAll(() => deliveries.stop());

it('a start removes the health of webhooks that were deleted, and of no other', async () => {
  await deliveries.setWebhooks('org', [{ id: 'kept', endpointUrl: 'https://example.com/' }]);
  const { connection } = deliveries;
  const { kv } = await openBucket(connection, buckets.webhookHealth, readWebhookHealth);
  const record = JSON.stringify({ schemaVersion: 1, activeTime: '2026-01-01T00:00:00Z' });
  for (const id of ['gone-1', 'kept', 'gone-2']) await kv.create(id, record);
  await deliveries.start();
  const operationOf = async (id: string) => (await kv.get(id))?.operation;
  await eventually(
    async () => [await operationOf('gone-1'), await operationOf('gone-2')],
    (found) => found.every((operation) => operation === 'DEL'),
  );
  expect(await operationOf('kept')).toBe('PUT');
});
