// Which days have nothing on its way: every insert that made the number of a day's events has ended. An insert fills
// one table after the other, so that a number may be seen before the rows that other tables get with it.

import { dayMs } from '../../../platform/clock.ts';
import { setBounded } from '../../../platform/memory/bounded-map.ts';

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
  see(
    projectId: string,
    { first, last, events }: { first: number; last: number; events: ReadonlyMap<number, number> },
    nowMs: number,
  ): void {
    const today = Math.floor(nowMs / dayMs);
    for (let day = first; day <= Math.min(last, today); day++) {
      const key = keyOf(projectId, day);
      const count = events.get(day) ?? 0;
      if (this.#days.get(key)?.events === count) continue;
      this.#days.delete(key);
      setBounded(this.#days, key, { events: count, sinceMs: nowMs }, maxDays);
    }
  }

  /** `completeUntilMs`: every event that was accepted before is stored, in all tables. */
  isSettled(projectId: string, day: number, completeUntilMs: number): boolean {
    const seen = this.#days.get(keyOf(projectId, day));
    return seen !== undefined && completeUntilMs >= seen.sinceMs;
  }
}

function keyOf(projectId: string, day: number): string {
  return `${day} ${projectId}`;
}
