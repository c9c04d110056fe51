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
  /** Where the text lies in the block. */
  from: number;
  to: number;
}

const leastBlockBytes = 16_384;
const largestBlockBytes = 1_048_576;
const maxBytesPerCharacter = 3;

/** Copies texts into blocks, each twice as large as the one before: at most half of them is empty. */
export class TextBlocks {
  #block = Buffer.alloc(0);
  #at = 0;
  #nextBytes = leastBlockBytes;

  hold({ text, eventId, distinctId, timeMs, hasSession }: ReadyEvent): HeldEvent {
    if (this.#at + text.length * maxBytesPerCharacter > this.#block.length) this.#open(text);
    const block = this.#block;
    const from = this.#at;
    const to = from + block.write(text, from);
    this.#at = to;
    return { eventId, distinctId, timeMs, hasSession, block, from, to };
  }

  #open(text: string): void {
    this.#block = Buffer.allocUnsafeSlow(
      Math.max(this.#nextBytes, text.length * maxBytesPerCharacter),
    );
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

/** A body of BatchCreate. `events`: at least one. */
export function bodyOf(events: readonly HeldEvent[]): Buffer {
  const textBytes = events.reduce((sum, event) => sum + sentBytes(event), 0);
  const body = Buffer.allocUnsafeSlow(start.length + textBytes - 1 + end.length);
  let at = body.write(start, 0, 'latin1');
  for (const [index, { block, from, to, sessionId }] of events.entries()) {
    if (index > 0) at += body.write(',', at, 'latin1');
    let textFrom = from;
    if (sessionId !== undefined) {
      at += body.write(sessionStart + sessionId + sessionEnd, at, 'latin1');
      // Its own brace was written before the session.
      textFrom++;
    }
    at += block.copy(body, at, textFrom, to);
  }
  body.write(end, at, 'latin1');
  return body;
}
