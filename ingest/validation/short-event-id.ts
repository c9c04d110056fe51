// Makes the ids of events in the short shape, whose senders send none. An id is derived from its user and its request,
// so that a repeated request stores nothing twice. A cookieless event's visitor is known only after its body was read
// and checked; until then the body holds a stand-in, which the id overwrites in place.

import { dayMs } from '../../platform/clock.ts';
import type { CookielessIds } from '../../proto/wire/frame.ts';
import { parseTimestamp } from './text/checked-timestamp.ts';
import { uuidV5 } from './text/uuid.ts';

/** `seed` is the body's hash or the sender's Idempotency-Key, `index` the event's place in the request. */
export function shortEventId(
  projectId: string,
  distinctId: string,
  seed: string,
  index: number,
): string {
  return uuidV5(projectId, JSON.stringify([distinctId, seed, index]));
}

/** A cookieless event that has no id yet. */
export interface UnnamedEvent {
  /** A UUID that the body holds where the id belongs, and nowhere else. */
  standIn: string;
  occurTime: string;
  seed: string;
  index: number;
}

interface NamingContext {
  projectId: string;
  receiveTimeMs: number;
  /** Added to each occurTime. */
  timeShiftMs?: number;
}

/**
 * Overwrites the stand-ins of `events`, given in the body's order, with their ids. An event whose day has no cookieless
 * id keeps its stand-in: it is dropped later.
 */
export function nameEvents(
  body: Uint8Array,
  events: readonly UnnamedEvent[],
  { projectId, receiveTimeMs, timeShiftMs = 0 }: NamingContext,
  ids: CookielessIds,
): void {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const today = Math.floor(receiveTimeMs / dayMs);
  let at = 0;
  for (const { standIn, occurTime, seed, index } of events) {
    const day = Math.floor((parseTimestamp(occurTime) + timeShiftMs) / dayMs);
    const visitor = day === today ? ids.today : day === today - 1 ? ids.yesterday : undefined;
    if (visitor === undefined) continue;
    at = bytes.indexOf(standIn, at, 'latin1');
    if (at < 0) throw new Error('a cookieless event is not in its body');
    bytes.write(shortEventId(projectId, visitor, seed, index), at, 'latin1');
  }
}
