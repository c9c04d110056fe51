// Takes back a merge that should not have been: the operator's command behind it. One edge is removed, the ids that
// were merged into this one stay with it, and so do the traits that the owner has from them. What calls said of the
// profile while it was merged stays the owner's.

import { readInstance } from '../../platform/broker/instance.ts';
import { openBucket } from '../../platform/broker/kv.ts';
import type { NatsConnection } from '../../platform/broker/nats.ts';
import { createProfileQueue } from '../../platform/broker/profile-queue.ts';
import { buckets } from '../../platform/broker/topology.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';

interface UnmergeOptions {
  connection: NatsConnection;
  projectId: string;
  /** The id that was claimed, as it was sent: not its owner's, and no profile's id. */
  distinctId: string;
  log: Log;
}

const waitMs = 10_000;

/** Returns what to print. Throws one sentence where the broker does not take the change. */
export async function unmerge(options: UnmergeOptions): Promise<string> {
  const { connection: nats, projectId, distinctId, log } = options;
  const instance = await openBucket(nats, buckets.instance, readInstance);
  const found = await instance.get('shards');
  if (found.kind !== 'found') throw new Error('the broker holds no instance of this version');
  const { shards } = found.record;
  const queue = createProfileQueue({ nats, shards, clock: systemClock, log });
  const signal = AbortSignal.timeout(waitMs);
  try {
    await queue.change(projectId, { kind: 'unmerge', distinctId }, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    return `queued: ${distinctId} is taken from its owner once the pipeline runs`;
  }
  return `${distinctId} belongs to no other profile now`;
}
