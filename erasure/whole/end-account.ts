// The records of a deleted account: its place in organizations, its sessions, what is reserved for it alone, and
// itself. The record goes last, because it names the sessions.

import { type OrganizationRecord, readOrganization } from '../../platform/access/organizations.ts';
import { buckets } from '../../platform/broker/buckets.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { fieldOf } from '../../platform/json.ts';
import type { ErasureParts } from '../erasure-parts.ts';
import { changeKey } from './change-key.ts';
import { keysOf, openKeys } from './remove-keys.ts';

export async function endAccount({ nats }: ErasureParts, customerId: string): Promise<void> {
  const organizations = await openBucket(nats, buckets.organizations, readOrganization);
  for (const key of await keysOf(organizations.kv)) {
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
  const owners = await openKeys(nats, buckets.owners);
  for (const key of await keysOf(owners)) {
    const owner = await owners.get(key);
    const isTheirs =
      owner?.operation === 'PUT' && fieldOf(owner.json(), 'customerId') === customerId;
    if (isTheirs) await owners.delete(key);
  }
  await customers.delete(customerId);
}
