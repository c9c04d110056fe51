// Gives a session to the events whose source has none: those of one person without half an hour between them.

import { uuidV5 } from '../../ingest/validation/text/uuid.ts';
import { sessionInactivityMs } from '../../platform/limits.ts';
import { setBounded } from '../../platform/memory/bounded-map.ts';
import type { HeldEvent } from './held-event.ts';

interface Visit {
  id: string;
  firstMs: number;
  lastMs: number;
}

const maxOpenVisits = 200_000;

/** Returns a function that gives the visit of a moment; moments may be half an hour out of order. */
export function createVisits(
  newId: (person: string, startMs: number) => string,
): (person: string, timeMs: number) => string {
  const open = new Map<string, Visit>();
  return (person, timeMs) => {
    const found = open.get(person);
    const joins =
      found !== undefined &&
      timeMs >= found.firstMs - sessionInactivityMs &&
      timeMs <= found.lastMs + sessionInactivityMs;
    const visit = joins
      ? {
          ...found,
          firstMs: Math.min(found.firstMs, timeMs),
          lastMs: Math.max(found.lastMs, timeMs),
        }
      : { id: newId(person, timeMs), firstMs: timeMs, lastMs: timeMs };
    // Moves the person to the end of the map's order: its first entry is then who has been quiet for longest.
    open.delete(person);
    setBounded(open, person, visit, maxOpenVisits);
    return visit.id;
  };
}

/** Gives a session to the events that have none. `projectId` and `source` make ids that nobody else makes. */
export function createSessionWriter(
  projectId: string,
  source: string,
): (events: readonly HeldEvent[]) => void {
  const visitOf = createVisits((person, startMs) =>
    uuidV5(projectId, JSON.stringify([source, 'visit', person, startMs])),
  );
  return (events) => {
    for (const event of events) {
      if (event.hasSession) continue;
      event.sessionId = visitOf(event.distinctId, event.timeMs);
      event.hasSession = true;
    }
  };
}
