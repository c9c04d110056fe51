// Takes keys out of the broker's buckets, by the forms in which keys name a project or an organization: the id alone,
// as the first part, or as the last one.

import { type BucketName, buckets } from '../../platform/broker/buckets.ts';
import type { KV, NatsConnection } from '../../platform/broker/nats.ts';
import type { RecordBucket, VersionedRecord } from '../../platform/broker/record-bucket.ts';
import { despiteSlowBroker } from '../../platform/broker/start/slow-broker.ts';
import { watchBucket } from '../../platform/broker/watched-bucket.ts';
import type { ErasureParts } from '../erasure-parts.ts';

/** Requests of erasure are named by what they erase, and tell that it was done. */
const kept: readonly BucketName[] = [buckets.erasures];

/** From every bucket but `without`, so that a new one is not forgotten. */
export async function removeKeysOf(
  nats: NatsConnection,
  id: string,
  without: readonly BucketName[] = [],
): Promise<void> {
  for (const name of Object.values(buckets)) {
    if (!kept.includes(name) && !without.includes(name)) await removeKeys(nats, name, id);
  }
}

export async function removeKeys(
  nats: NatsConnection,
  name: BucketName,
  id: string,
): Promise<void> {
  const kv = await openKeys(nats, name);
  for (const form of [id, `${id}.>`, `*.${id}`]) {
    for (const key of await keysOf(kv, form)) await kv.delete(key);
  }
}

export function openKeys(nats: NatsConnection, name: BucketName): Promise<KV> {
  return despiteSlowBroker(`the bucket ${name} is opened`, () =>
    nats.jetstream().views.kv(name, { bindOnly: true }),
  );
}

/** All records of a bucket, by one watch: a question for each key takes as many as there are keys. */
export async function recordsOf<T extends VersionedRecord>(
  { nats, log }: Pick<ErasureParts, 'nats' | 'log'>,
  bucket: RecordBucket<T>,
): Promise<[key: string, record: T][]> {
  const watched = await watchBucket(nats, bucket, { log });
  const records = [...watched.records()];
  await watched.close();
  return records;
}

/** All at once: the list ends early for whoever asks for something between two of them. */
async function keysOf(kv: KV, form = '>'): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of await kv.keys(form)) keys.push(key);
  return keys;
}
