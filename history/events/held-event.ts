// An event that waits to be sent. Its text lies in a block with those of others, outside of the heap: the collector
// would copy each text twice, and walk through all of them again and again.

import type { ReadyEvent } from './ready-event.ts';

export interface HeldEvent {
  eventId: string;
  distinctId: string;
  timeMs: number;
  /** False where the source names none, and none was written yet. */
  hasSession: boolean;
  /** The session to be written into its text. */
  sessionId?: string;
  block: Buffer;
  /** Where the text lies in the block; a comma is behind it. */
  from: number;
  to: number;
}

const leastBlockBytes = 16_384;
const largestBlockBytes = 1_048_576;
const maxBytesPerCharacter = 3;
const comma = 0x2c;

/** Copies texts into blocks, each twice as large as the one before: at most half of them is empty. */
export class TextBlocks {
  #block = Buffer.alloc(0);
  #at = 0;
  #nextBytes = leastBlockBytes;

  hold({ text, eventId, distinctId, timeMs, hasSession }: ReadyEvent): HeldEvent {
    const mostBytes = text.length * maxBytesPerCharacter + 1;
    if (this.#at + mostBytes > this.#block.length) this.#open(mostBytes);
    const block = this.#block;
    const from = this.#at;
    const to = from + block.write(text, from);
    block[to] = comma;
    this.#at = to + 1;
    return { eventId, distinctId, timeMs, hasSession, block, from, to };
  }

  #open(leastBytes: number): void {
    this.#block = Buffer.allocUnsafeSlow(Math.max(this.#nextBytes, leastBytes));
    this.#at = 0;
    this.#nextBytes = Math.min(largestBlockBytes, 2 * this.#nextBytes);
  }
}

const sessionStart = '{"sessionId":"';
const sessionEnd = '",';
const sessionBytes = sessionStart.length + 36 + sessionEnd.length - 1;

/** The bytes of the event's text, with a comma behind it. */
export function sentBytes({ from, to, sessionId }: HeldEvent): number {
  return to - from + 1 + (sessionId === undefined ? 0 : sessionBytes);
}

const start = '{"events":[';
const end = ']}';

/** A body of BatchCreate, in `room` where it fits. `events`: at least one. */
export function bodyOf(events: readonly HeldEvent[], room: Buffer = Buffer.alloc(0)): Buffer {
  const textBytes = events.reduce((sum, event) => sum + sentBytes(event), 0);
  const bytes = start.length + textBytes - 1 + end.length;
  const body = bytes <= room.length ? room.subarray(0, bytes) : Buffer.allocUnsafeSlow(bytes);
  let at = body.write(start, 0, 'latin1');
  for (let index = 0; index < events.length; index++) {
    const event = events[index];
    if (event === undefined) break;
    const { block, from, sessionId } = event;
    if (sessionId !== undefined) {
      at += body.write(sessionStart + sessionId + sessionEnd, at, 'latin1');
      // Its own brace was written before the session.
      at += block.copy(body, at, from + 1, event.to + 1);
      continue;
    }
    // Neighbours in a block are copied together.
    let { to } = event;
    for (let next = events[index + 1]; isBehind(next, block, to); next = events[index + 1]) {
      to = next.to;
      index++;
    }
    at += block.copy(body, at, from, to + 1);
  }
  // In place of the last comma.
  body.write(end, at - 1, 'latin1');
  return body;
}

function isBehind(event: HeldEvent | undefined, block: Buffer, to: number): event is HeldEvent {
  return event?.block === block && event.from === to + 1 && event.sessionId === undefined;
}
