// A shard's messages in stream order, without a gap, cut into batches: the one place that acks. The broker may deliver
// late, twice or out of order; what comes out of `next` is every stored message after the last one done, once.

import { frameEvents, unpackedBytes } from '../../proto/wire/frame.ts';
import type { EventStream, StreamMessage } from './event-stream.ts';
import type { MessageBatch } from './message-batch.ts';

export interface SourceLimits {
  /** A batch is closed at any of these, unless one message alone is larger. */
  maxRows: number;
  maxBytes: number;
  maxMessages: number;
  /**
   * A batch stays open this long after its first message, and this long after the batch before it was closed: each is
   * a part that must be merged.
   */
  minWaitMs: number;
  minIntervalMs: number;
  /** It grows on while the batch before it is being stored, this long after its first message. */
  maxWaitMs: number;
}

interface InHand {
  readonly message: StreamMessage;
  /** When the broker last heard of it. */
  sinceMs: number;
}

/** Messages read at once where the broker's delivery left a gap. */
const fillAtOnce = 16;
/** A third of the consumer's ack_wait. */
const keepAliveEveryMs = 20_000;
/** Until it is looked again whether there is room for the messages missing. */
const roomPauseMs = 50;

export class MessageSource {
  readonly #stream: EventStream;
  readonly #limits: SourceLimits;
  /** The next sequence that the queue waits for, and the last one that is done. */
  #expected = 0;
  #done = 0;
  /** In order, without a gap. */
  readonly #queue: StreamMessage[] = [];
  #queuedBytes = 0;
  #queuedRows = 0;
  /** Since when the first of the queue has been waiting to be taken, and when the last batch was taken. */
  #waitingSinceMs = 0;
  #takenMs = Number.NEGATIVE_INFINITY;
  /** The last sequence taken: not done while its batch is being stored. */
  #taken = 0;
  /** Delivered before a message that precedes them. */
  readonly #ahead = new Map<number, StreamMessage>();
  #aheadBytes = 0;
  /** Every stored message up to here must come before anything else is waited for. */
  #known = 0;
  #isFilling = false;
  /** Taken from the broker and not acked yet, by sequence. */
  readonly #inHand = new Map<number, InHand>();
  readonly #keepAlive: NodeJS.Timeout;
  #stopped = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(stream: EventStream, limits: SourceLimits) {
    this.#stream = stream;
    this.#limits = limits;
    this.#keepAlive = setInterval(() => this.#reportWork(), keepAliveEveryMs);
    this.#keepAlive.unref();
  }

  /**
   * Begins to receive what comes after `hwm`, the last sequence that is done. Messages that an earlier writer was given
   * and never acked are read at once.
   */
  async start(hwm: number): Promise<void> {
    this.#expected = hwm + 1;
    this.#done = hwm;
    this.#taken = hwm;
    await this.#catchUp();
    this.#stream.receive({
      wants: () => this.#queuedBytes + this.#aheadBytes < this.#limits.maxBytes,
      onMessage: (message) => this.#arrive(message),
      // What was delivered and never came would otherwise be missed only when the broker delivers it again.
      onSilence: () => this.#guard(this.#catchUp()),
    });
  }

  /** The next batch; undefined once stopped and nothing is left in the queue. Throws where the stream was made anew. */
  async next(): Promise<MessageBatch | undefined> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#queue.length > 0) break;
      if (this.#stopped) return undefined;
      await this.#woken();
    }
    for (let leftMs = this.#openMs(); leftMs > 0; leftMs = this.#openMs()) {
      await this.#woken(leftMs);
    }
    return this.#take();
  }

  /** To be called once the ledger has the batch as done. */
  ack(batch: MessageBatch): void {
    this.#done = batch.messages.at(-1)?.seq ?? this.#done;
    for (const message of batch.messages) {
      this.#inHand.delete(message.seq);
      this.#stream.ack(message);
    }
    this.#notify();
  }

  /** No more messages are received; what is queued can still be taken. */
  stop(): void {
    this.#stopped = true;
    clearInterval(this.#keepAlive);
    this.#stream.close();
    this.#notify();
  }

  #arrive(message: StreamMessage): void {
    if (this.#stopped || this.#ahead.has(message.seq)) return;
    if (message.seq <= this.#done) {
      this.#guard(this.#ackAgain(message));
    } else if (message.seq < this.#expected) {
      // A second delivery of what is in hand is acked with the first, which may have been read without a delivery.
      const held = this.#inHand.get(message.seq)?.message;
      if (held !== undefined) held.ackSubject ??= message.ackSubject;
    } else if (message.seq === this.#expected) {
      this.#enqueue(message);
    } else {
      this.#ahead.set(message.seq, message);
      this.#aheadBytes += message.data.length;
      this.#known = Math.max(this.#known, message.seq);
      this.#fill();
    }
  }

  /** The ledger has it as done, so its ack was lost, unless this is the message of another stream of the same name. */
  async #ackAgain(message: StreamMessage): Promise<void> {
    if (!(await this.#stream.isUnchanged())) throw new Error('the stream was made anew');
    this.#stream.ack(message);
  }

  #enqueue(message: StreamMessage): void {
    if (this.#queue.length === 0) this.#waitingSinceMs = performance.now();
    this.#queue.push(message);
    this.#queuedBytes += unpackedBytes(message.data);
    this.#queuedRows += frameEvents(message.data);
    this.#inHand.set(message.seq, { message, sinceMs: performance.now() });
    this.#expected = message.seq + 1;
    if (this.#queue.length === 1 || this.#isFull()) this.#notify();
  }

  /** How much longer the batch stays open if nothing happens; at most 0 where it is to be closed. */
  #openMs(): number {
    if (this.#stopped || this.#isFull()) return 0;
    const { minWaitMs, minIntervalMs, maxWaitMs } = this.#limits;
    const latestMs = this.#waitingSinceMs + maxWaitMs;
    const earliestMs = Math.max(this.#waitingSinceMs + minWaitMs, this.#takenMs + minIntervalMs);
    const isStoring = this.#taken > this.#done;
    return (isStoring ? latestMs : Math.min(earliestMs, latestMs)) - performance.now();
  }

  #isFull(): boolean {
    return (
      this.#queuedRows >= this.#limits.maxRows ||
      this.#queuedBytes >= this.#limits.maxBytes ||
      this.#queue.length >= this.#limits.maxMessages
    );
  }

  #take(): MessageBatch {
    const { maxRows, maxBytes, maxMessages } = this.#limits;
    let rows = 0;
    let bytes = 0;
    let count = 0;
    for (const message of this.#queue) {
      const events = frameEvents(message.data);
      const size = unpackedBytes(message.data);
      const fits = rows + events <= maxRows && bytes + size <= maxBytes;
      if (count > 0 && (!fits || count === maxMessages)) break;
      rows += events;
      bytes += size;
      count++;
    }
    this.#queuedRows -= rows;
    this.#queuedBytes -= bytes;
    const messages = this.#queue.splice(0, count);
    this.#taken = messages.at(-1)?.seq ?? this.#taken;
    this.#takenMs = performance.now();
    this.#waitingSinceMs = this.#takenMs;
    return { messages };
  }

  /** Looks for messages that were delivered, to whomever, and did not arrive here. */
  async #catchUp(): Promise<void> {
    const lastDelivered = await this.#stream.lastDelivered();
    this.#known = Math.max(this.#known, lastDelivered);
    this.#fill();
  }

  /** Sees to it that the gap before the last message known is being closed. */
  #fill(): void {
    if (this.#isFilling || this.#stopped || this.#expected > this.#known) return;
    this.#isFilling = true;
    const filled = this.#fillGap().finally(() => {
      this.#isFilling = false;
    });
    this.#guard(filled.then(() => this.#fill()));
  }

  async #fillGap(): Promise<void> {
    // What lies before the stream's first message was acked or deleted.
    const firstSeq = await this.#stream.firstSeq();
    this.#expected = Math.max(this.#expected, firstSeq);
    while (!this.#stopped && this.#expected <= this.#known) {
      const delivered = this.#takeAhead(this.#expected);
      if (delivered !== undefined) this.#enqueue(delivered);
      else if (this.#queuedBytes < this.#limits.maxBytes) await this.#fetchMissing();
      else await new Promise((resolve) => setTimeout(resolve, roomPauseMs));
    }
  }

  /**
   * Reads the next messages that were not delivered, up to one that was; a sequence that holds nothing is passed over.
   */
  async #fetchMissing(): Promise<void> {
    const seqs: number[] = [];
    for (let seq = this.#expected; seq <= this.#known && seqs.length < fillAtOnce; seq++) {
      if (this.#ahead.has(seq)) break;
      seqs.push(seq);
    }
    const found = await Promise.all(seqs.map((seq) => this.#stream.stored(seq)));
    for (const [index, read] of found.entries()) {
      const seq = seqs[index] ?? 0;
      // Its delivery may have come while it was read, here or as the very message expected.
      const message = this.#takeAhead(seq) ?? read;
      if (seq < this.#expected) continue;
      if (message !== undefined) this.#enqueue(message);
      else this.#expected = seq + 1;
    }
  }

  #takeAhead(seq: number): StreamMessage | undefined {
    const message = this.#ahead.get(seq);
    if (message === undefined) return undefined;
    this.#ahead.delete(seq);
    this.#aheadBytes -= message.data.length;
    return message;
  }

  #reportWork(): void {
    const nowMs = performance.now();
    for (const held of this.#inHand.values()) {
      if (nowMs - held.sinceMs < keepAliveEveryMs / 2) continue;
      this.#stream.working(held.message);
      held.sinceMs = nowMs;
    }
  }

  /** Ends the source with what made work in the background fail. */
  #guard(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (this.#stopped) return;
      this.#failure = error instanceof Error ? error : new Error(String(error));
      this.stop();
    });
  }

  /** Resolves at the next notification, or after `atMostMs`. */
  #woken(atMostMs?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = atMostMs === undefined ? undefined : setTimeout(resolve, atMostMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #notify(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
