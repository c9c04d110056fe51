// Ids for events that name nobody, derived from a day's salt, the project, and their request's address and user agent.
// Uses the address and forgets it. Decides which events are dropped for lack of an id, both for the answer and, through
// the ids in a frame, for the rows.

import { hash } from 'node:crypto';
import type { Clock } from '../../platform/clock.ts';
import type { CookielessIds } from '../../proto/wire/frame.ts';
import type { CallerIdentity } from '../caller/caller.ts';
import type { ExclusionRule } from '../senders/exclusion-rules.ts';
import { type DaySalt, dayOf, type Salts } from './salt.ts';

/** Why a cookieless event is dropped; the answer counts by these names. */
type UnnamedReason = 'day_out_of_range' | 'salt_unavailable' | 'salt_corrupt';
/** Why an event is dropped: without an id, or left out by its project. */
type DropReason = UnnamedReason | ExclusionRule;

export interface DroppedEvents {
  events: number;
  /** Only reasons that dropped an event. */
  byReason: Partial<Record<DropReason, number>>;
}

/** Counts one request's cookieless events by the UTC day of their occurTime, relative to the day of receipt. */
export interface CookielessDays {
  events: number;
  today: number;
  yesterday: number;
  /** Whether one of them is so close to the midnight between both days that a visit may go on across it. */
  atMidnight: boolean;
}

export interface ResolvedCookieless {
  /** For the frame's context. */
  ids: CookielessIds;
  dropped: DroppedEvents | undefined;
}

/** How many callers are remembered, and how long: no address stays in memory longer than that. */
const maxRememberedCallers = 20_000;
const rememberMs = 60_000;
const idBytes = 16;
const lengthBytes = 4;
/** SHA-256's block and digest. */
const blockBytes = 64;
const digestBytes = 32;

/** The caller last seen at an address, with the ids that were asked for so far. */
interface Remembered {
  projectId: string;
  userAgent: string;
  /** The UTC day of `today`. */
  day: number;
  today: string | undefined;
  yesterday: string | undefined;
}

export class CookielessResolver {
  readonly #salts: Pick<Salts, 'of'>;
  readonly #clock: Clock;
  /** By address alone: hashing a text as long as a user agent would cost each request more than all the rest. */
  readonly #callers = new Map<string, Remembered>();
  #rememberedSinceMs = 0;

  constructor(salts: Pick<Salts, 'of'>, clock: Clock) {
    this.#salts = salts;
    this.#clock = clock;
  }

  /**
   * Finds the ids of a request's cookieless events and counts the events that get none. Returns at once where the salts
   * are known: awaiting them would cost a request of one event a twentieth of its CPU. Never rejects.
   */
  resolve(
    projectId: string,
    receiveTimeMs: number,
    identity: CallerIdentity,
    days: CookielessDays,
  ): ResolvedCookieless | Promise<ResolvedCookieless> {
    const day = dayOf(receiveTimeMs);
    // Both ids go together only where a visit may cross midnight: otherwise nothing must tie one day's id to the
    // other's.
    const today = days.today > 0 || days.atMidnight ? this.#salts.of(day) : undefined;
    const yesterday = days.yesterday > 0 || days.atMidnight ? this.#salts.of(day - 1) : undefined;
    const caller = { projectId, day, identity };
    if (!(today instanceof Promise || yesterday instanceof Promise)) {
      return this.#resolved(caller, days, today, yesterday);
    }
    return Promise.all([today, yesterday]).then((salts) => this.#resolved(caller, days, ...salts));
  }

  #resolved(
    { projectId, day, identity }: { projectId: string; day: number; identity: CallerIdentity },
    days: CookielessDays,
    today: DaySalt | undefined,
    yesterday: DaySalt | undefined,
  ): ResolvedCookieless {
    const known = this.#remembered(projectId, day, identity);
    const ids: CookielessIds = {};
    const drops = new Drops();
    drops.add('day_out_of_range', days.events - days.today - days.yesterday);
    if (today?.kind === 'salt') {
      ids.today = known.today ??= cookielessId(today.salt, projectId, identity);
    } else if (today !== undefined) drops.add(reasonOf(today), days.today);
    if (yesterday?.kind === 'salt') {
      ids.yesterday = known.yesterday ??= cookielessId(yesterday.salt, projectId, identity);
    } else if (yesterday !== undefined) drops.add(reasonOf(yesterday), days.yesterday);
    return { ids, dropped: drops.total() };
  }

  /** The caller's entry, to which ids are added. */
  #remembered(projectId: string, day: number, identity: CallerIdentity): Remembered {
    const nowMs = this.#clock.nowMs();
    const isOld = Math.abs(nowMs - this.#rememberedSinceMs) > rememberMs;
    if (isOld || this.#callers.size >= maxRememberedCallers) {
      this.#callers.clear();
      this.#rememberedSinceMs = nowMs;
    }
    const { address, userAgent } = identity;
    const last = this.#callers.get(address);
    if (last?.userAgent === userAgent && last.projectId === projectId && last.day === day) {
      return last;
    }
    const caller = { projectId, userAgent, day, today: undefined, yesterday: undefined };
    this.#callers.set(address, caller);
    return caller;
  }
}

/**
 * `cookieless-` and 22 characters, equal exactly for equal callers of one project within one day. `salt` has at most 64
 * bytes.
 */
export function cookielessId(salt: Buffer, projectId: string, identity: CallerIdentity): string {
  const fields = [projectId, identity.address, identity.userAgent];
  let size = blockBytes;
  for (const field of fields) size += lengthBytes + Buffer.byteLength(field);
  // HMAC is computed from its two hashes: node:crypto's object costs twice as much (bench `cookieless`).
  const inner = Buffer.allocUnsafe(size);
  const outer = Buffer.allocUnsafe(blockBytes + digestBytes);
  putKey(salt, inner, outer);
  let at = blockBytes;
  for (const field of fields) {
    const length = inner.write(field, at + lengthBytes);
    inner.writeUInt32BE(length, at);
    at += lengthBytes + length;
  }
  outer.write(hash('sha256', inner, 'binary'), blockBytes, 'latin1');
  outer.write(hash('sha256', outer, 'binary'), 0, 'latin1');
  const id = outer.toString('base64url', 0, idBytes);
  inner.fill(0);
  outer.fill(0);
  return `cookieless-${id}`;
}

/** Writes the key's two blocks, which HMAC puts in front of its two hashes. */
function putKey(key: Buffer, inner: Buffer, outer: Buffer): void {
  for (let at = 0; at < blockBytes; at++) {
    const byte = key[at] ?? 0;
    inner[at] = byte ^ 0x36;
    outer[at] = byte ^ 0x5c;
  }
}

function reasonOf({ kind }: Exclude<DaySalt, { kind: 'salt' }>): UnnamedReason {
  switch (kind) {
    case 'unavailable':
      return 'salt_unavailable';
    case 'corrupt':
      return 'salt_corrupt';
    // Midnight passed while the body was arriving.
    case 'outside':
      return 'day_out_of_range';
    default:
      return kind satisfies never;
  }
}

class Drops {
  readonly #byReason: Partial<Record<DropReason, number>> = {};
  #events = 0;

  add(reason: DropReason, events: number): void {
    if (events === 0) return;
    this.#byReason[reason] = (this.#byReason[reason] ?? 0) + events;
    this.#events += events;
  }

  total(): DroppedEvents | undefined {
    return this.#events === 0 ? undefined : { events: this.#events, byReason: this.#byReason };
  }
}
