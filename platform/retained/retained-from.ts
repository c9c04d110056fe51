// How long a project keeps its events: the field `retention_days`. An event goes once it is older than so many days and
// the day of UTC is over, because every table of sums has days of UTC: so a project has the day of today and the
// `retention_days` before it, and no day of a sum is ever divided.

import { type Clock, dayMs } from '../clock.ts';

/** Ten years: who wants more keeps them for ever. */
export const maxRetentionDays = 3_650;

/** 0 is for ever. */
export function isRetentionDays(days: unknown): days is number {
  return (
    typeof days === 'number' && Number.isInteger(days) && days >= 0 && days <= maxRetentionDays
  );
}

/** The moment before which a project has no events, ms since the epoch; undefined where it keeps them for ever. */
export type RetainedFrom = (projectId: string) => number | undefined;

/** The beginning of a day of UTC. */
export function retainedFromMs(
  retentionDays: number | undefined,
  nowMs: number,
): number | undefined {
  if (retentionDays === undefined || retentionDays === 0) return undefined;
  return (Math.floor(nowMs / dayMs) - retentionDays) * dayMs;
}

export function createRetainedFrom(
  projectOf: (projectId: string) => { retentionDays?: number } | undefined,
  clock: Clock,
): RetainedFrom {
  return (projectId) => retainedFromMs(projectOf(projectId)?.retentionDays, clock.nowMs());
}
