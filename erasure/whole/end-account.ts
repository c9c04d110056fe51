// The records of a deleted account: its place in organizations, its sessions, what is reserved for it alone, and
// itself. The record goes last, because it names the sessions.

import { type OrganizationRecord, readOrganization } from '../../platform/access/organizations.ts';
import { buckets } from '../../platform/broker/buckets.ts';
import { hasTexts, openBucket, type VersionedRecord } from '../../platform/broker/record-bucket.ts';
import { fieldOf, isObject } from '../../platform/json.ts';
import type { ErasureParts } from '../erasure-parts.ts';
import { changeKey } from './change-key.ts';
import { openKeys, recordsOf } from './remove-keys.ts';

interface Owner extends VersionedRecord {
  customerId: string;
}

export async function endAccount(parts: ErasureParts, customerId: string): Promise<void> {
  const { nats } = parts;
  const organizations = await openBucket(nats, buckets.organizations, readOrganization);
  for (const [key, { members }] of await recordsOf(parts, organizations)) {
    if (!members.some((member) => member.customerId === customerId)) continue;
    await changeKey<OrganizationRecord>(organizations, key, (record) => {
      const members = record.members.filter((member) => member.customerId !== customerId);
      return members.length === record.members.length ? undefined : { ...record, members };
    });
  }
  const customers = await openKeys(nats, buckets.customers);
  const entry = await customers.get(customerId);
  const sessionIds = entry?.operation === 'PUT' ? fieldOf(entry.json(), 'sessionIds') : undefined;
  const sessions = await openKeys(nats, buckets.sessions);
  for (const id of Array.isArray(sessionIds) ? sessionIds : []) await sessions.delete(String(id));
  // The address, and accounts at providers: whoever has them may sign up anew.
  const owners = await openBucket(nats, buckets.owners, readOwner);
  for (const [key, owner] of await recordsOf(parts, owners)) {
    if (owner.customerId === customerId) await owners.kv.delete(key);
  }
  await customers.delete(customerId);
}

/** Of any version, because all that is theirs goes. */
function readOwner(value: unknown): Owner | undefined {
  if (!isObject(value) || !hasTexts(value, ['customerId'])) return undefined;
  return { schemaVersion: 1, customerId: value.customerId };
}
