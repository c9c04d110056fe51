// Finds webhooks in memory: by their organization, as the pipeline and the management interface ask, and by their own
// id, as each attempt does. Records are changed through the watched bucket that this stands on.

import type { BucketRoom } from '../broker/bucket-room.ts';
import { buckets } from '../broker/buckets.ts';
import type { NatsConnection } from '../broker/nats.ts';
import { openBucket } from '../broker/record-bucket.ts';
import { type WatchedBucket, watchBucket } from '../broker/watched-bucket.ts';
import type { Log } from '../log.ts';
import {
  type OrganizationWebhooksRecord,
  readOrganizationWebhooks,
  type WebhookRecord,
} from './webhook-record.ts';

export interface OwnedWebhook {
  organizationId: string;
  webhook: WebhookRecord;
}

export interface WebhookDirectory {
  /** Webhooks of every status; the same list until one of them changes. */
  webhooksOf(organizationId: string): readonly WebhookRecord[];
  get(webhookId: string): OwnedWebhook | undefined;
  /** Calls `listener` with the id of each organization whose webhooks have changed. It must not throw. */
  onChange(listener: (organizationId: string) => void): void;
  /** Milliseconds since memory was last known to hold everything that the broker holds. */
  unconfirmedMs(): number;
}

export type WebhookBucket = WatchedBucket<OrganizationWebhooksRecord>;

/** Resolves when memory holds all webhooks. With `room`, records grow only while the bucket has room. */
export async function watchWebhooks(
  connection: NatsConnection,
  options: { log: Log; room?: BucketRoom },
): Promise<WebhookBucket> {
  const { log, room } = options;
  const bucket = await openBucket(connection, buckets.webhooks, readOrganizationWebhooks, room);
  return watchBucket(connection, bucket, { log });
}

const none: readonly WebhookRecord[] = [];

/** Follows the bucket as long as the process runs. */
export function createWebhookDirectory(
  bucket: Pick<WebhookBucket, 'get' | 'records' | 'onChange' | 'unconfirmedMs'>,
): WebhookDirectory {
  const byId = new Map<string, OwnedWebhook>();
  const heldOf = new Map<string, readonly WebhookRecord[]>();
  const listeners: ((organizationId: string) => void)[] = [];
  const learn = (organizationId: string, webhooks: readonly WebhookRecord[]): void => {
    for (const { id } of heldOf.get(organizationId) ?? none) byId.delete(id);
    heldOf.delete(organizationId);
    if (webhooks.length === 0) return;
    heldOf.set(organizationId, webhooks);
    for (const webhook of webhooks) byId.set(webhook.id, { organizationId, webhook });
  };
  for (const [organizationId, { webhooks }] of bucket.records()) learn(organizationId, webhooks);
  bucket.onChange((organizationId) => {
    learn(organizationId, bucket.get(organizationId)?.record.webhooks ?? none);
    for (const listener of listeners) listener(organizationId);
  });
  return {
    webhooksOf: (organizationId) => heldOf.get(organizationId) ?? none,
    get: (webhookId) => byId.get(webhookId),
    onChange: (listener) => listeners.push(listener),
    unconfirmedMs: () => bucket.unconfirmedMs(),
  };
}
