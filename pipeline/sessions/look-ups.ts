// Splits the question for a batch's stored sessions by time, so that one event of long ago does not make the table look
// through all the years since for everybody. sessions.ts says whose sessions memory may lack, and asks.

import { dayMs } from '../../platform/clock.ts';
import { sessionInactivityMs } from '../../platform/limits.ts';
import type { SessionlessRows } from '../build/thread-messages.ts';

/** One question: the visitors' sessions with rows from `fromMs` to `toMs`. */
export interface LookUp {
  visitors: string[];
  fromMs: number;
  toMs: number;
}

/** Questions for one batch. The last one takes all older times together, however long ago. */
const maxLookUps = 4;
/** The others' times. The table is ordered by project and day. */
const spanMs = dayMs;
/** SessionlessRows.otherOf of a row whose visitor has one id only. */
const nobody = -1;

/**
 * The look-ups for some rows, given as indexes, newest times first. Neighbouring events of a session are at most half
 * an hour apart, so the rows from half an hour before to half an hour after an event tell as much as the whole session.
 */
export function planLookUps(sessionless: SessionlessRows, indexes: readonly number[]): LookUp[] {
  const { occurTimes } = sessionless;
  const timeOf = (index: number): number => occurTimes[index] ?? 0;
  const newestFirst = indexes.toSorted((a, b) => timeOf(b) - timeOf(a));
  const lookUps: LookUp[] = [];
  let start = 0;
  while (start < newestFirst.length) {
    const oldestMs =
      lookUps.length + 1 < maxLookUps
        ? timeOf(newestFirst[start] ?? 0) - spanMs
        : Number.NEGATIVE_INFINITY;
    const older = newestFirst.findIndex((index, at) => at > start && timeOf(index) < oldestMs);
    const end = older === -1 ? newestFirst.length : older;
    lookUps.push(lookUpOf(sessionless, newestFirst.slice(start, end)));
    start = end;
  }
  return lookUps;
}

/** `indexes`: at least one, newest times first. */
function lookUpOf(sessionless: SessionlessRows, indexes: readonly number[]): LookUp {
  const { occurTimes, visitorOf, otherOf, visitors } = sessionless;
  const asked = new Set<number>();
  for (const index of indexes) {
    asked.add(visitorOf[index] ?? 0);
    const other = otherOf[index] ?? nobody;
    if (other !== nobody) asked.add(other);
  }
  return {
    visitors: [...asked].map((visitor) => visitors[visitor] ?? ''),
    fromMs: (occurTimes[indexes.at(-1) ?? 0] ?? 0) - sessionInactivityMs,
    toMs: (occurTimes[indexes[0] ?? 0] ?? 0) + sessionInactivityMs,
  };
}
