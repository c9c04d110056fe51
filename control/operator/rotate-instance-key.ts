// Replaces the instance key in two steps, because each data directory has its copy of the file: seals every secret in a
// record with a new key, of which all may have had a copy before (`--prepare`); later, once no process seals with an
// old key any more, drops those. Running processes read all keys meanwhile. Sealing itself is platform/secrets'.

import { setTimeout as delay } from 'node:timers/promises';
import type { OrganizationRecord } from '../../platform/access/organizations.ts';
import type { VersionedRecord } from '../../platform/broker/record-bucket.ts';
import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import {
  type ScheduleRecord,
  scheduleSecretPurpose,
} from '../../platform/exports/schedule-record.ts';
import { changeRecord } from '../../platform/records/change-record.ts';
import {
  changeInstanceKey,
  dropOldInstanceKeys,
  hasNextInstanceKey,
  type SecretBox,
} from '../../platform/secrets/secret-box.ts';
import {
  type OrganizationWebhooksRecord,
  webhookSecretPurpose,
} from '../../platform/webhooks/webhook-record.ts';
import { secondFactorPurpose } from '../auth/second-factor/second-factors.ts';
import type { CustomerRecord } from '../customers/customer-record.ts';
import { secretPurpose } from '../mail/choose-sender.ts';

// A process may seal with the old key just before the new one comes, and write the record just after the first pass:
// the second pass, this much later, finds it.
const settleMs = 2_000;

interface Sealed {
  dataDir: string;
  box: SecretBox;
  customers: WatchedBucket<CustomerRecord>;
  organizations: WatchedBucket<OrganizationRecord>;
  webhooks: WatchedBucket<OrganizationWebhooksRecord>;
  schedules: WatchedBucket<ScheduleRecord>;
}

/**
 * Takes the next key or makes one, or with `dropOld` drops all but the current one, after sealing what is still under
 * another. `resealed` is the number of records sealed with it; `lost` are organizations, customers and places of
 * scheduled exports whose secret did not open. Throws one sentence where `dropOld` would drop a key that waits.
 */
export async function rotateInstanceKey(
  sealed: Sealed,
  { dropOld }: { dropOld: boolean },
): Promise<{ resealed: number; lost: string[] }> {
  const { dataDir } = sealed;
  if (dropOld && hasNextInstanceKey(dataDir)) {
    throw new Error('the next instance key waits: rotate to it first, without --drop-old');
  }
  if (!dropOld) changeInstanceKey(dataDir);
  const lost = new Set<string>();
  let resealed = await resealAll(sealed, lost);
  await delay(settleMs);
  resealed += await resealAll(sealed, lost);
  if (dropOld) dropOldInstanceKeys(dataDir);
  return { resealed, lost: [...lost] };
}

async function resealAll(sealed: Sealed, lost: Set<string>): Promise<number> {
  const { box, customers, organizations, webhooks, schedules } = sealed;
  const providers = await resealRecords(organizations, lost, (id, record) =>
    withProviderAnew(record, (text) => reseal(box, text, secretPurpose(id))),
  );
  const secrets = await resealRecords(webhooks, lost, (id, record) =>
    withSecretsAnew(record, (text) => reseal(box, text, webhookSecretPurpose(id))),
  );
  const factors = await resealRecords(customers, lost, (id, record) =>
    withFactorAnew(record, (text) => reseal(box, text, secondFactorPurpose(id))),
  );
  const keys = await resealRecords(schedules, lost, (_, record) =>
    withBucketKeyAnew(record, (text) => reseal(box, text, scheduleSecretPurpose(record.id))),
  );
  return providers + secrets + factors + keys;
}

/** The text sealed anew; undefined where no key opens it. */
type Reseal = (sealed: string) => string | undefined;

/** A record's secrets, sealed anew; `lost` where one does not open, `current` where none needs it. */
type Resealed<T> = T | 'lost' | 'current';

async function resealRecords<T extends VersionedRecord>(
  records: WatchedBucket<T>,
  lost: Set<string>,
  resealed: (id: string, record: T) => Resealed<T>,
): Promise<number> {
  let count = 0;
  for (const [id] of [...records.records()]) {
    const result = await changeRecord<T, 'resealed' | 'lost' | 'current'>(records, id, (record) => {
      const next = resealed(id, record);
      return next === 'lost' || next === 'current'
        ? { leave: next }
        : { write: next, answer: 'resealed' };
    });
    if (result.kind === 'done' && result.answer === 'resealed') count++;
    if (result.kind === 'done' && result.answer === 'lost') lost.add(id);
  }
  return count;
}

function withProviderAnew(
  record: OrganizationRecord,
  anewOf: Reseal,
): Resealed<OrganizationRecord> {
  const { emailProvider: provider } = record;
  const sealed = provider?.kind === 'smtp' ? provider.sealedPassword : provider?.sealedApiKey;
  if (provider === undefined || sealed === undefined) return 'current';
  const anew = anewOf(sealed);
  if (anew === undefined) return 'lost';
  if (anew === sealed) return 'current';
  const emailProvider =
    provider.kind === 'smtp'
      ? { ...provider, sealedPassword: anew }
      : { ...provider, sealedApiKey: anew };
  return { ...record, emailProvider };
}

/** One that was begun has minutes left, and is begun again. */
function withFactorAnew(record: CustomerRecord, anewOf: Reseal): Resealed<CustomerRecord> {
  const { secondFactor } = record;
  if (secondFactor === undefined) return 'current';
  const anew = anewOf(secondFactor.sealedSecret);
  if (anew === undefined) return 'lost';
  if (anew === secondFactor.sealedSecret) return 'current';
  return { ...record, secondFactor: { ...secondFactor, sealedSecret: anew } };
}

function withBucketKeyAnew(record: ScheduleRecord, anewOf: Reseal): Resealed<ScheduleRecord> {
  const { target } = record;
  // One that was deleted has none.
  if (target.sealedSecret === '') return 'current';
  const anew = anewOf(target.sealedSecret);
  if (anew === undefined) return 'lost';
  if (anew === target.sealedSecret) return 'current';
  return { ...record, target: { ...target, sealedSecret: anew } };
}

/** A secret that does not open is left as it is: the others of the record are kept. */
function withSecretsAnew(
  record: OrganizationWebhooksRecord,
  anewOf: Reseal,
): Resealed<OrganizationWebhooksRecord> {
  let isLost = false;
  let isStale = false;
  const anew = (sealed: string): string => {
    const text = anewOf(sealed);
    isLost ||= text === undefined;
    isStale ||= text !== undefined && text !== sealed;
    return text ?? sealed;
  };
  const resealed = {
    ...record,
    sealedCurrentSecret: anew(record.sealedCurrentSecret),
    webhooks: record.webhooks.map((webhook) => {
      return { ...webhook, sealedSecret: anew(webhook.sealedSecret) };
    }),
  };
  if (isStale) return resealed;
  return isLost ? 'lost' : 'current';
}

function reseal(box: SecretBox, sealed: string, purpose: string): string | undefined {
  if (!box.isStale(sealed)) return sealed;
  const secret = box.open(sealed, purpose);
  return secret === undefined ? undefined : box.seal(secret, purpose);
}
