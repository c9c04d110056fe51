// Gives each event without a session the visitor's session that is at most half an hour away, or else a new one.
// Sessions never merge. The answer depends on the batch and on the events stored before, not on how many of
// these are in memory: sessions that memory has let go are looked up in the table, so a batch that is built again gets
// the same sessions.

import { createHash } from 'node:crypto';
import { sessionInactivityMs } from '../../platform/limits.ts';
import type { SessionlessRows } from '../build/thread-messages.ts';
import { formatUuid, parseUuid } from '../build/uuid.ts';
import { type LookUp, planLookUps } from './look-ups.ts';
import { type Session, SessionMemory, type StoredSession } from './session-memory.ts';

/** The stored sessions that a look-up asks for; repeats the question until it is answered. */
export type FindSessions = (lookUp: LookUp) => Promise<readonly StoredSession[]>;

interface SessionsOptions {
  find: FindSessions;
  /**
   * Sessions kept in memory besides the sessions of batches that are not stored yet, counted as SessionMemory.size
   * does; 200,000 by default.
   */
  maxSessions?: number;
}

/** About 400 bytes each. */
export const defaultMaxSessions = 200_000;
const uuidBytes = 16;
/** SessionlessRows.otherOf of a row whose visitor has one id only. */
const nobody = -1;

export class Sessions {
  readonly #find: FindSessions;
  readonly #maxSessions: number;
  readonly #memory = new SessionMemory();
  /** Every stored session whose last event is at or after this time is in memory. */
  #completeFromMs = Number.POSITIVE_INFINITY;
  /** Memory has let no session go whose last event is at or after this time. */
  #keptFromMs = Number.NEGATIVE_INFINITY;
  /** Batches so far. */
  #assigned = 0;
  #done = 0;

  constructor({ find, maxSessions = defaultMaxSessions }: SessionsOptions) {
    this.#find = find;
    this.#maxSessions = maxSessions;
  }

  get size(): number {
    return this.#memory.size;
  }

  /**
   * Takes in what was stored before the first batch: every session with rows at or after `completeFromMs`. Batches may
   * have been assigned before.
   */
  load(stored: readonly StoredSession[], completeFromMs: number): void {
    for (const session of stored) this.#memory.remember(session);
    this.#completeFromMs = Math.max(completeFromMs, this.#keptFromMs);
  }

  /**
   * The session ids of a batch's sessionless rows, 16 bytes each in their order, zeros for rows whose bit in `dropped`
   * is set. The caller calls it once for each batch, in stream order, and `done` when the batch is stored.
   */
  async assign(
    sessionless: SessionlessRows,
    dropped: Uint8Array | undefined,
  ): Promise<Uint8Array<ArrayBuffer>> {
    this.#assigned++;
    // Only here: a batch relies on memory as it was when its look-ups began, and `done` may come between these.
    this.#makeRoom();
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

  /** Says that the oldest assigned batch is stored. */
  done(): void {
    this.#done++;
  }

  #makeRoom(): void {
    if (this.#memory.size <= this.#maxSessions) return;
    const keptFromMs = this.#memory.letGo(this.#maxSessions, this.#done);
    this.#keptFromMs = Math.max(this.#keptFromMs, keptFromMs);
    this.#completeFromMs = Math.max(this.#completeFromMs, keptFromMs);
  }

  /** Loads the sessions that an event of the batch could join and that memory may have let go. */
  async #lookUp(sessionless: SessionlessRows, dropped: Uint8Array | undefined): Promise<void> {
    const { rows, occurTimes } = sessionless;
    const indexes: number[] = [];
    for (let index = 0; index < rows.length; index++) {
      const timeMs = occurTimes[index] ?? 0;
      if (timeMs - sessionInactivityMs >= this.#completeFromMs) continue;
      if (!isDropped(dropped, rows[index] ?? 0)) indexes.push(index);
    }
    for (const lookUp of planLookUps(sessionless, indexes)) {
      for (const session of await this.#find(lookUp)) {
        this.#memory.remember(session);
      }
    }
  }

  #join(sessionless: SessionlessRows, index: number, timeMs: number): Session {
    const { visitorOf, otherOf, visitors } = sessionless;
    const visitor = visitors[visitorOf[index] ?? 0] ?? '';
    const other = otherOf[index] ?? nobody;
    const memory = this.#memory;
    let nearest = memory.nearest(visitor, timeMs, undefined);
    if (other !== nobody) nearest = memory.nearest(visitors[other] ?? '', timeMs, nearest);
    const session = nearest ?? memory.start(sessionIdOf(visitor, timeMs), timeMs);
    memory.extend(session, timeMs, timeMs);
    memory.addVisitor(session, visitor);
    session.batch = this.#assigned;
    return session;
  }
}

/** A session's id: a UUID of version 8 made of the visitor and the time of its first assigned event. */
export function sessionIdOf(visitor: string, startMs: number): string {
  const hash = createHash('sha256').update(`${visitor}\0${startMs}`).digest();
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x80, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  return formatUuid(hash.subarray(0, uuidBytes));
}

function isDropped(dropped: Uint8Array | undefined, row: number): boolean {
  return dropped !== undefined && ((dropped[row >>> 3] ?? 0) & (1 << (row & 7))) !== 0;
}
