// Whether a delivery may be sent, by the state of its webhook at this moment. It is asked when a delivery comes and
// again when its turn has come.

import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import { setBounded } from '../../platform/memory/bounded-map.ts';
import type { Delivery, SkipReason } from '../../platform/webhooks/delivery.ts';
import type { OwnedWebhook, WebhookDirectory } from '../../platform/webhooks/webhook-directory.ts';
import type { OrganizationWebhooksRecord } from '../../platform/webhooks/webhook-record.ts';

export type Admission =
  | { kind: 'send'; owned: OwnedWebhook }
  /** Recorded, and not sent. */
  | { kind: 'skip'; owned: OwnedWebhook; reason: SkipReason }
  /** The webhook or the project is deleted: nobody could read a record. */
  | { kind: 'drop' }
  /** The organization's record cannot be read, as after a downgrade: nobody knows what its webhooks are. */
  | { kind: 'wait' };

export interface AdmissionOptions {
  directory: Pick<WebhookDirectory, 'get'>;
  bucket: Pick<WatchedBucket<OrganizationWebhooksRecord>, 'ask'>;
  /** Whether somebody has asked for the project's deletion; nobody has unless given. */
  isDeleted?: ((projectId: string) => boolean) | undefined;
}

/** Ids of deleted webhooks that the broker is not asked for again. */
const rememberedDeleted = 10_000;

/** Throws where the broker must be asked and does not answer. */
export function createAdmission({
  directory,
  bucket,
  isDeleted,
}: AdmissionOptions): (delivery: Delivery) => Promise<Admission> {
  // Ids are given once: what is deleted stays so.
  const deleted = new Map<string, true>();
  /** Memory may not know a new webhook yet whose events already match elsewhere: so the broker has the last word. */
  const find = async ({
    webhookId,
    organizationId,
  }: Delivery): Promise<OwnedWebhook | 'unreadable' | undefined> => {
    const known = directory.get(webhookId);
    if (known !== undefined || deleted.has(webhookId)) return known;
    const read = await bucket.ask(organizationId);
    if (read.kind === 'unreadable') return 'unreadable';
    const webhooks = read.kind === 'found' ? read.record.webhooks : [];
    const webhook = webhooks.find(({ id }) => id === webhookId);
    if (webhook !== undefined) return { organizationId, webhook };
    setBounded(deleted, webhookId, true, rememberedDeleted);
    return undefined;
  };
  return async (delivery) => {
    const owned = isDeleted?.(delivery.projectId) === true ? undefined : await find(delivery);
    if (owned === undefined) return { kind: 'drop' };
    if (owned === 'unreadable') return { kind: 'wait' };
    const reason = delivery.skip ?? skipReasonOf(delivery, owned);
    return reason === undefined ? { kind: 'send', owned } : { kind: 'skip', owned, reason };
  };
}

/** Somebody who asks for a test or a redelivery wants to see whether the endpoint is well before they resume it. */
function skipReasonOf(
  { trigger, attempt, acceptTimeMs }: Delivery,
  { webhook }: OwnedWebhook,
): SkipReason | undefined {
  const { status, inactiveTime } = webhook;
  switch (status) {
    case 'ACTIVE': {
      const isDropped =
        attempt > 1 && inactiveTime !== undefined && acceptTimeMs < Date.parse(inactiveTime);
      return isDropped && trigger === 'SCHEDULED' ? 'webhook_inactive' : undefined;
    }
    case 'PAUSED':
      return trigger === 'SCHEDULED' ? 'webhook_paused' : undefined;
    case 'INACTIVE':
      return 'webhook_inactive';
    default:
      return status satisfies never;
  }
}
