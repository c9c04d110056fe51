// Looks whether the shard is still this writer's before each effect that comes late. Promise and token keep an effect
// from happening twice for as long as the engine and the broker know the token, which is some thousand inserts: a
// process that was frozen for longer, and tries again what it had begun, would store a batch a second time.

import type { Clock } from '../../platform/clock.ts';
import type { LedgerBucket } from './ledger.ts';

/** Another writer has the shard. No try is repeated after it. */
export class ShardLost extends Error {
  constructor() {
    super('another writer has the shard');
  }
}

/** So long the shard counts as this writer's without a look. Tokens are known for minutes at the very least. */
const trustedMs = 5_000;

interface OwnedCallsOptions {
  bucket: Pick<LedgerBucket, 'get'>;
  /** The record of this writer's shard. */
  key: string;
  /** The name under which the shard was taken. */
  writer: string;
  /** Goes on while the process is frozen. */
  clock: Clock;
}

/** Returns a function that makes a call, and throws ShardLost instead where another writer has the shard. */
export function createOwnedCalls({
  bucket,
  key,
  writer,
  clock,
}: OwnedCallsOptions): <T>(call: () => Promise<T>) => Promise<T> {
  let knownMs = clock.nowMs();
  return async (call) => {
    const askedMs = clock.nowMs();
    if (askedMs - knownMs > trustedMs) {
      const read = await bucket.get(key);
      if (read.kind !== 'found' || read.record.writer !== writer) throw new ShardLost();
      knownMs = askedMs;
    }
    return call();
  };
}
