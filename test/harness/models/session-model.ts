// The session of each event without one, as simply as possible: one event after the other, nothing let go, no batches,
// no table. Tests compare the pipeline's answers with it.

import { sessionIdOf } from '../../../pipeline/sessions/sessions.ts';

const reachMs = 30 * 60_000;

interface Session {
  id: string;
  visitors: Set<string>;
  firstMs: number;
  lastMs: number;
}

export class SessionModel {
  readonly #sessions: Session[] = [];

  /** The session of the next stored event of `visitor`, whose id beyond the nearest midnight is `other`. */
  assign(visitor: string, other: string | undefined, timeMs: number): string {
    const [nearest] = this.#sessions
      .filter(({ visitors }) => visitors.has(visitor) || (other && visitors.has(other)))
      .filter((session) => distance(session, timeMs) <= reachMs)
      .sort((a, b) => distance(a, timeMs) - distance(b, timeMs) || (a.id < b.id ? -1 : 1));
    const session = nearest ?? {
      id: sessionIdOf(visitor, timeMs),
      visitors: new Set(),
      firstMs: timeMs,
      lastMs: timeMs,
    };
    if (nearest === undefined) this.#sessions.push(session);
    session.visitors.add(visitor);
    session.firstMs = Math.min(session.firstMs, timeMs);
    session.lastMs = Math.max(session.lastMs, timeMs);
    return session.id;
  }
}

function distance({ firstMs, lastMs }: Session, timeMs: number): number {
  if (timeMs < firstMs) return firstMs - timeMs;
  return timeMs > lastMs ? timeMs - lastMs : 0;
}
