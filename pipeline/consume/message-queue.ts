// A shard's messages that wait to become a batch: how many go into one, and how long it stays open. The queue takes its
// messages in stream order and knows neither the broker nor acks.

import { frameEvents, unpackedBytes } from '../../proto/wire/frame.ts';
import type { StreamMessage } from './event-stream.ts';
import type { MessageBatch } from './message-batch.ts';

export interface BatchLimits {
  /** A batch takes all that waits, up to any of these three, unless one message alone is larger. */
  maxRows: number;
  maxBytes: number;
  maxMessages: number;
  /**
   * This share of `maxRows` or `maxBytes` closes a batch. So a batch is larger only where more waits already: of a
   * writer that is behind, whose parts are then fewer and cheaper to merge.
   */
  enoughShare: number;
  /**
   * A batch stays open this long after its first message, and this long after the batch before it was closed: the
   * engine must merge every part.
   */
  minWaitMs: number;
  minIntervalMs: number;
  /** While the batch before it is being stored, a batch grows on, for at most this long after its first message. */
  maxWaitMs: number;
}

export class MessageQueue {
  readonly #limits: BatchLimits;
  /** In stream order. */
  readonly #messages: StreamMessage[] = [];
  #bytes = 0;
  #rows = 0;
  /** When the first message of the next batch was queued, or became its first because a batch was taken. */
  #waitingSinceMs = 0;
  /** When the last batch was taken. */
  #takenMs = Number.NEGATIVE_INFINITY;

  constructor(limits: BatchLimits) {
    this.#limits = limits;
  }

  get length(): number {
    return this.#messages.length;
  }

  /** Sequence of the message that is taken next; undefined where the queue is empty. */
  get firstSeq(): number | undefined {
    return this.#messages[0]?.seq;
  }

  /** Sequence of the message that was queued last; undefined where the queue is empty. */
  get lastSeq(): number | undefined {
    return this.#messages.at(-1)?.seq;
  }

  /** The next batch need not wait for more messages. */
  get hasEnough(): boolean {
    const { maxRows, maxBytes, maxMessages, enoughShare } = this.#limits;
    return (
      this.#rows >= enoughShare * maxRows ||
      this.#bytes >= enoughShare * maxBytes ||
      this.#messages.length >= maxMessages
    );
  }

  /** The queue has room for more messages, beside `otherBytes` that wait elsewhere. */
  hasRoom(otherBytes: number): boolean {
    return this.#bytes + otherBytes < this.#limits.maxBytes;
  }

  push(message: StreamMessage): void {
    if (this.#messages.length === 0) this.#waitingSinceMs = performance.now();
    this.#messages.push(message);
    this.#bytes += unpackedBytes(message.data);
    this.#rows += frameEvents(message.data);
  }

  /** How much longer the batch stays open if nothing happens; at most 0 where it is to be closed. */
  openMs(isStoring: boolean): number {
    if (this.hasEnough) return 0;
    const { minWaitMs, minIntervalMs, maxWaitMs } = this.#limits;
    const latestMs = this.#waitingSinceMs + maxWaitMs;
    const earliestMs = Math.max(this.#waitingSinceMs + minWaitMs, this.#takenMs + minIntervalMs);
    return (isStoring ? latestMs : Math.min(earliestMs, latestMs)) - performance.now();
  }

  /** Removes the messages of the next batch and returns them: at least one where the queue has any. */
  take(): MessageBatch {
    const { maxRows, maxBytes, maxMessages } = this.#limits;
    let rows = 0;
    let bytes = 0;
    let count = 0;
    for (const message of this.#messages) {
      const events = frameEvents(message.data);
      const size = unpackedBytes(message.data);
      const fits = rows + events <= maxRows && bytes + size <= maxBytes;
      if (count > 0 && (!fits || count === maxMessages)) break;
      rows += events;
      bytes += size;
      count++;
    }
    this.#rows -= rows;
    this.#bytes -= bytes;
    this.#takenMs = performance.now();
    this.#waitingSinceMs = this.#takenMs;
    return { messages: this.#messages.splice(0, count) };
  }
}
