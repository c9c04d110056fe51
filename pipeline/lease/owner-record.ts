// The broker's record of the process whose pipeline has the shards. lease.ts changes it, by compare-and-set only.

import { buckets } from '../../platform/broker/buckets.ts';
import type { NatsConnection } from '../../platform/broker/nats.ts';
import {
  openBucket,
  type RecordBucket,
  type VersionedRecord,
} from '../../platform/broker/record-bucket.ts';

export interface OwnerRecord extends VersionedRecord {
  schemaVersion: 1;
  /** A name that no other process ever had; absent while nobody has the shards. */
  owner?: string;
  /** Migrations that the newest owner knows: whoever knows fewer writes to other tables than there are. */
  migrations: number;
}

export function readOwner(value: unknown): OwnerRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const schemaVersion = Reflect.get(value, 'schemaVersion');
  const owner = Reflect.get(value, 'owner');
  const migrations = Reflect.get(value, 'migrations');
  if (schemaVersion !== 1 || typeof migrations !== 'number') return undefined;
  if (owner === undefined) return { schemaVersion, migrations };
  return typeof owner === 'string' ? { schemaVersion, owner, migrations } : undefined;
}

export function openOwnerBucket(nats: NatsConnection): Promise<RecordBucket<OwnerRecord>> {
  return openBucket(nats, buckets.instance, readOwner);
}
