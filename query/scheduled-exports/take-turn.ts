// One turn at a scheduled export: a file is a step, its manifest another, and so is a mail.

import { projectOfKey } from '../../platform/exports/export-record.ts';
import type { ScheduleRecord } from '../../platform/exports/schedule-record.ts';
import { type DueStep, isStepDue, takeDueSteps } from '../../platform/turns/due-steps.ts';
import { readyMs } from './periods.ts';
import type { HeldSchedule, ScheduleParts } from './schedule-parts.ts';
import { tellFailure } from './tell-failure.ts';
import { writeStep } from './write-period.ts';

/** Renewed while a file is written; longer than a mail takes. */
export const leaseMs = 60_000;

type Step = 'write' | 'tell';

/** What is due next, and when; undefined while nothing is. */
export function nextStep(record: ScheduleRecord): DueStep<Step> | undefined {
  const { state, telling, nextTellMs, nextTryMs } = record;
  if (state === 'deleted') return undefined;
  const tell: DueStep<Step> | undefined =
    telling === 'nothing' ? undefined : { step: 'tell', atMs: nextTellMs };
  if (state === 'paused') return tell;
  const write: DueStep<Step> = { step: 'write', atMs: Math.max(nextTryMs, readyMs(record)) };
  return tell !== undefined && tell.atMs <= write.atMs ? tell : write;
}

/** Whether a turn has something to do, as far as memory tells. */
export function isDue(record: ScheduleRecord, nowMs: number): boolean {
  return isStepDue({ leaseMs, next: nextStep }, record, nowMs);
}

/** Returns when its next turn is. Throws the bucket's errors. */
export async function takeTurn(parts: ScheduleParts, key: string): Promise<number> {
  const projectId = projectOfKey(key);
  const steps = {
    ...{ leaseMs, next: nextStep },
    take: (held: HeldSchedule['held'], step: Step) => take(parts, { key, projectId, held }, step),
    nameOf: ({ id }: ScheduleRecord) => ({ scheduleId: id }),
  };
  return takeDueSteps(parts, steps, key);
}

async function take(parts: ScheduleParts, one: HeldSchedule, step: Step): Promise<void> {
  switch (step) {
    case 'write':
      return writeStep(parts, one);
    case 'tell':
      return tellFailure(parts, one);
    default:
      return step satisfies never;
  }
}
