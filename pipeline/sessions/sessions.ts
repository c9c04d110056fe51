// Which session each event without one belongs to: the one whose first and last event are at most half an hour away,
// else a new one. Sessions never merge. A function of the events stored before and of the batch, however much of the
// former is in memory: what memory has let go is looked up in the table, so that a batch built again gets the same
// sessions.

import { createHash } from 'node:crypto';
import { sessionInactivityMs } from '../../platform/limits.ts';
import type { SessionlessRows } from '../build/thread-messages.ts';
import { formatUuid, parseUuid } from '../build/uuid.ts';

/** Rows of one session that the table has. */
export interface StoredSession {
  /** A UUID as text. */
  id: string;
  firstMs: number;
  lastMs: number;
  /** Keys of those whose rows they are: see session-rows.ts. */
  visitors: readonly string[];
}

/** The stored sessions of some visitors with rows from `fromMs` to `toMs`; tries until it knows. */
export type FindSessions = (
  visitors: readonly string[],
  fromMs: number,
  toMs: number,
) => Promise<readonly StoredSession[]>;

interface Session {
  readonly id: string;
  firstMs: number;
  lastMs: number;
  readonly visitors: string[];
  /** The last batch that has an event of it. */
  batch: number;
}

export interface SessionsOptions {
  find: FindSessions;
  /** Sessions kept in memory, besides those of the batches in hand. */
  maxSessions?: number;
}

/** About 400 bytes each. */
const defaultMaxSessions = 200_000;
/** A full memory lets so many go at once, the longest closed ones first. */
const shareKept = 0.75;
/** Sessions are found by the hours they touch: wide enough that what is in reach of an event lies in two at most. */
const bucketMs = 2 * sessionInactivityMs;
const uuidBytes = 16;
const nobody = -1;

export class Sessions {
  readonly #find: FindSessions;
  readonly #maxSessions: number;
  readonly #byId = new Map<string, Session>();
  readonly #byPlace = new Map<string, Session[]>();
  /** Every stored session whose last event is at or after this is in memory. */
  #completeFromMs = Number.POSITIVE_INFINITY;
  #assigned = 0;
  #done = 0;

  constructor({ find, maxSessions = defaultMaxSessions }: SessionsOptions) {
    this.#find = find;
    this.#maxSessions = maxSessions;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Takes in what was stored before the first batch: every session with rows at or after `completeFromMs`. */
  load(stored: readonly StoredSession[], completeFromMs: number): void {
    for (const session of stored) this.#remember(session);
    this.#completeFromMs = completeFromMs;
  }

  /**
   * The session ids of a batch's rows, 16 bytes each in their order, zeros for those whose bit in `dropped` is set.
   * To be called once for every batch, in stream order; `done` follows when the batch is stored.
   */
  async assign(
    sessionless: SessionlessRows,
    dropped: Uint8Array | undefined,
  ): Promise<Uint8Array<ArrayBuffer>> {
    this.#assigned++;
    const { rows, occurTimes } = sessionless;
    await this.#lookUp(sessionless, dropped);
    const ids = new Uint8Array(rows.length * uuidBytes);
    const words = new Uint32Array(ids.buffer);
    const id = new Uint32Array(4);
    for (let index = 0; index < rows.length; index++) {
      if (isDropped(dropped, rows[index] ?? 0)) continue;
      const timeMs = occurTimes[index] ?? 0;
      const session = this.#join(sessionless, index, timeMs);
      parseUuid(session.id, id);
      words.set(id, index * 4);
    }
    return ids;
  }

  /** The oldest batch in hand is stored. */
  done(): void {
    this.#done++;
    if (this.#byId.size > this.#maxSessions) this.#letGo();
  }

  /** Brings in the sessions that an event of the batch could join and that memory may have let go. */
  async #lookUp(sessionless: SessionlessRows, dropped: Uint8Array | undefined): Promise<void> {
    const { rows, occurTimes, visitorOf, otherOf, visitors } = sessionless;
    const asked = new Set<number>();
    let fromMs = Number.POSITIVE_INFINITY;
    let toMs = Number.NEGATIVE_INFINITY;
    for (let index = 0; index < rows.length; index++) {
      const timeMs = occurTimes[index] ?? 0;
      if (timeMs - sessionInactivityMs >= this.#completeFromMs) continue;
      if (isDropped(dropped, rows[index] ?? 0)) continue;
      asked.add(visitorOf[index] ?? 0);
      const other = otherOf[index] ?? nobody;
      if (other !== nobody) asked.add(other);
      fromMs = Math.min(fromMs, timeMs);
      toMs = Math.max(toMs, timeMs);
    }
    if (asked.size === 0) return;
    const keys = [...asked].map((visitor) => visitors[visitor] ?? '');
    // Between two neighbouring events of a session lies half an hour at most: rows from half an hour before to half an
    // hour after tell as much as the whole session does.
    const found = await this.#find(keys, fromMs - sessionInactivityMs, toMs + sessionInactivityMs);
    for (const session of found) this.#remember(session);
  }

  #join(sessionless: SessionlessRows, index: number, timeMs: number): Session {
    const { visitorOf, otherOf, visitors } = sessionless;
    const visitor = visitors[visitorOf[index] ?? 0] ?? '';
    const other = otherOf[index] ?? nobody;
    let nearest = this.#nearest(visitor, timeMs, undefined);
    if (other !== nobody) nearest = this.#nearest(visitors[other] ?? '', timeMs, nearest);
    const session = nearest ?? this.#start(visitor, timeMs);
    this.#extend(session, timeMs, timeMs);
    this.#know(session, visitor);
    session.batch = this.#assigned;
    return session;
  }

  /** The visitor's session in reach of `timeMs`, or `best` where that is as near. */
  #nearest(visitor: string, timeMs: number, best: Session | undefined): Session | undefined {
    const first = Math.floor((timeMs - sessionInactivityMs) / bucketMs);
    const last = Math.floor((timeMs + sessionInactivityMs) / bucketMs);
    for (let bucket = first; bucket <= last; bucket++) {
      for (const session of this.#byPlace.get(placeKey(visitor, bucket)) ?? []) {
        const distanceMs = distance(session, timeMs);
        if (distanceMs > sessionInactivityMs) continue;
        const bestMs = best === undefined ? Number.POSITIVE_INFINITY : distance(best, timeMs);
        // Of two at the same distance always the same one, in whatever order they are kept.
        const isNearer = distanceMs < bestMs || (distanceMs === bestMs && isLess(session, best));
        if (isNearer) best = session;
      }
    }
    return best;
  }

  #start(visitor: string, timeMs: number): Session {
    const id = sessionIdOf(visitor, timeMs);
    const session = { id, firstMs: timeMs, lastMs: timeMs, visitors: [], batch: 0 };
    this.#byId.set(id, session);
    return session;
  }

  #remember({ id, firstMs, lastMs, visitors }: StoredSession): void {
    let session = this.#byId.get(id);
    if (session === undefined) {
      session = { id, firstMs, lastMs, visitors: [], batch: 0 };
      this.#byId.set(id, session);
    }
    this.#extend(session, firstMs, lastMs);
    for (const visitor of visitors) this.#know(session, visitor);
  }

  #extend(session: Session, firstMs: number, lastMs: number): void {
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

  /** The visitor's next events find the session. */
  #know(session: Session, visitor: string): void {
    if (session.visitors.includes(visitor)) return;
    session.visitors.push(visitor);
    const [from, to] = bucketsOf(session);
    for (let bucket = from; bucket <= to; bucket++) this.#place(session, visitor, bucket);
  }

  #place(session: Session, visitor: string, bucket: number): void {
    const key = placeKey(visitor, bucket);
    const there = this.#byPlace.get(key);
    if (there === undefined) this.#byPlace.set(key, [session]);
    else there.push(session);
  }

  /** Lets go of stored sessions, those whose last event is oldest first. */
  #letGo(): void {
    const stored = [...this.#byId.values()].filter(({ batch }) => batch <= this.#done);
    const lasts = Float64Array.from(stored, ({ lastMs }) => lastMs).sort();
    const surplus = this.#byId.size - Math.floor(this.#maxSessions * shareKept);
    const beforeMs = lasts[Math.min(surplus, lasts.length - 1)] ?? Number.NEGATIVE_INFINITY;
    for (const session of stored) {
      if (session.lastMs >= beforeMs) continue;
      this.#byId.delete(session.id);
      const [from, to] = bucketsOf(session);
      for (const visitor of session.visitors) {
        for (let bucket = from; bucket <= to; bucket++) this.#displace(session, visitor, bucket);
      }
    }
    this.#completeFromMs = Math.max(this.#completeFromMs, beforeMs);
  }

  #displace(session: Session, visitor: string, bucket: number): void {
    const key = placeKey(visitor, bucket);
    const left = this.#byPlace.get(key)?.filter((other) => other !== session) ?? [];
    if (left.length === 0) this.#byPlace.delete(key);
    else this.#byPlace.set(key, left);
  }
}

/** A UUID of version 8 from whose event started the session and when. */
export function sessionIdOf(visitor: string, startMs: number): string {
  const hash = createHash('sha256').update(`${visitor}\0${startMs}`).digest();
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x80, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  return formatUuid(hash.subarray(0, uuidBytes));
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

function isDropped(dropped: Uint8Array | undefined, row: number): boolean {
  return dropped !== undefined && ((dropped[row >>> 3] ?? 0) & (1 << (row & 7))) !== 0;
}
