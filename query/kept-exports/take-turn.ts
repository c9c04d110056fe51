// One turn at a kept export: a file is a step, and so are the word to who asked and the removal.

import { dayMs } from '../../platform/clock.ts';
import { type ExportRecord, hasEnded, projectOfKey } from '../../platform/exports/export-record.ts';
import { type DueStep, isStepDue, takeDueSteps } from '../../platform/turns/due-steps.ts';
import type { ExportParts, HeldExport } from './export-parts.ts';
import { tellAsker } from './tell-asker.ts';
import { writeStep } from './write-step.ts';

/** Renewed while a file is written; longer than a mail takes. */
export const leaseMs = 60_000;
/** An export of which nothing was written for a day is given up, also by a process without its files. */
const giveUpMs = dayMs;

type Step = 'write' | 'tell' | 'expire' | 'remove' | 'give up';

/** What is due next, and when. `own`: whether the files are in this process's data directory. */
export function nextStep(record: ExportRecord, isOwn: boolean): DueStep<Step> | undefined {
  const { state, progressMs, expireMs, nextTryMs, hasFiles, isTold } = record;
  if (hasEnded(record)) return isOwn && hasFiles ? { step: 'remove', atMs: 0 } : undefined;
  if (state === 'ready') {
    const isFirst = !isTold && nextTryMs < expireMs;
    return isFirst ? { step: 'tell', atMs: nextTryMs } : { step: 'expire', atMs: expireMs };
  }
  const endMs = progressMs + giveUpMs;
  return isOwn && nextTryMs < endMs
    ? { step: 'write', atMs: nextTryMs }
    : { step: 'give up', atMs: endMs };
}

/** Whether a turn has something to do, as far as memory tells. */
export function isDue(record: ExportRecord, isOwn: boolean, nowMs: number): boolean {
  return isStepDue({ leaseMs, next: (one) => nextStep(one, isOwn) }, record, nowMs);
}

/** Returns when its next turn is. Throws the bucket's errors. */
export async function takeTurn(parts: ExportParts, key: string): Promise<number> {
  const projectId = projectOfKey(key);
  const isOwn = ({ directoryId }: ExportRecord): boolean => directoryId === parts.directoryId;
  const steps = {
    leaseMs,
    next: (record: ExportRecord) => nextStep(record, isOwn(record)),
    take: (held: HeldExport['held'], step: Step) =>
      take(parts, { key, projectId, held }, step, isOwn(held.record)),
    nameOf: ({ id }: ExportRecord) => ({ exportId: id }),
  };
  return takeDueSteps(parts, steps, key);
}

async function take(
  parts: ExportParts,
  one: HeldExport,
  step: Step,
  isOwn: boolean,
): Promise<void> {
  const { files, clock, log } = parts;
  const { held, projectId } = one;
  const { record } = held;
  const remove = async (): Promise<void> => {
    if (isOwn) await files.remove(projectId, record.id);
  };
  const ended = { parts: [], hasFiles: !isOwn, stateMs: clock.nowMs() };
  switch (step) {
    case 'write':
      return writeStep(parts, one);
    case 'tell':
      return tellAsker(parts, one);
    // Files go first: a record that says they are gone is never wrong.
    case 'expire':
      await remove();
      return held.write({ ...record, ...ended, state: 'expired' });
    case 'remove':
      await remove();
      return held.write({ ...record, parts: [], hasFiles: false });
    case 'give up': {
      await remove();
      const reason = record.reason || 'nothing of it could be written for a day';
      log.warn({ projectId, exportId: record.id, reason }, 'an export failed');
      return held.write({ ...record, ...ended, state: 'failed', reason });
    }
    default:
      return step satisfies never;
  }
}
