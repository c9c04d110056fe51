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
/** A session that is longer than so many buckets lies in buckets so many times as wide: years make no more places. */
const bucketsALevel = 8;

/** The buckets in which a session lies. */
interface Places {
  level: number;
  from: number;
  to: number;
}

export class SessionMemory {
  readonly #byId = new Map<string, Session>();
  /** Sessions by visitor and bucket. */
  readonly #byPlace = new Map<string, Session[]>();
  #places = 0;
  /** No session lies at a higher level. */
  #topLevel = 0;

  /** Sessions; one counts as often as it is placed, for each bucket and visitor, because that takes the memory. */
  get size(): number {
    return this.#places;
  }

  /** The visitor's session in reach of `timeMs`, or `best` where that is as near. */
  nearest(visitor: string, timeMs: number, best: Session | undefined): Session | undefined {
    for (let level = 0; level <= this.#topLevel; level++) {
      const first = bucketOf(timeMs - sessionInactivityMs, level);
      const last = bucketOf(timeMs + sessionInactivityMs, level);
      for (let bucket = first; bucket <= last; bucket++) {
        const there = this.#byPlace.get(placeKey(visitor, level, bucket));
        if (there !== undefined) best = nearestOf(there, timeMs, best);
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
    const held = placesOf(session);
    session.firstMs = Math.min(session.firstMs, firstMs);
    session.lastMs = Math.max(session.lastMs, lastMs);
    const places = placesOf(session);
    const isMoved = places.level !== held.level;
    for (const visitor of session.visitors) {
      if (isMoved) this.#displace(session, visitor, held);
      this.#place(session, visitor, places, isMoved ? undefined : held);
    }
  }

  /** Makes the visitor's next events find the session. */
  addVisitor(session: Session, visitor: string): void {
    if (session.visitors.includes(visitor)) return;
    session.visitors.push(visitor);
    this.#place(session, visitor, placesOf(session), undefined);
  }

  /**
   * Lets sessions without events after `storedBatch` go, the oldest last event first, until `size` is a share of
   * `maxSize`. Returns the time from which on every session is still here.
   */
  letGo(maxSize: number, storedBatch: number): number {
    const stored = [...this.#byId.values()].filter(({ batch }) => batch <= storedBatch);
    stored.sort((a, b) => a.lastMs - b.lastMs);
    const kept = maxSize * shareKept;
    let beforeMs = Number.NEGATIVE_INFINITY;
    for (const session of stored) {
      // Sessions with the same end go together: the answer says nothing of one of them alone.
      if (this.#places <= kept && session.lastMs >= beforeMs) break;
      beforeMs = session.lastMs + 1;
      this.#byId.delete(session.id);
      const places = placesOf(session);
      for (const visitor of session.visitors) this.#displace(session, visitor, places);
    }
    return beforeMs;
  }

  /** Places the session in these buckets, but for those of `held` in which it is. */
  #place(session: Session, visitor: string, places: Places, held: Places | undefined): void {
    const { level, from, to } = places;
    this.#topLevel = Math.max(this.#topLevel, level);
    for (let bucket = from; bucket <= to; bucket++) {
      if (held !== undefined && bucket >= held.from && bucket <= held.to) continue;
      const key = placeKey(visitor, level, bucket);
      const there = this.#byPlace.get(key);
      if (there === undefined) this.#byPlace.set(key, [session]);
      else there.push(session);
      this.#places++;
    }
  }

  #displace(session: Session, visitor: string, { level, from, to }: Places): void {
    for (let bucket = from; bucket <= to; bucket++) {
      const key = placeKey(visitor, level, bucket);
      const left = this.#byPlace.get(key)?.filter((other) => other !== session) ?? [];
      if (left.length === 0) this.#byPlace.delete(key);
      else this.#byPlace.set(key, left);
      this.#places--;
    }
  }
}

/** The nearest of these sessions in reach of `timeMs`, or `best` where that is as near. */
function nearestOf(
  sessions: readonly Session[],
  timeMs: number,
  best: Session | undefined,
): Session | undefined {
  for (const session of sessions) {
    const distanceMs = distance(session, timeMs);
    if (distanceMs > sessionInactivityMs) continue;
    const bestMs = best === undefined ? Number.POSITIVE_INFINITY : distance(best, timeMs);
    // At the same distance the lower id wins, so that the order in which sessions are kept does not matter.
    const isNearer = distanceMs < bestMs || (distanceMs === bestMs && isLess(session, best));
    if (isNearer) best = session;
  }
  return best;
}

function distance({ firstMs, lastMs }: Session, timeMs: number): number {
  return Math.max(firstMs - timeMs, timeMs - lastMs, 0);
}

function isLess(session: Session, other: Session | undefined): boolean {
  return other === undefined || session.id < other.id;
}

/** Nine buckets at most. */
function placesOf({ firstMs, lastMs }: Session): Places {
  let level = 0;
  while (lastMs - firstMs > bucketsALevel * bucketMs * bucketsALevel ** level) level++;
  return { level, from: bucketOf(firstMs, level), to: bucketOf(lastMs, level) };
}

function bucketOf(timeMs: number, level: number): number {
  return Math.floor(timeMs / (bucketMs * bucketsALevel ** level));
}

function placeKey(visitor: string, level: number, bucket: number): string {
  return `${visitor}\0${level}.${bucket}`;
}
