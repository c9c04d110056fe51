// Request bodies for the benches: the demo's own visits in three sizes, from a fixed seed. A body is made once; before
// it is sent again its event ids are overwritten in place, because the same ids would be dropped as duplicates.

import { type Size, sizedEvents } from '../../../demo/visits/sized-events.ts';

export interface Body {
  bytes: Buffer;
  /** Where each event's id begins. */
  idOffsets: Uint32Array;
  /** Where each event's occurTime begins, 24 characters. */
  timeOffsets: Uint32Array;
  /** The User-Agent of the body's visitor. */
  userAgent: string;
}

interface BodyOptions {
  size: Size;
  /** Events in each body. */
  batch: number;
  /** Number of bodies; they differ in every event. */
  count: number;
  seed: number;
  nowMs: number;
}

const idPlaceholder = '"eventId":"';
const timePlaceholder = '"occurTime":"';

export function makeBodies({ size, batch, count, seed, nowMs }: BodyOptions): Body[] {
  const { events, userAgents } = sizedEvents(size, batch * count, seed, nowMs);
  return Array.from({ length: count }, (_, index) => {
    const chosen = events.slice(index * batch, (index + 1) * batch);
    return bodyOf(chosen, userAgents[index % userAgents.length] ?? '');
  });
}

/** Throws where an event has no eventId or occurTime. */
export function bodyOf(events: readonly object[], userAgent: string): Body {
  const bytes = Buffer.from(JSON.stringify({ events }));
  return {
    bytes,
    idOffsets: findAll(bytes, idPlaceholder, events.length),
    timeOffsets: findAll(bytes, timePlaceholder, events.length),
    userAgent,
  };
}

/**
 * Overwrites the last eight digits of every event id. `sequence` is a number below 2^32 that is new to this body: the
 * ids are then new, and as hard to compress as the random ones they replace.
 */
export function freshen(body: Body, sequence: number): void {
  const { bytes, idOffsets } = body;
  for (let index = 0; index < idOffsets.length; index++) {
    // Odd factors: for one event, different sequences give different digits.
    const word = Math.imul(sequence + Math.imul(index, 0x85eb_ca6b), 0x9e37_79b1);
    const end = (idOffsets[index] ?? 0) + 36;
    for (let digit = 0; digit < 8; digit++) {
      bytes[end - 8 + digit] = hexDigits[(word >>> (28 - 4 * digit)) & 15] ?? 0;
    }
  }
}

/** Sets every event's time to `timeMs`, like a site that sends its events at once. */
export function occurAt({ bytes, timeOffsets }: Body, timeMs: number): void {
  const text = Buffer.from(new Date(timeMs).toISOString());
  for (const at of timeOffsets) bytes.set(text, at);
}

const hexDigits = Buffer.from('0123456789abcdef');

function findAll(bytes: Buffer, placeholder: string, batch: number): Uint32Array {
  const offsets = new Uint32Array(batch);
  let from = 0;
  for (let index = 0; index < batch; index++) {
    const at = bytes.indexOf(placeholder, from);
    if (at < 0) throw new Error(`a body of ${batch} events has ${placeholder} ${index} times`);
    offsets[index] = at + placeholder.length;
    from = at + placeholder.length;
  }
  return offsets;
}
