// The broker's bucket of salts, with one operation that the key-value interface lacks: erasing a revision's bytes. A
// value that is only deleted or aged out stays readable in the broker's files. When to erase is salt.ts's decision.

import { buckets } from '../../platform/broker/buckets.ts';
import {
  apiErrorCode,
  type JetStreamManager,
  type NatsConnection,
} from '../../platform/broker/nats.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { readSalt, type SaltBucket, type SaltOptions, Salts } from './salt.ts';

const requestTimeoutMs = 5_000;
const noMessage = 10_037;
const stream = `KV_${buckets.salts}`;

/** The salts of this process, those of today and yesterday loaded. */
export async function openSalts({
  nats,
  clock,
  log,
}: Omit<SaltOptions, 'bucket'> & { nats: NatsConnection }): Promise<Salts> {
  const salts = new Salts({ bucket: await openSaltBucket(nats), clock, log });
  await salts.start();
  return salts;
}

/** Opens the bucket that ensureTopology has made. */
export async function openSaltBucket(connection: NatsConnection): Promise<SaltBucket> {
  const bucket = await openBucket(connection, buckets.salts, readSalt);
  const manager = await connection.jetstreamManager({ timeout: requestTimeoutMs });
  return {
    get: (key) => bucket.get(key),
    create: (key, record) => bucket.create(key, record),
    async entries() {
      // Reads sequence by sequence: after an erasure nats-server 2.9 miscounts what a listing of keys has still to
      // send.
      const { first_seq, last_seq } = (await manager.streams.info(stream)).state;
      const found: { key: string; revision: number }[] = [];
      // A stream that never held a message reports 0 as its first sequence, but sequences count from 1.
      for (let revision = Math.max(1, first_seq); revision <= last_seq; revision++) {
        const message = await messageAt(manager, stream, revision);
        const key = message?.subject.split('.').at(-1);
        if (key !== undefined) found.push({ key, revision });
      }
      return found;
    },
    async erase(revision) {
      await manager.streams.deleteMessage(stream, revision, true);
    },
  };
}

/** Undefined where the sequence no longer holds a message. */
async function messageAt(
  manager: JetStreamManager,
  stream: string,
  seq: number,
): Promise<{ subject: string } | undefined> {
  try {
    return await manager.streams.getMessage(stream, { seq });
  } catch (error) {
    if (apiErrorCode(error) === noMessage) return undefined;
    throw error;
  }
}
