// The periods of a scheduled export, when each is complete, and the names of its files. A period is an hour or a day of
// UTC, by when the service received an event: nothing can come late to it.

import { dayMs, hourMs } from '../../platform/clock.ts';
import type { Cadence, ScheduleRecord } from '../../platform/exports/schedule-record.ts';

export interface Period {
  fromMs: number;
  toMs: number;
}

const lengthsMs: Readonly<Record<Cadence, number>> = { hourly: hourMs, daily: dayMs };

/** How far back a person may have periods written. */
export const maxPeriodsBack = 1_000;

/**
 * An event has the moment at which its request began to come. It is acknowledged within a minute for the body
 * (platform/http/servers/patience.ts) and the broker's deadline, or never; the rest is for clocks of several machines.
 */
export const settleMs = 300_000;

/** The period of a moment. */
export function periodOf(cadence: Cadence, atMs: number): Period {
  const lengthMs = lengthsMs[cadence];
  const fromMs = Math.floor(atMs / lengthMs) * lengthMs;
  return { fromMs, toMs: fromMs + lengthMs };
}

export function lengthOf(cadence: Cadence): number {
  return lengthsMs[cadence];
}

/** When the next period may be written at the earliest. */
export function readyMs({ cadence, nextFromMs, progress }: ScheduleRecord): number {
  return (progress ?? periodOf(cadence, nextFromMs)).toMs + settleMs;
}

/**
 * The last period that ended before, or the one from `nextFromMs` where that is later: the rows of persons are those of
 * the moment at which they are written, so that of several periods missed the last one is enough.
 */
export function latestPeriod(cadence: Cadence, nextFromMs: number, nowMs: number): Period {
  const lengthMs = lengthsMs[cadence];
  return periodOf(cadence, Math.max(nextFromMs, nowMs - settleMs - lengthMs));
}

/** It sorts before the files, and readers of a whole folder pass names over that begin so. */
export const manifestName = '_manifest.json';

/** Where the files of a period are: `PREFIX/PROJECT/events/day=2026-11-27/hour=13/`. */
export function folderOf(
  { prefix }: { prefix: string },
  { projectId, what }: { projectId: string; what: string },
  cadence: Cadence,
  fromMs: number,
): string {
  const text = new Date(fromMs).toISOString();
  const day = `${prefix}${projectId}/${what}/day=${text.slice(0, 10)}/`;
  switch (cadence) {
    case 'hourly':
      return `${day}hour=${text.slice(11, 13)}/`;
    case 'daily':
      return day;
    default:
      return cadence satisfies never;
  }
}
