// Which days have nothing on its way: every insert that made the number of a day's events has ended. An insert fills
// one table after the other, so that a number may be seen before the rows that other tables get with it.

import { setBounded } from '../../../platform/memory/bounded-map.ts';

interface Seen {
  events: number;
  /** When this number was seen first, in milliseconds since the epoch. */
  sinceMs: number;
}

const maxProjects = 1_000;

export class SettledDays {
  readonly #days = new Map<string, Map<number, Seen>>();

  /** Notes the events of each day from `first` to `last`, days since the epoch; a day without events has no entry. */
  see(
    projectId: string,
    { first, last, events }: { first: number; last: number; events: ReadonlyMap<number, number> },
    nowMs: number,
  ): void {
    const days = this.#days.get(projectId) ?? new Map<number, Seen>();
    if (!this.#days.has(projectId)) setBounded(this.#days, projectId, days, maxProjects);
    for (let day = first; day <= last; day++) {
      const count = events.get(day) ?? 0;
      if (days.get(day)?.events !== count) days.set(day, { events: count, sinceMs: nowMs });
    }
  }

  /** `completeUntilMs`: every event that was accepted before is stored, in all tables. */
  isSettled(projectId: string, day: number, completeUntilMs: number): boolean {
    const seen = this.#days.get(projectId)?.get(day);
    return seen !== undefined && completeUntilMs >= seen.sinceMs;
  }
}
