// The directory over a real bucket.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { webhookRecord } from '../../test/harness/models/webhook-records.ts';
import { startBroker } from '../../test/harness/servers/broker.ts';
import type { ChildServer } from '../../test/harness/servers/child-server.ts';
import { buckets } from '../broker/buckets.ts';
import { connectBroker, type NatsConnection } from '../broker/nats.ts';
import { openBucket } from '../broker/record-bucket.ts';
import { createLog } from '../log.ts';
import { createWebhookDirectory, type WebhookBucket, watchWebhooks } from './webhook-directory.ts';
import {
  type OrganizationWebhooksRecord,
  readOrganizationWebhooks,
  type WebhookRecord,
} from './webhook-record.ts';

const log = createLog('silent');
let broker: ChildServer;
let connection: NatsConnection;
let watched: WebhookBucket;

const webhook = (id: string, name: string): WebhookRecord => webhookRecord({ id, name });

const record = (...webhooks: WebhookRecord[]): OrganizationWebhooksRecord => ({
  schemaVersion: 1,
  sealedCurrentSecret: 'sealed',
  webhooks,
});

beforeAll(async () => {
  broker = await startBroker();
  connection = await connectBroker(broker.url, log);
  await connection.jetstream().views.kv(buckets.webhooks, { history: 1 });
  watched = await watchWebhooks(connection, { log });
});

afterAll(async () => {
  await watched.close();
  await connection.close();
  await broker.stop();
});

it('finds what another process made, changed and deleted, and forgets what is gone', async () => {
  const other = await openBucket(connection, buckets.webhooks, readOrganizationWebhooks);
  await other.create('before', record(webhook('w0', 'older')));
  await expect.poll(() => watched.get('before')).toBeDefined();
  const directory = createWebhookDirectory(watched);
  const told: string[] = [];
  directory.onChange((organizationId) => told.push(organizationId));
  expect(directory.get('w0')?.webhook.name).toBe('older');

  const made = await other.create('acme', record(webhook('w1', 'one'), webhook('w2', 'two')));
  await expect.poll(() => directory.webhooksOf('acme').map(({ id }) => id)).toEqual(['w1', 'w2']);
  expect(directory.get('w2')).toEqual({ organizationId: 'acme', webhook: webhook('w2', 'two') });
  expect(directory.webhooksOf('acme')).toBe(directory.webhooksOf('acme'));

  const { revision } = made.kind === 'written' ? made : { revision: 0 };
  await other.update('acme', record(webhook('w2', 'renamed')), revision);
  await expect.poll(() => directory.get('w2')?.webhook.name).toBe('renamed');
  expect(directory.get('w1')).toBeUndefined();

  await other.kv.delete('acme');
  await expect.poll(() => directory.webhooksOf('acme')).toEqual([]);
  expect(directory.get('w2')).toBeUndefined();
  expect(directory.get('w0')?.organizationId).toBe('before');
  expect(told).toEqual(['acme', 'acme', 'acme']);
  expect(directory.unconfirmedMs()).toBeLessThan(60_000);
});
