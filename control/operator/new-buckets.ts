// Makes the buckets that came with an update, for a command that runs beside a broker before the service was started
// again. All else of the broker is left as the service has it: topology.ts brings it up to date at a start.

import { buckets } from '../../platform/broker/buckets.ts';
import { ensureBucket } from '../../platform/broker/ensure-stream.ts';
import { readInstance } from '../../platform/broker/instance.ts';
import type { NatsConnection } from '../../platform/broker/nats.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';

/** A bucket that was there at an earlier start and is gone stays missing: the next start says that it is lost. */
export async function makeNewBuckets(connection: NatsConnection): Promise<void> {
  const instance = await openBucket(connection, buckets.instance, readInstance);
  const found = await instance.get('shards');
  if (found.kind !== 'found') throw new Error('the broker holds no instance of this version');
  for (const name of Object.values(buckets)) {
    if (!found.record.made.includes(`KV_${name}`)) await ensureBucket(connection, name, 1);
  }
}
