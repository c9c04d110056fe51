// Tries a bucket before anything is kept of it: a small file is written, read back and deleted.

import { randomUUID } from 'node:crypto';
import { Code, ConnectError } from '@connectrpc/connect';
import type { ObjectStore } from './object-store.ts';
import { bodyOf, putAndReadBack } from './read-back.ts';
import { StoreFailure } from './store-failure.ts';

const maxTryMs = 30_000;

/** Throws failed_precondition, which says in words why it does not work. */
export async function tryBucket(store: ObjectStore, prefix: string): Promise<void> {
  const key = `${prefix}_millrace-test-${randomUUID()}.txt`;
  const signal = AbortSignal.timeout(maxTryMs);
  try {
    await putAndReadBack(store, key, bodyOf('Millrace writes exports here.\n'), signal);
    await store.delete(key, signal);
  } catch (cause) {
    const reason = cause instanceof StoreFailure ? cause.message : 'it did not answer in time';
    throw new ConnectError(
      `the bucket was tried: ${reason}`,
      Code.FailedPrecondition,
      undefined,
      [],
      cause,
    );
  }
}
