// The operator's command that takes back a wrong merge. One edge is removed: ids that were merged into this id stay
// with it, and so do the traits that the owner got from them. Traits that calls set while it was merged stay the
// owner's. The change itself is the pipeline's.

import { buckets } from '../../platform/broker/buckets.ts';
import { readInstance } from '../../platform/broker/instance.ts';
import type { NatsConnection } from '../../platform/broker/nats.ts';
import { createProfileQueue } from '../../platform/broker/queues/profile-queue.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { timeLimit } from '../../platform/memory/time-limit.ts';

interface UnmergeOptions {
  connection: NatsConnection;
  projectId: string;
  /** The claimed id as the client sent it; not its owner's id, and not a profile's id. */
  distinctId: string;
  log: Log;
}

const waitMs = 10_000;

/** Returns the text to print. Throws one sentence if the broker does not take the change. */
export async function unmerge(options: UnmergeOptions): Promise<string> {
  const { connection: nats, projectId, distinctId, log } = options;
  const instance = await openBucket(nats, buckets.instance, readInstance);
  const found = await instance.get('shards');
  if (found.kind !== 'found') throw new Error('the broker holds no instance of this version');
  const { shards } = found.record;
  const queue = createProfileQueue({ nats, shards, clock: systemClock, log });
  const signal = timeLimit(waitMs);
  try {
    await queue.change(projectId, { kind: 'unmerge', distinctId }, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    return `queued: ${distinctId} is taken from its owner once the pipeline runs`;
  }
  return `${distinctId} belongs to no other profile now`;
}
