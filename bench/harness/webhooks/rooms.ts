// Rooms of several organizations, each with a webhook of its own: the records are written as the management interface
// writes them, five hundred in a moment.

import { setTimeout as delay } from 'node:timers/promises';
import { makeApiKey, makeProject } from '../../../control/projects/project-record.ts';
import { newId } from '../../../platform/access/ids.ts';
import { readProject } from '../../../platform/access/projects.ts';
import { buckets } from '../../../platform/broker/buckets.ts';
import { connectBroker, type NatsConnection } from '../../../platform/broker/nats.ts';
import { openBucket } from '../../../platform/broker/record-bucket.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createLog } from '../../../platform/log.ts';
import { openSecretBox } from '../../../platform/secrets/secret-box.ts';
import { type WebhookBucket, watchWebhooks } from '../../../platform/webhooks/webhook-directory.ts';
import { maxWebhooks, webhookSecretPurpose } from '../../../platform/webhooks/webhook-record.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { setWebhooks, testSecret } from '../../../test/harness/webhooks/delivery-broker.ts';
import { check } from '../../bench.ts';
import type { EndpointsProcess } from '../processes/processes.ts';
import { makeMessageBody, subscriptionTo } from './messages.ts';

export interface Rooms {
  /** The private key of each room's project. */
  keys: string[];
  /** Deletes the webhooks, and with them what waits for them. */
  close(): Promise<void>;
}

const log = createLog('silent');
const knownTimeoutMs = 30_000;

/** Room n has a webhook to endpoint n. When the service knows them all, some deliveries may be on their way. */
export async function openRooms(stack: Stack, endpoints: EndpointsProcess): Promise<Rooms> {
  const { ports } = endpoints;
  const connection = await connectBroker(stack.natsUrl, log);
  const bucket = await watchWebhooks(connection, { log });
  const organizations: string[] = [];
  const keys: string[] = [];
  for (let first = 0; first < ports.length; first += maxWebhooks) {
    const own = ports.slice(first, first + maxWebhooks);
    const organizationId = newId();
    const key = await makeProjectOf(organizationId, connection);
    await makeWebhooksOf(organizationId, { stack, bucket, ports: own, first });
    organizations.push(organizationId);
    keys.push(...own.map(() => key));
  }
  await untilKnown(stack, endpoints, keys);
  return {
    keys,
    async close() {
      for (const organizationId of organizations) await setWebhooks(bucket, organizationId, []);
      await bucket.close();
      await connection.close();
    },
  };
}

/** Returns its private key. */
async function makeProjectOf(organizationId: string, connection: NatsConnection): Promise<string> {
  const projects = await openBucket(connection, buckets.projects, readProject);
  const { raw, record } = makeApiKey({ kind: 'private' }, systemClock);
  const fields = { id: newId(), organizationId, displayName: 'a chat', keys: [record] };
  const project = makeProject(fields, systemClock);
  await projects.create(project.id, project);
  return raw;
}

interface OfOrganization {
  stack: Stack;
  bucket: WebhookBucket;
  ports: readonly number[];
  /** The first one's room. */
  first: number;
}

async function makeWebhooksOf(
  organizationId: string,
  { stack, bucket, ports, first }: OfOrganization,
): Promise<void> {
  const purpose = webhookSecretPurpose(organizationId);
  const sealedSecret = openSecretBox(stack.dataDir).seal(testSecret, purpose);
  const webhooks = ports.map((port, place) => ({
    id: newId(),
    endpointUrl: `http://127.0.0.1:${port}/`,
    subscriptions: [subscriptionTo(first + place)],
    sealedSecret,
  }));
  await setWebhooks(bucket, organizationId, webhooks);
}

/** Everybody learns of records in their order, so the last room's messages tell when all are known. */
async function untilKnown(
  { baseUrl }: Stack,
  endpoints: EndpointsProcess,
  keys: readonly string[],
): Promise<void> {
  const deadlineMs = performance.now() + knownTimeoutMs;
  while ((await endpoints.count()) === 0) {
    check(performance.now() < deadlineMs, 'the service knows the webhooks');
    const { bytes } = makeMessageBody(keys.length - 1);
    const headers = { 'content-type': 'application/json', 'x-api-key': keys.at(-1) ?? '' };
    const path = '/sdk.events.v1.EventsService/BatchCreate';
    await fetch(`${baseUrl}${path}`, { method: 'POST', headers, body: bytes });
    await delay(100);
  }
}
