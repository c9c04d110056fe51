// Visits in plain words, beside which the lists of the product are held: the events of a session on a UTC day without
// any on the day before, and on the day after it.

import { dayMs } from '../../../platform/clock.ts';
import type { StoredRow } from '../tables/stored-events.ts';

const dayOf = ({ occurTimeMs }: StoredRow): number => Math.floor(occurTimeMs / dayMs);

export interface ModelVisit {
  sessionId: string;
  startMs: number;
  /** By time, then by id. */
  events: StoredRow[];
}

/** Newest first, then by session id. */
export function modelVisits(rows: readonly StoredRow[]): ModelVisit[] {
  const sessions = new Map<string, StoredRow[]>();
  for (const row of rows)
    sessions.set(row.sessionId, [...(sessions.get(row.sessionId) ?? []), row]);
  const visits = [...sessions].flatMap(([sessionId, own]) => {
    const days = new Set(own.map(dayOf));
    return [...days]
      .filter((day) => !days.has(day - 1))
      .map((day) => {
        const events = own
          .filter((row) => dayOf(row) === day || dayOf(row) === day + 1)
          .sort(inOrder);
        return { sessionId, startMs: events[0]?.occurTimeMs ?? 0, events };
      });
  });
  return visits.sort(
    (one, other) => other.startMs - one.startMs || (other.sessionId > one.sessionId ? 1 : -1),
  );
}

function inOrder(one: StoredRow, other: StoredRow): number {
  return one.occurTimeMs - other.occurTimeMs || (one.eventId > other.eventId ? 1 : -1);
}
