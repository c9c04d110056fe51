// Opens the bucket of requests to erase persons: in memory, because each process that works on them looks again and
// again.

import type { BucketRoom } from '../broker/bucket-room.ts';
import { buckets } from '../broker/buckets.ts';
import type { NatsConnection } from '../broker/nats.ts';
import { openBucket, type RecordBucket } from '../broker/record-bucket.ts';
import { type WatchedBucket, watchBucket } from '../broker/watched-bucket.ts';
import type { Log } from '../log.ts';
import type { Shutdown } from '../shutdown.ts';
import { type ErasureRecord, readErasure } from './erasure-record.ts';

export interface Erasures {
  /** For new requests, which the room of the bucket may refuse. */
  bucket: RecordBucket<ErasureRecord>;
  /** All requests; what is under way is written however full the bucket is. */
  known: WatchedBucket<ErasureRecord>;
}

/** Throws as watchBucket does. */
export async function openErasures(
  connection: NatsConnection,
  room: BucketRoom | undefined,
  { log, shutdown }: { log: Log; shutdown: Pick<Shutdown, 'add'> },
): Promise<Erasures> {
  const name = buckets.erasures;
  const bucket = await openBucket(connection, name, readErasure, room);
  const unbounded = await openBucket(connection, name, readErasure);
  const known = await watchBucket(connection, unbounded, { log });
  shutdown.add('requests of erasure', () => known.close());
  return { bucket, known };
}
