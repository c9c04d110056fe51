// The records of organizations' webhooks: read from the broker's leader, so that every process sees what any of them
// has written, and changed by compare-and-set. Which changes a caller may make is the methods'.

import type { RecordBucket } from '../../../platform/broker/record-bucket.ts';
import { type Change, changeRecord } from '../../../platform/records/change-record.ts';
import type { SecretBox } from '../../../platform/secrets/secret-box.ts';
import {
  maxWebhooks,
  type OrganizationWebhooksRecord,
  type WebhookRecord,
  webhookSecretPurpose,
} from '../../../platform/webhooks/webhook-record.ts';
import { failedPrecondition, noSuchWebhook } from '../http/refusals.ts';
import { newSecret } from './new-secret.ts';

export type WebhookBucket = Pick<
  RecordBucket<OrganizationWebhooksRecord>,
  'get' | 'create' | 'update'
>;

/** Each call throws what the bucket throws, and Contended. */
export interface WebhookStore {
  /** In the order of their creation. */
  list(organizationId: string): Promise<readonly WebhookRecord[]>;
  /** Throws not_found. */
  find(organizationId: string, webhookId: string): Promise<WebhookRecord>;
  /** Gives it the organization's current secret, which it returns. Throws failed_precondition beyond the bound. */
  add(organizationId: string, webhook: Omit<WebhookRecord, 'sealedSecret'>): Promise<string>;
  /** Returns the new record. `decide` has no side effects. Throws not_found. */
  change(
    organizationId: string,
    webhookId: string,
    decide: (before: WebhookRecord) => WebhookRecord,
  ): Promise<WebhookRecord>;
  /** Throws not_found. */
  remove(organizationId: string, webhookId: string): Promise<void>;
  /** Makes a new current secret and returns it. */
  rotate(organizationId: string): Promise<string>;
}

export function createWebhookStore(bucket: WebhookBucket, box: SecretBox): WebhookStore {
  const records = { ask: bucket.get, create: bucket.create, update: bucket.update };
  const list = async (organizationId: string): Promise<readonly WebhookRecord[]> => {
    const found = await bucket.get(organizationId);
    if (found.kind === 'unreadable') throw unreadable(organizationId);
    return found.kind === 'found' ? found.record.webhooks : [];
  };
  const change = <R>(organizationId: string, decide: Decide<R>): Promise<R> =>
    changeOrganization(records, organizationId, decide, () => emptyRecord(box, organizationId));
  return {
    list,
    async find(organizationId, webhookId) {
      const found = (await list(organizationId)).find(({ id }) => id === webhookId);
      if (found === undefined) throw noSuchWebhook();
      return found;
    },
    add: (organizationId, webhook) =>
      change(organizationId, (record) => {
        if (record.webhooks.length >= maxWebhooks) {
          throw failedPrecondition(
            `an organization has at most ${maxWebhooks} webhooks: delete one first`,
          );
        }
        const { sealedCurrentSecret: sealedSecret } = record;
        const secret = box.open(sealedSecret, webhookSecretPurpose(organizationId));
        if (secret === undefined) {
          throw failedPrecondition(
            "the organization's secret cannot be read any more: rotate it first",
          );
        }
        const webhooks = [...record.webhooks, { ...webhook, sealedSecret }];
        return { write: { ...record, webhooks }, answer: secret };
      }),
    change: (organizationId, webhookId, decide) =>
      change(organizationId, (record) => {
        const before = record.webhooks.find(({ id }) => id === webhookId);
        if (before === undefined) throw noSuchWebhook();
        const after = decide(before);
        const webhooks = record.webhooks.map((one) => (one === before ? after : one));
        return { write: { ...record, webhooks }, answer: after };
      }),
    remove: (organizationId, webhookId) =>
      change(organizationId, (record) => {
        const webhooks = record.webhooks.filter(({ id }) => id !== webhookId);
        if (webhooks.length === record.webhooks.length) throw noSuchWebhook();
        return { write: { ...record, webhooks }, answer: undefined };
      }),
    rotate(organizationId) {
      const secret = newSecret();
      const sealedCurrentSecret = box.seal(secret, webhookSecretPurpose(organizationId));
      return change(organizationId, (record) => {
        return { write: { ...record, sealedCurrentSecret }, answer: secret };
      });
    },
  };
}

type Decide<R> = (record: OrganizationWebhooksRecord) => Change<OrganizationWebhooksRecord, R>;

/** The first change of an organization makes its record. A change that throws leaves at most an empty one. */
async function changeOrganization<R>(
  records: Parameters<typeof changeRecord<OrganizationWebhooksRecord, R>>[0],
  organizationId: string,
  decide: Decide<R>,
  makeEmpty: () => OrganizationWebhooksRecord,
): Promise<R> {
  const first = await changeRecord(records, organizationId, decide);
  if (first.kind === 'done') return first.answer;
  // In a conflict another process has made it.
  await records.create(organizationId, makeEmpty());
  const second = await changeRecord(records, organizationId, decide);
  if (second.kind === 'done') return second.answer;
  throw unreadable(organizationId);
}

function emptyRecord(box: SecretBox, organizationId: string): OrganizationWebhooksRecord {
  const sealedCurrentSecret = box.seal(newSecret(), webhookSecretPurpose(organizationId));
  return { schemaVersion: 1, sealedCurrentSecret, webhooks: [] };
}

function unreadable(organizationId: string): Error {
  return new Error(`the webhooks of organization ${organizationId} cannot be read by this version`);
}
