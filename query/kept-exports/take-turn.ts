// One turn at a kept export: takes its lease, does the step that is due, writes it, and goes on where that was quick. A
// file is a step, so that others have their turns in between, and a process that dies leaves the rest to the turn after
// its lease.

import { dayMs } from '../../platform/clock.ts';
import { type ExportRecord, hasEnded, projectOfKey } from '../../platform/exports/export-record.ts';
import { HeldRecord, isLeased, LeaseLost } from '../../platform/turns/held-record.ts';
import type { ExportParts, HeldExport } from './export-parts.ts';
import { tellAsker } from './tell-asker.ts';
import { writeStep } from './write-step.ts';

/** Renewed while a file is written; longer than a mail takes. */
export const leaseMs = 60_000;
const againMs = 1_000;
/** A turn that has lasted so long begins no further step. */
const turnMs = 3_000;
/** Another process may change the record. */
const longestRestMs = 600_000;
/** An export of which nothing was written for a day is given up, also by a process without its files. */
const giveUpMs = dayMs;

type Step = 'write' | 'tell' | 'expire' | 'remove' | 'give up';

interface DueStep {
  step: Step;
  atMs: number;
}

/** What is due next, and when. `own`: whether the files are in this process's data directory. */
export function nextStep(record: ExportRecord, isOwn: boolean): DueStep | undefined {
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
  const due = nextStep(record, isOwn);
  return due !== undefined && due.atMs <= nowMs && !isLeased(record, nowMs, leaseMs);
}

/** Returns when its next turn is. Throws the bucket's errors. */
export async function takeTurn(parts: ExportParts, key: string): Promise<number> {
  const { states, clock, log, directoryId } = parts;
  const nowMs = clock.nowMs();
  const found = await states.get(key);
  if (found.kind !== 'found') return nowMs + longestRestMs;
  const { record } = found;
  const isOwn = record.directoryId === directoryId;
  if (isLeased(record, nowMs, leaseMs)) return record.leaseEndMs;
  const due = nextStep(record, isOwn);
  const atMs = due?.atMs ?? Number.POSITIVE_INFINITY;
  if (due === undefined || atMs > nowMs) return Math.min(atMs, nowMs + longestRestMs);
  const held = await HeldRecord.take({ states, clock, leaseMs }, key, found, record);
  if (held === undefined) return nowMs + againMs;
  const one = { key, projectId: projectOfKey(key), held };
  try {
    let next: DueStep | undefined = due;
    while (next !== undefined) {
      await take(parts, one, next.step, isOwn);
      next = nextStep(held.record, isOwn);
      if (!goesOn(parts, next, nowMs + turnMs)) break;
    }
    await held.release();
    return next?.atMs ?? nowMs + longestRestMs;
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
    log.info({ exportId: record.id }, error.message);
    return nowMs + againMs;
  }
}

function goesOn(
  { clock, stopping }: ExportParts,
  next: DueStep | undefined,
  endMs: number,
): boolean {
  const nowMs = clock.nowMs();
  return next !== undefined && next.atMs <= nowMs && nowMs < endMs && !stopping.aborted;
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
