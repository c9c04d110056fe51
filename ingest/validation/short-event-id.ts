// Ids of events in the short shape, whose senders make none. They are made from who sent what, so that a repetition
// stores nothing twice. Who a cookieless event is from is known only after its body was read and judged; until then its
// id is a stand-in in the body, which is written over in place.

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

/** A cookieless event whose id is not known yet. */
export interface UnnamedEvent {
  /** A UUID that the body holds in the id's place, and nowhere else. */
  standIn: string;
  occurTime: string;
  seed: string;
  index: number;
}

/**
 * Writes the ids of `events`, which are in the body's order, over their stand-ins. One whose day has no cookieless id
 * keeps its stand-in: it is dropped.
 */
export function nameEvents(
  body: Uint8Array,
  events: readonly UnnamedEvent[],
  { projectId, receiveTimeMs }: { projectId: string; receiveTimeMs: number },
  ids: CookielessIds,
): void {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const today = Math.floor(receiveTimeMs / dayMs);
  let at = 0;
  for (const { standIn, occurTime, seed, index } of events) {
    const day = Math.floor(parseTimestamp(occurTime) / dayMs);
    const visitor = day === today ? ids.today : day === today - 1 ? ids.yesterday : undefined;
    if (visitor === undefined) continue;
    at = bytes.indexOf(standIn, at, 'latin1');
    if (at < 0) throw new Error('a cookieless event is not in its body');
    bytes.write(shortEventId(projectId, visitor, seed, index), at, 'latin1');
  }
}
