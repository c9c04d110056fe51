// The sessions that a writer keeps in memory, found by visitor and time. It decides nothing about which session an
// event joins beyond finding the nearest: sessions.ts does, and says when stored sessions may go.

import { sessionInactivityMs } from '../../platform/limits.ts';

export interface Session {
  readonly id: string;
  firstMs: number;
  lastMs: number;
  readonly visitors: string[];
  /** The last batch that has an event of the session. */
  batch: number;
}

/** Rows of one session that the table has. */
export interface StoredSession {
  /** A UUID as text. */
  id: string;
  firstMs: number;
  lastMs: number;
  /** Keys of the visitors whose rows they are; see visitor-key.ts. */
  visitors: readonly string[];
}

/** A full memory shrinks to this share of its bound. */
const shareKept = 0.75;
/** Sessions are found by the hours they touch, wide enough that all times in reach of an event lie in two at most. */
const bucketMs = 2 * sessionInactivityMs;

export class SessionMemory {
  readonly #byId = new Map<string, Session>();
  /** Sessions by visitor and bucket. */
  readonly #byPlace = new Map<string, Session[]>();

  get size(): number {
    return this.#byId.size;
  }

  /** The visitor's session in reach of `timeMs`, or `best` where that is as near. */
  nearest(visitor: string, timeMs: number, best: Session | undefined): Session | undefined {
    const first = Math.floor((timeMs - sessionInactivityMs) / bucketMs);
    const last = Math.floor((timeMs + sessionInactivityMs) / bucketMs);
    for (let bucket = first; bucket <= last; bucket++) {
      for (const session of this.#byPlace.get(placeKey(visitor, bucket)) ?? []) {
        const distanceMs = distance(session, timeMs);
        if (distanceMs > sessionInactivityMs) continue;
        const bestMs = best === undefined ? Number.POSITIVE_INFINITY : distance(best, timeMs);
        // At the same distance the lower id wins, so that the order in which sessions are kept does not matter.
        const isNearer = distanceMs < bestMs || (distanceMs === bestMs && isLess(session, best));
        if (isNearer) best = session;
      }
    }
    return best;
  }

  /** Adds a session with one event and no visitor. */
  start(id: string, timeMs: number): Session {
    const session = { id, firstMs: timeMs, lastMs: timeMs, visitors: [], batch: 0 };
    this.#byId.set(id, session);
    return session;
  }

  /** Adds a stored session, or extends the one of this id. */
  remember({ id, firstMs, lastMs, visitors }: StoredSession): void {
    let session = this.#byId.get(id);
    if (session === undefined) {
      session = { id, firstMs, lastMs, visitors: [], batch: 0 };
      this.#byId.set(id, session);
    }
    this.extend(session, firstMs, lastMs);
    for (const visitor of visitors) this.addVisitor(session, visitor);
  }

  extend(session: Session, firstMs: number, lastMs: number): void {
    if (firstMs >= session.firstMs && lastMs <= session.lastMs) return;
    const [firstBucket, lastBucket] = bucketsOf(session);
    session.firstMs = Math.min(session.firstMs, firstMs);
    session.lastMs = Math.max(session.lastMs, lastMs);
    const [from, to] = bucketsOf(session);
    for (let bucket = from; bucket <= to; bucket++) {
      if (bucket >= firstBucket && bucket <= lastBucket) continue;
      for (const visitor of session.visitors) this.#place(session, visitor, bucket);
    }
  }

  /** Makes the visitor's next events find the session. */
  addVisitor(session: Session, visitor: string): void {
    if (session.visitors.includes(visitor)) return;
    session.visitors.push(visitor);
    const [from, to] = bucketsOf(session);
    for (let bucket = from; bucket <= to; bucket++) this.#place(session, visitor, bucket);
  }

  /**
   * Lets sessions without events after `storedBatch` go, the oldest last event first, down to a share of `maxSessions`.
   * Returns the time from which on every session is still here.
   */
  letGo(maxSessions: number, storedBatch: number): number {
    const stored = [...this.#byId.values()].filter(({ batch }) => batch <= storedBatch);
    const lasts = Float64Array.from(stored, ({ lastMs }) => lastMs).sort();
    const surplus = this.#byId.size - Math.floor(maxSessions * shareKept);
    const beforeMs = lasts[Math.min(surplus, lasts.length - 1)] ?? Number.NEGATIVE_INFINITY;
    for (const session of stored) {
      if (session.lastMs >= beforeMs) continue;
      this.#byId.delete(session.id);
      const [from, to] = bucketsOf(session);
      for (const visitor of session.visitors) {
        for (let bucket = from; bucket <= to; bucket++) this.#displace(session, visitor, bucket);
      }
    }
    return beforeMs;
  }

  #place(session: Session, visitor: string, bucket: number): void {
    const key = placeKey(visitor, bucket);
    const there = this.#byPlace.get(key);
    if (there === undefined) this.#byPlace.set(key, [session]);
    else there.push(session);
  }

  #displace(session: Session, visitor: string, bucket: number): void {
    const key = placeKey(visitor, bucket);
    const left = this.#byPlace.get(key)?.filter((other) => other !== session) ?? [];
    if (left.length === 0) this.#byPlace.delete(key);
    else this.#byPlace.set(key, left);
  }
}

function distance({ firstMs, lastMs }: Session, timeMs: number): number {
  return Math.max(firstMs - timeMs, timeMs - lastMs, 0);
}

function isLess(session: Session, other: Session | undefined): boolean {
  return other === undefined || session.id < other.id;
}

function bucketsOf({ firstMs, lastMs }: Session): [number, number] {
  return [Math.floor(firstMs / bucketMs), Math.floor(lastMs / bucketMs)];
}

function placeKey(visitor: string, bucket: number): string {
  return `${visitor}\0${bucket}`;
}
