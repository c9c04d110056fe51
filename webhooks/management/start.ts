// Puts the management interface together, once per process that serves the port. It keeps nothing in memory: records
// are read from the broker, the log from ClickHouse.

import type { BucketRoom } from '../../platform/broker/bucket-room.ts';
import { buckets } from '../../platform/broker/buckets.ts';
import type { NatsConnection } from '../../platform/broker/nats.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import type { Clock } from '../../platform/clock.ts';
import { checkEndpointUrl } from '../../platform/endpoints/endpoint-url.ts';
import type { NodeHttpRoute } from '../../platform/http/http.ts';
import type { Log } from '../../platform/log.ts';
import type { SecretBox } from '../../platform/secrets/secret-box.ts';
import { readOrganizationWebhooks } from '../../platform/webhooks/webhook-record.ts';
import type { WebhookSettings } from '../../platform/webhooks/webhook-settings.ts';
import type { AttemptLog } from '../attempts/attempt-log.ts';
import { createPublishDelivery, type PublishDelivery } from './deliveries/publish-delivery.ts';
import type { AccessDeps } from './http/access.ts';
import { changeLimits, createRateLimit, type RateLimits } from './http/rate-limit.ts';
import { createManagementRoute } from './http/route.ts';
import type { ManagementParts } from './management-parts.ts';
import { operations } from './operations.ts';
import { createWebhookStore, type WebhookBucket } from './records/webhook-store.ts';
import { openApiDocument } from './schema/openapi.ts';

interface ManagementBase {
  access: AccessDeps;
  organizationOf: ManagementParts['organizationOf'];
  attempts: AttemptLog;
  box: SecretBox;
  settings: Pick<WebhookSettings, 'allowedNetworks'>;
  readsPerSecond: number;
  limits?: Omit<RateLimits, 'readsPerSecond'>;
  clock: Clock;
  log: Log;
}

export interface ManagementOptions extends ManagementBase {
  nats: NatsConnection;
  /** The room that webhooks' records may take. */
  room: BucketRoom;
}

/** ensureTopology must have made buckets and streams before. */
export async function openManagement(options: ManagementOptions): Promise<NodeHttpRoute> {
  const { nats, room } = options;
  const bucket = await openBucket(nats, buckets.webhooks, readOrganizationWebhooks, room);
  return createManagement({ ...options, bucket, publishDelivery: createPublishDelivery(nats) });
}

/** The interface without its connection to the broker. */
export function createManagement(
  options: ManagementBase & { bucket: WebhookBucket; publishDelivery: PublishDelivery },
): NodeHttpRoute {
  const { bucket, box, attempts, organizationOf, publishDelivery, settings, clock, log, access } =
    options;
  const { limits = changeLimits, readsPerSecond } = options;
  const allowed = settings.allowedNetworks;
  const openApi = openApiDocument(operations);
  return createManagementRoute({
    operations,
    parts: {
      store: createWebhookStore(bucket, box),
      checkEndpointUrl: (text) => checkEndpointUrl(text, { allowed }),
      organizationOf,
      attempts,
      publishDelivery,
      recovering: new Set(),
      clock,
      openApi: () => openApi,
    },
    access,
    takeRate: createRateLimit({ ...limits, readsPerSecond }, clock),
    log,
  });
}
