// Ids for events that name nobody: from a day's salt, the project, and the address and user agent of their request. The
// address is used here and forgotten; which events are dropped for want of an id is decided here, for ingest's answer
// and, through the ids that a frame carries, for the rows as well.

import { createHmac } from 'node:crypto';
import type { Clock } from '../platform/clock.ts';
import type { CookielessIds } from '../proto/wire/frame.ts';
import type { CallerIdentity } from './caller.ts';
import { type DaySalt, dayOf, type Salts } from './salt.ts';

/** Why a cookieless event is dropped, by the name under which the answer counts it. */
export type DropReason = 'day_out_of_range' | 'salt_unavailable' | 'salt_corrupt';

export interface DroppedEvents {
  events: number;
  /** Only reasons that dropped something. */
  byReason: Partial<Record<DropReason, number>>;
}

/** The cookieless events of one request, by the UTC day of their occurTime as seen from the day of receipt. */
export interface CookielessDays {
  events: number;
  today: number;
  yesterday: number;
  /** One of them is close enough to the midnight between to continue a visit over it. */
  atMidnight: boolean;
}

export interface ResolvedCookieless {
  /** What the frame's context holds. */
  ids: CookielessIds;
  dropped: DroppedEvents | undefined;
}

/** Ids that are remembered, and for how long: no caller's address stays in memory longer than that. */
const maxRememberedIds = 20_000;
const rememberMs = 60_000;
const idBytes = 16;
const lengthBytes = 4;

export class CookielessResolver {
  readonly #salts: Pick<Salts, 'of'>;
  readonly #clock: Clock;
  readonly #ids = new Map<string, string>();
  #rememberedSinceMs = 0;

  constructor(salts: Pick<Salts, 'of'>, clock: Clock) {
    this.#salts = salts;
    this.#clock = clock;
  }

  /** The ids that a request's cookieless events get, and which of them get none. Never rejects. */
  async resolve(
    projectId: string,
    receiveTimeMs: number,
    identity: CallerIdentity,
    days: CookielessDays,
  ): Promise<ResolvedCookieless> {
    const today = dayOf(receiveTimeMs);
    const ids: CookielessIds = {};
    const drops = new Drops();
    drops.add('day_out_of_range', days.events - days.today - days.yesterday);
    // Of both days only where a visit may go on from one to the other: elsewhere nothing ties one's id to the other's.
    if (days.today > 0 || days.atMidnight) {
      const found = this.#salts.of(today);
      const salt = found instanceof Promise ? await found : found;
      if (salt.kind === 'salt') ids.today = this.#id(today, salt.salt, projectId, identity);
      else drops.add(reasonOf(salt), days.today);
    }
    if (days.yesterday > 0 || days.atMidnight) {
      const found = this.#salts.of(today - 1);
      const salt = found instanceof Promise ? await found : found;
      if (salt.kind === 'salt') ids.yesterday = this.#id(today - 1, salt.salt, projectId, identity);
      else drops.add(reasonOf(salt), days.yesterday);
    }
    return { ids, dropped: drops.total() };
  }

  #id(day: number, salt: Buffer, projectId: string, identity: CallerIdentity): string {
    const nowMs = this.#clock.nowMs();
    const isOld = Math.abs(nowMs - this.#rememberedSinceMs) > rememberMs;
    if (isOld || this.#ids.size >= maxRememberedIds) {
      this.#ids.clear();
      this.#rememberedSinceMs = nowMs;
    }
    const key = `${day} ${projectId} ${identity.address} ${identity.userAgent}`;
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = cookielessId(salt, projectId, identity);
    this.#ids.set(key, id);
    return id;
  }
}

/** `cookieless-` and 22 characters: equal for equal callers of one project within one day, and for nobody else. */
export function cookielessId(salt: Buffer, projectId: string, identity: CallerIdentity): string {
  const fields = [projectId, identity.address, identity.userAgent];
  let size = 0;
  for (const field of fields) size += lengthBytes + Buffer.byteLength(field);
  // One update of all: each costs as much as hashing a hundred bytes (bench `cookieless`).
  const message = Buffer.allocUnsafe(size);
  let at = 0;
  for (const field of fields) {
    const length = message.write(field, at + lengthBytes);
    message.writeUInt32BE(length, at);
    at += lengthBytes + length;
  }
  const hash = createHmac('sha256', salt).update(message).digest();
  message.fill(0);
  return `cookieless-${hash.toString('base64url', 0, idBytes)}`;
}

function reasonOf({ kind }: Exclude<DaySalt, { kind: 'salt' }>): DropReason {
  switch (kind) {
    case 'unavailable':
      return 'salt_unavailable';
    case 'corrupt':
      return 'salt_corrupt';
    // Midnight passed while the body was on its way.
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
