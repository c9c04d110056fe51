// Which days have nothing on its way: every insert that made the number of a day's events has ended. An insert fills
// one table after the other, so that a number may be seen before the rows that other tables get with it.

import { dayMs } from '../../../../platform/clock.ts';
import { setBounded } from '../../../../platform/memory/bounded-map.ts';
import type { DaysLook } from './look-at-days.ts';

interface Seen {
  events: number;
  /** When this number was seen first, in milliseconds since the epoch. */
  sinceMs: number;
}

/** Of all projects: some 30 MB. A day that was forgotten is seen again at the next question. */
const maxDays = 200_000;

export class SettledDays {
  readonly #days = new Map<string, Seen>();

  /** Notes the events of each day that was looked at, but of none to come. */
  see(look: DaysLook, nowMs: number): void {
    const { projectId, first, last, reachDays } = look.days;
    const today = Math.floor(nowMs / dayMs);
    for (let day = first - reachDays; day <= Math.min(last + reachDays, today); day++) {
      const key = keyOf(projectId, day);
      const events = look.eventsOf(day);
      if (this.#days.get(key)?.events === events) continue;
      this.#days.delete(key);
      setBounded(this.#days, key, { events, sinceMs: nowMs }, maxDays);
    }
  }

  /**
   * Past days, ascending, that are not kept and that nothing is on its way to: every event that was accepted before
   * `untilMs` is stored, in all tables.
   */
  daysToKeep(look: DaysLook, { untilMs, nowMs }: { untilMs: number; nowMs: number }): number[] {
    const { projectId, first, last, reachDays } = look.days;
    const today = Math.floor(nowMs / dayMs);
    const isSettled = (day: number): boolean => {
      const seen = this.#days.get(keyOf(projectId, day));
      return seen !== undefined && untilMs >= seen.sinceMs;
    };
    const days: number[] = [];
    for (let day = first; day <= Math.min(last, today - 1 - reachDays); day++) {
      if (!look.isKept(day) && look.around(day).every(isSettled)) days.push(day);
    }
    return days;
  }
}

function keyOf(projectId: string, day: number): string {
  return `${day} ${projectId}`;
}
