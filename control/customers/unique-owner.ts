// Reserves an address or an account at a provider for one customer: a record per unique thing, made by compare-and-set.
// The customer's own record is customer-store.ts's.

import { sha256 } from '../../platform/access/ids.ts';
import type { RecordBucket } from '../../platform/broker/record-bucket.ts';
import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import type { Clock } from '../../platform/clock.ts';
import type { CustomerRecord } from './customer-record.ts';

/** The owner of a unique thing. Made before the customer's record, so that only one of two rivals goes on. */
export interface OwnerRecord {
  schemaVersion: 1;
  customerId: string;
  createTimeMs: number;
}

export function readOwner(value: unknown): OwnerRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { schemaVersion, customerId, createTimeMs } = value as Partial<OwnerRecord>;
  if (schemaVersion !== 1 || typeof customerId !== 'string' || typeof createTimeMs !== 'number') {
    return undefined;
  }
  return { schemaVersion, customerId, createTimeMs };
}

// A process that reserved a key and made no customer's record in this time has died between the two writes.
const abandonedAfterMs = 60_000;

/** True if the key is this customer's now, whether reserved by this call or an earlier one. */
export async function reserveKey(
  deps: {
    owners: RecordBucket<OwnerRecord>;
    customers: Pick<WatchedBucket<CustomerRecord>, 'ask'>;
    clock: Clock;
  },
  key: string,
  customerId: string,
): Promise<boolean> {
  const { owners, customers, clock } = deps;
  const wanted: OwnerRecord = { schemaVersion: 1, customerId, createTimeMs: clock.nowMs() };
  if ((await owners.create(key, wanted)).kind === 'written') return true;
  const held = await owners.get(key);
  if (held.kind !== 'found') return false;
  if (held.record.customerId === customerId) return true;
  if (clock.nowMs() - held.record.createTimeMs < abandonedAfterMs) return false;
  const owner = await customers.ask(held.record.customerId);
  if (owner.kind !== 'absent') return false;
  return (await owners.update(key, wanted, held.revision)).kind === 'written';
}

// Hashed: an address may hold characters that a key may not, and keys are visible to anybody who lists the bucket.
export function emailKey(email: string): string {
  return `email.${sha256(email)}`;
}

export function identityKey(issuer: string, subject: string): string {
  return `identity.${sha256(JSON.stringify([issuer, subject]))}`;
}
