// Replaces the instance key: adds a new key, seals every secret in a record with it, then drops the old key. Running
// processes read both keys meanwhile. Sealing itself is platform/secrets'.

import { setTimeout as delay } from 'node:timers/promises';
import type {
  EmailProviderRecord,
  OrganizationRecord,
} from '../../platform/access/organizations.ts';
import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import {
  addInstanceKey,
  dropOldInstanceKeys,
  type SecretBox,
} from '../../platform/secrets/secret-box.ts';
import { changeRecord } from '../change-record.ts';
import { secretPurpose } from '../mail/choose-sender.ts';

// A process may seal with the old key just before the new one comes, and write the record just after the first pass:
// the second pass, this much later, finds it.
const settleMs = 2_000;

/** `resealed` is the number of secrets sealed with the new key; `lost` are organizations whose secret did not open. */
export async function rotateInstanceKey(options: {
  dataDir: string;
  box: SecretBox;
  organizations: WatchedBucket<OrganizationRecord>;
}): Promise<{ resealed: number; lost: string[] }> {
  const { dataDir, box, organizations } = options;
  addInstanceKey(dataDir);
  const lost = new Set<string>();
  let resealed = await resealAll(box, organizations, lost);
  await delay(settleMs);
  resealed += await resealAll(box, organizations, lost);
  dropOldInstanceKeys(dataDir);
  return { resealed, lost: [...lost] };
}

async function resealAll(
  box: SecretBox,
  organizations: WatchedBucket<OrganizationRecord>,
  lost: Set<string>,
): Promise<number> {
  let resealed = 0;
  for (const [id] of [...organizations.records()]) {
    const result = await changeRecord(organizations, id, (record) => {
      const provider = record.emailProvider;
      if (provider === undefined) return { leave: 'nothing' as const };
      const next = reseal(box, id, provider);
      if (next === 'lost' || next === 'current') return { leave: next };
      return { write: { ...record, emailProvider: next }, answer: 'resealed' as const };
    });
    if (result.kind === 'done' && result.answer === 'resealed') resealed++;
    if (result.kind === 'done' && result.answer === 'lost') lost.add(id);
  }
  return resealed;
}

function reseal(
  box: SecretBox,
  organizationId: string,
  provider: EmailProviderRecord,
): EmailProviderRecord | 'lost' | 'current' {
  const sealed = provider.kind === 'smtp' ? provider.sealedPassword : provider.sealedApiKey;
  if (sealed === undefined || !box.isStale(sealed)) return 'current';
  const purpose = secretPurpose(organizationId);
  const secret = box.open(sealed, purpose);
  if (secret === undefined) return 'lost';
  const anew = box.seal(secret, purpose);
  return provider.kind === 'smtp'
    ? { ...provider, sealedPassword: anew }
    : { ...provider, sealedApiKey: anew };
}
