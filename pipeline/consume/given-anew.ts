// Tells a message from an earlier one with the same sequence. A stream that has lost its latest messages counts again
// from where it ends: by their sequences alone, new messages would be taken for those that are done.

import type { SequenceTime } from '../write/ledger-record.ts';
import type { StreamMessage } from './event-stream.ts';

/** The stream has a message under a sequence that is done, and it is another one. */
export class GivenAnewError extends Error {
  readonly lost: SequenceTime;

  constructor(lost: SequenceTime) {
    super(`the stream has lost messages and has given sequence ${lost.seq} anew`);
    this.lost = lost;
  }
}

/**
 * Throws where a message that comes under a done sequence is newer than all that are done. `newestMs` is the newest
 * one's time of storing, as the broker told it: no other clock is asked, and one that is done is never newer. A new one
 * is not either while its leader's clock is still behind that of the leader before the loss. A message that holds
 * nothing fills a gap.
 */
export function requireDone({ seq, data, storedMs }: StreamMessage, newestMs?: number): void {
  if (newestMs === undefined || storedMs === undefined || data.length === 0) return;
  if (storedMs > newestMs) throw new GivenAnewError({ seq, newestMs });
}

/** Throws where a message that comes again is not the one that is held. */
export function requireSame(held: StreamMessage, again: StreamMessage): void {
  if (held.storedMs === undefined || again.storedMs === undefined) return;
  if (held.storedMs !== again.storedMs)
    throw new Error(`the stream has lost message ${held.seq}, and has another one in its place`);
}
