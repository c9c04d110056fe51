// One turn at a scheduled export: takes its lease, does the step that is due, writes it, and goes on where that was
// quick. A file is a step, so that others have their turns in between, and a process that dies leaves the rest to the
// turn after its lease.

import { projectOfKey } from '../../platform/exports/export-record.ts';
import type { ScheduleRecord } from '../../platform/exports/schedule-record.ts';
import { HeldRecord, isLeased, LeaseLost } from '../../platform/turns/held-record.ts';
import { readyMs } from './periods.ts';
import type { HeldSchedule, ScheduleParts } from './schedule-parts.ts';
import { tellFailure } from './tell-failure.ts';
import { writeStep } from './write-period.ts';

/** Renewed while a file is written; longer than a mail takes. */
export const leaseMs = 60_000;
const againMs = 1_000;
/** A turn that has lasted so long begins no further step. */
const turnMs = 3_000;
/** Another process may change the record. */
const longestRestMs = 600_000;

interface DueStep {
  step: 'write' | 'tell';
  atMs: number;
}

/** What is due next, and when; undefined while nothing is. */
export function nextStep(record: ScheduleRecord): DueStep | undefined {
  const { state, telling, nextTellMs, nextTryMs } = record;
  if (state === 'deleted') return undefined;
  const tell: DueStep | undefined =
    telling === 'nothing' ? undefined : { step: 'tell', atMs: nextTellMs };
  if (state === 'paused') return tell;
  const write: DueStep = { step: 'write', atMs: Math.max(nextTryMs, readyMs(record)) };
  return tell !== undefined && tell.atMs <= write.atMs ? tell : write;
}

/** Whether a turn has something to do, as far as memory tells. */
export function isDue(record: ScheduleRecord, nowMs: number): boolean {
  const due = nextStep(record);
  return due !== undefined && due.atMs <= nowMs && !isLeased(record, nowMs, leaseMs);
}

/** Returns when its next turn is. Throws the bucket's errors. */
export async function takeTurn(parts: ScheduleParts, key: string): Promise<number> {
  const { states, clock, log, stopping } = parts;
  const nowMs = clock.nowMs();
  const found = await states.get(key);
  if (found.kind !== 'found') return nowMs + longestRestMs;
  const { record } = found;
  if (isLeased(record, nowMs, leaseMs)) return record.leaseEndMs;
  const due = nextStep(record);
  const atMs = due?.atMs ?? Number.POSITIVE_INFINITY;
  if (due === undefined || atMs > nowMs) return Math.min(atMs, nowMs + longestRestMs);
  const held = await HeldRecord.take({ states, clock, leaseMs }, key, found, record);
  if (held === undefined) return nowMs + againMs;
  const one = { key, projectId: projectOfKey(key), held };
  try {
    let next: DueStep | undefined = due;
    while (next !== undefined && next.atMs <= clock.nowMs()) {
      await take(parts, one, next.step);
      next = nextStep(held.record);
      if (clock.nowMs() >= nowMs + turnMs || stopping.aborted) break;
    }
    await held.release();
    return Math.min(next?.atMs ?? Number.POSITIVE_INFINITY, clock.nowMs() + longestRestMs);
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
    log.info({ scheduleId: record.id }, error.message);
    return nowMs + againMs;
  }
}

async function take(parts: ScheduleParts, one: HeldSchedule, step: DueStep['step']): Promise<void> {
  switch (step) {
    case 'write':
      return writeStep(parts, one);
    case 'tell':
      return tellFailure(parts, one);
    default:
      return step satisfies never;
  }
}
