// Changes one record by compare-and-set, and tries again while other writers come between: no update is lost, however
// many write at once.

import { setTimeout as delay } from 'node:timers/promises';
import type { VersionedRecord } from '../broker/record-bucket.ts';
import type { WatchedBucket } from '../broker/watched-bucket.ts';

/** The decision on the newest record: write a new record, or leave it as it is. Both carry an answer. */
export type Change<T, R> = { write: T; answer: R } | { leave: R };

export type Records<T extends VersionedRecord> = Pick<
  WatchedBucket<T>,
  'ask' | 'create' | 'update'
>;

/** Other writers came first for 10 s. Nothing was written. */
export class Contended extends Error {}

const deadlineMs = 10_000;
const maxPauseMs = 20;

/**
 * Calls `decide` with the newest record, and again after each conflict, so that `decide` must have no side effects. An
 * error that it throws ends the change. `absent` if the key holds no record. Throws Contended after 10 s.
 */
export async function changeRecord<T extends VersionedRecord, R>(
  records: Records<T>,
  key: string,
  decide: (record: T) => Change<T, R>,
): Promise<{ kind: 'done'; answer: R } | { kind: 'absent' }> {
  const startedAt = performance.now();
  for (;;) {
    const current = await newest(records, key);
    if (current === undefined) return { kind: 'absent' };
    const change = decide(current.record);
    if ('leave' in change) return { kind: 'done', answer: change.leave };
    const written = await records.update(key, change.write, current.revision);
    if (written.kind === 'written') return { kind: 'done', answer: change.answer };
    if (performance.now() - startedAt > deadlineMs) {
      throw new Contended(`record ${key} is being changed by too many at once`);
    }
    await delay(Math.random() * maxPauseMs);
  }
}

async function newest<T extends VersionedRecord>(
  records: Records<T>,
  key: string,
): Promise<{ record: T; revision: number } | undefined> {
  const found = await records.ask(key);
  switch (found.kind) {
    case 'found':
      return found;
    case 'absent':
      return undefined;
    case 'unreadable':
      throw new Error(`record ${key} cannot be read by this version`);
    default:
      return found satisfies never;
  }
}
