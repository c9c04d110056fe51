// Keeps erasures from beginning while a backup is taken: one that is half done would be in some tables of it and not in
// others, and its inserts' tokens are in none.

import { setTimeout as delay } from 'node:timers/promises';
import { buckets } from '../broker/buckets.ts';
import type { NatsConnection } from '../broker/nats.ts';
import { openBucket } from '../broker/record-bucket.ts';
import type { Clock } from '../clock.ts';
import { HeldRecord, isLeased, LeaseLost } from '../turns/held-record.ts';
import {
  type ErasureWork,
  erasureLeaseMs,
  erasureWorkKey,
  noWork,
  readErasureWork,
} from './erasure-record.ts';

/** Short: a backup has it, and what is restored waits for its end. */
const leaseMs = 30_000;
const renewEveryMs = 5_000;
const lookEveryMs = 200;
/** An erasure takes a minute, one piece of events that a project keeps no longer some minutes. */
const patienceMs = 1_800_000;

interface HoldParts {
  connection: NatsConnection;
  clock: Clock;
}

/**
 * Runs `work` while no erasure is under way. Throws what it throws, and one sentence where an erasure does not end or
 * began meanwhile.
 */
export async function whileNoErasure<T>(parts: HoldParts, work: () => Promise<T>): Promise<T> {
  const held = await takeLease(parts);
  let renewal = Promise.resolve();
  // One that fails is tried again; whether the lease was lost meanwhile, its end tells.
  const renew = (): void => {
    renewal = renewal.then(() => held.write(held.record)).catch(() => {});
  };
  const renewing = setInterval(renew, renewEveryMs);
  const end = async (): Promise<void> => {
    clearInterval(renewing);
    await renewal;
    await held.release();
  };
  let done: T;
  try {
    done = await work();
  } catch (error) {
    // What cannot be released ends by itself.
    await end().catch(() => {});
    throw error;
  }
  await end().catch((cause: unknown) => {
    if (!(cause instanceof LeaseLost)) throw cause;
    throw new Error('an erasure began meanwhile: take the backup again', { cause });
  });
  return done;
}

async function takeLease({ connection, clock }: HoldParts): Promise<HeldRecord<ErasureWork>> {
  const states = await openBucket(connection, buckets.instance, readErasureWork);
  const deadlineMs = performance.now() + patienceMs;
  while (performance.now() < deadlineMs) {
    const found = await states.get(erasureWorkKey);
    if (found.kind === 'unreadable') throw new Error('the work of erasures cannot be read');
    const record = found.kind === 'found' ? found.record : noWork;
    const isFree = record.batch === undefined && record.retained === undefined;
    if (isFree && !isLeased(record, clock.nowMs(), erasureLeaseMs)) {
      const held = await HeldRecord.take({ states, clock, leaseMs }, erasureWorkKey, found, record);
      if (held !== undefined) return held;
    }
    await delay(lookEveryMs);
  }
  throw new Error('an erasure is under way and does not end: take the backup again later');
}
