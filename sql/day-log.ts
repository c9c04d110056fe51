// Tells how far a migration is that works day by day, which may take minutes: seldom enough for the log of an instance
// with years of days. Nothing here knows what is done.

import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';

/** Called before work on a day, or on several that begin with it: so many steps of all are done. */
export type TellDay = (progress: { day: string; done: number; of: number }) => void;

const everyMs = 2_000;

/** The lines name the migration and the progress of one of its statements. */
export function createDayLog(log: Log, migration: string, clock: Clock): TellDay {
  let toldAtMs = clock.nowMs();
  return (progress) => {
    const nowMs = clock.nowMs();
    if (nowMs - toldAtMs < everyMs) return;
    toldAtMs = nowMs;
    log.info({ migration, ...progress }, 'a migration goes on');
  };
}
