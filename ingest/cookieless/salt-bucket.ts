// The broker's bucket of salts, with two operations that the key-value interface lacks: the broker's time, and erasing
// a revision's bytes. A value that is only deleted or aged out stays readable in the broker's files. When to erase is
// salt.ts's decision.

import { buckets } from '../../platform/broker/buckets.ts';
import { leaderInfo } from '../../platform/broker/cluster/leader-info.ts';
import type { NatsConnection } from '../../platform/broker/nats.ts';
import { messageAt } from '../../platform/broker/queues/message-at.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { readSalt, type SaltBucket, type SaltOptions, Salts } from './salt.ts';

const requestTimeoutMs = 5_000;
/** In the bucket of the instance; processes that ask at once overwrite each other's, which tells the same. */
const timeKey = 'time';
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
  // In another bucket: a message beside the salts would keep the block of an aged one, and so its bytes.
  const instance = await connection
    .jetstream({ timeout: requestTimeoutMs })
    .views.kv(buckets.instance, { bindOnly: true });
  return {
    get: (key) => bucket.get(key),
    create: (key, record) => bucket.create(key, record),
    async entries() {
      // Reads sequence by sequence: after an erasure nats-server 2.9 miscounts what a listing of keys has still to
      // send.
      const { first_seq, last_seq } = (await leaderInfo(manager, stream)).state;
      const found: { key: string; revision: number }[] = [];
      // A stream that never held a message reports 0 as its first sequence, but sequences count from 1.
      for (let revision = Math.max(1, first_seq); revision <= last_seq; revision++) {
        const message = await messageAt(manager, stream, revision);
        const key = message?.subject.split('.').at(-1);
        if (key !== undefined) found.push({ key, revision });
      }
      return found;
    },
    async brokerNowMs() {
      // nats-server 2.9 tells its time by what it stamps on a message, and in no other way.
      await instance.put(timeKey, '');
      const stamped = await instance.get(timeKey);
      if (stamped === null) throw new Error('the broker does not tell its time');
      return stamped.created.getTime();
    },
    async erase(revision) {
      await manager.streams.deleteMessage(stream, revision, true);
    },
  };
}
