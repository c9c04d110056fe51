// Takes the steps of a record that are due, while its lease is held. Each is short, so that others have their turns in
// between, and a process that dies leaves the rest to the turn after its lease.

import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import {
  HeldRecord,
  isLeased,
  type LeasedBucket,
  type LeasedRecord,
  LeaseLost,
} from './held-record.ts';

export interface DueStep<Step> {
  step: Step;
  atMs: number;
}

interface DueStepsParts<T extends LeasedRecord> {
  states: LeasedBucket<T>;
  clock: Clock;
  log: Log;
  /** Aborted when the process ends: no further step is begun. */
  stopping: AbortSignal;
}

interface Steps<T extends LeasedRecord, Step> {
  leaseMs: number;
  /** What is due next, and when; undefined while nothing is. */
  next(record: T): DueStep<Step> | undefined;
  take(held: HeldRecord<T>, step: Step): Promise<void>;
  /** What a log calls the record. */
  nameOf(record: T): object;
}

const againMs = 1_000;
/** A turn that has lasted so long begins no further step. */
const turnMs = 3_000;
/** Another process may change the record. */
const longestRestMs = 600_000;

/** Whether a turn has something to do, as far as memory tells. */
export function isStepDue<T extends LeasedRecord>(
  { leaseMs, next }: Pick<Steps<T, unknown>, 'leaseMs' | 'next'>,
  record: T,
  nowMs: number,
): boolean {
  const due = next(record);
  return due !== undefined && due.atMs <= nowMs && !isLeased(record, nowMs, leaseMs);
}

/** Returns when the record's next turn is. Throws the bucket's errors, and those of a step. */
export async function takeDueSteps<T extends LeasedRecord, Step>(
  { states, clock, log, stopping }: DueStepsParts<T>,
  { leaseMs, next, take, nameOf }: Steps<T, Step>,
  key: string,
): Promise<number> {
  const nowMs = clock.nowMs();
  const found = await states.get(key);
  if (found.kind !== 'found') return nowMs + longestRestMs;
  const { record } = found;
  if (isLeased(record, nowMs, leaseMs)) return record.leaseEndMs;
  let due = next(record);
  if (due === undefined || due.atMs > nowMs) return restUntilMs(due, nowMs);
  const held = await HeldRecord.take({ states, clock, leaseMs }, key, found, record);
  if (held === undefined) return nowMs + againMs;
  try {
    while (due !== undefined && due.atMs <= clock.nowMs()) {
      await take(held, due.step);
      due = next(held.record);
      if (clock.nowMs() >= nowMs + turnMs || stopping.aborted) break;
    }
    await held.release();
    return restUntilMs(due, clock.nowMs());
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
    log.info(nameOf(record), error.message);
    return nowMs + againMs;
  }
}

function restUntilMs(due: DueStep<unknown> | undefined, nowMs: number): number {
  return Math.min(due?.atMs ?? Number.POSITIVE_INFINITY, nowMs + longestRestMs);
}
