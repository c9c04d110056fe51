// Splits the question for a batch's stored sessions by time, so that one event of long ago does not make the table look
// through all the years since for everybody. It asks about the hours of each visitor's events alone: a visitor may have
// had a session in each hour between them. sessions.ts says whose sessions memory may lack, and asks.

import { dayMs, hourMs } from '../../platform/clock.ts';
import { sessionInactivityMs } from '../../platform/limits.ts';
import type { SessionlessRows } from '../build/thread-messages.ts';

/** One question: the visitors' sessions with rows in these hours, and from `fromMs` to `toMs`. */
export interface LookUp {
  /** By visitor; hours since 1970. */
  hours: ReadonlyMap<string, ReadonlySet<number>>;
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
  const hours = new Map<string, Set<number>>();
  const ask = (visitor: string, timeMs: number): void => {
    const asked = hours.get(visitor) ?? new Set();
    hours.set(
      visitor,
      asked.add(hourOf(timeMs - sessionInactivityMs)).add(hourOf(timeMs + sessionInactivityMs)),
    );
  };
  for (const index of indexes) {
    const timeMs = occurTimes[index] ?? 0;
    ask(visitors[visitorOf[index] ?? 0] ?? '', timeMs);
    const other = otherOf[index] ?? nobody;
    if (other !== nobody) ask(visitors[other] ?? '', timeMs);
  }
  return {
    hours,
    fromMs: (occurTimes[indexes.at(-1) ?? 0] ?? 0) - sessionInactivityMs,
    toMs: (occurTimes[indexes[0] ?? 0] ?? 0) + sessionInactivityMs,
  };
}

function hourOf(timeMs: number): number {
  return Math.floor(timeMs / hourMs);
}
