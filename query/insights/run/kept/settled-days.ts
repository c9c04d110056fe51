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

  /**
   * Notes the events of each day from `first` to `last`, days since the epoch, but of none to come; a day without
   * events has no entry.
   */
  see(projectId: string, { first, last, events }: DaysLook, nowMs: number): void {
    const today = Math.floor(nowMs / dayMs);
    for (let day = first; day <= Math.min(last, today); day++) {
      this.#see(keyOf(projectId, day), events.get(day) ?? 0, nowMs);
    }
  }

  #see(key: string, events: number, nowMs: number): void {
    if (this.#days.get(key)?.events === events) return;
    this.#days.delete(key);
    setBounded(this.#days, key, { events, sinceMs: nowMs }, maxDays);
  }

  /**
   * Past days of those that were looked at, but for the ones around them, that are not kept and that nothing is on its
   * way to: every event that was accepted before `untilMs` is stored, in all tables.
   */
  daysToKeep(
    projectId: string,
    { first, last, kept }: DaysLook,
    reachDays: number,
    { untilMs, nowMs }: { untilMs: number; nowMs: number },
  ): number[] {
    const today = Math.floor(nowMs / dayMs);
    const days: number[] = [];
    for (let day = first + reachDays; day <= Math.min(last, today - 1) - reachDays; day++) {
      const around = [day - reachDays, day, day + reachDays];
      const isSettled = around.every((one) => this.#isSettled(keyOf(projectId, one), untilMs));
      if (!kept.has(day) && isSettled) days.push(day);
    }
    return days;
  }

  #isSettled(key: string, untilMs: number): boolean {
    const seen = this.#days.get(key);
    return seen !== undefined && untilMs >= seen.sinceMs;
  }
}

function keyOf(projectId: string, day: number): string {
  return `${day} ${projectId}`;
}
