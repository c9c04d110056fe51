// A shard's messages, queued in stream order and without a gap, cut into batches: the only place that acks. The broker
// may deliver late, twice or out of order; `next` gives every stored message that is not done, once, and a project's
// messages in stream order.

import type { Ledger } from '../write/ledger.ts';
import type { EventStream, StreamMessage } from './event-stream.ts';
import { requireDone, requireSame } from './given-anew.ts';
import type { MessageBatch } from './message-batch.ts';
import { type BatchLimits, MessageQueue } from './message-queue.ts';
import { UnackedMessages } from './unacked-messages.ts';

/** Messages read at once where the broker's delivery left a gap. */
const fillAtOnce = 16;
/** The source waits this long before it looks again whether the queue has room for the missing messages. */
const roomPauseMs = 50;

/** The messages that are done, as the ledger knows them. */
export type DoneMessages = Pick<Ledger, 'hwm' | 'lastDone' | 'isDone'> &
  Partial<Pick<Ledger, 'newestMs'>>;

const noneDone: DoneMessages = { hwm: 0, lastDone: 0, isDone: () => false };

/**
 * Two counters, both sequences of the stream, say how far a source is:
 *
 *     expected   the next message to queue: every stored message before it was queued, in order, or was done before
 *     known      the last message that the stream is known to have held, delivered to this source or not
 *
 *     each queued message < expected <= known + 1
 *
 * The messages from `expected` to `known` are the gap, which `#fill` closes; a message that was delivered before the
 * gap was closed waits in `#ahead`. The order holds from `start` on, and `#check` asserts it wherever a counter has
 * moved: a contradiction ends the source and the shard starts again from its ledger, which repeats work but loses
 * nothing.
 */
export class MessageSource {
  readonly #stream: EventStream;
  #done: DoneMessages = noneDone;
  /** Messages that `next` handed out and that are not done. */
  #storing = 0;
  #expected = 0;
  #known = 0;
  /** Messages that the stream held behind the one that was delivered last. */
  #undelivered = 0;
  #acked = 0;
  readonly #queue: MessageQueue;
  readonly #unacked: UnackedMessages;
  /** Messages beyond the gap, by sequence. */
  readonly #ahead = new Map<number, StreamMessage>();
  #aheadBytes = 0;
  #isFilling = false;
  #isCatchingUp = false;
  #stopped = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(stream: EventStream, limits: BatchLimits) {
    this.#stream = stream;
    this.#queue = new MessageQueue(limits);
    this.#unacked = new UnackedMessages(stream);
  }

  /**
   * The marks of the projects that fill the queue beyond their share, so that others wait; `isTooLong`: whether more
   * waits in the stream than may.
   */
  crowding(isTooLong: boolean): number[] {
    return this.#queue.crowding(isTooLong);
  }

  /** Messages: those that wait, in the stream too, and those that were acked since the start. */
  get progress(): { waiting: number; stored: number } {
    return { waiting: this.#undelivered + this.#queue.length, stored: this.#acked };
  }

  /** No message up to this sequence is queued or still to come. */
  get completeTo(): number {
    return (this.#queue.firstSeq ?? this.#expected) - 1;
  }

  /**
   * Begins to receive the messages that are not done; `done` follows the ledger. Reads at once the messages that an
   * earlier writer received and never acked.
   */
  async start(done: DoneMessages): Promise<void> {
    this.#done = done;
    this.#moveExpected(done.hwm + 1);
    await this.#catchUp();
    this.#stream.receive({
      wants: () => this.#queue.hasRoom(this.#aheadBytes),
      onMessage: (message) => this.#arrive(message),
      // Without this look, a delivery that was lost would come to light only when the broker delivers it again.
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
    const messages = this.#queue.take();
    this.#storing += messages.length;
    this.#check();
    return { messages, completeTo: this.completeTo };
  }

  /** Takes messages of the last batch back, for a later one; `completeTo` changes with it. */
  giveBack(messages: readonly StreamMessage[]): void {
    if (messages.length === 0) return;
    this.#storing -= messages.length;
    this.#queue.giveBack(messages);
    this.#check();
  }

  /** To be called once the ledger has the batch as done. Throws, and acks nothing, where the ledger has not. */
  ack(batch: MessageBatch): void {
    // Before `start` a batch is acked that an earlier writer left pending, and that this source never took.
    if (this.#expected > 0) {
      this.#storing -= batch.messages.length;
      const isDone = batch.messages.every(({ seq }) => this.#done.isDone(seq));
      if (!isDone || this.#storing < 0)
        throw new Error('message-source: an ack of a batch that is not done: out of order');
    }
    for (const message of batch.messages) this.#unacked.ack(message);
    this.#acked += batch.messages.length;
    this.#notify();
  }

  /** Ends the delivery of messages; `next` still gives the messages that are queued. */
  stop(): void {
    this.#stopped = true;
    this.#unacked.stopReports();
    this.#stream.close();
    this.#notify();
  }

  /** Throws where the counters contradict each other. */
  #check(): void {
    const { lastSeq = this.#expected - 1 } = this.#queue;
    if (lastSeq < this.#expected && this.#expected <= this.#known + 1) return;
    const counters = `expected ${this.#expected}, known ${this.#known}`;
    throw new Error(`message-source: ${counters}, queued up to ${lastSeq}: out of order`);
  }

  #moveExpected(expected: number): void {
    this.#expected = expected;
    this.#known = Math.max(this.#known, expected - 1);
    this.#check();
  }

  #arrive(message: StreamMessage): void {
    try {
      if (!this.#stopped) this.#take(message);
    } catch (error) {
      this.fail(error);
    }
  }

  #take(message: StreamMessage): void {
    this.#undelivered = message.undelivered ?? this.#undelivered;
    const held = this.#ahead.get(message.seq);
    if (held !== undefined) requireSame(held, message);
    else if (this.#done.isDone(message.seq)) {
      requireDone(message, this.#done.newestMs);
      this.#guard(this.#ackAgain(message));
      if (message.seq === this.#expected) this.#moveExpected(this.#expected + 1);
    } else if (message.seq < this.#expected) {
      this.#unacked.deliveredAgain(message);
    } else if (message.seq === this.#expected) {
      this.#enqueue(message);
    } else {
      this.#ahead.set(message.seq, message);
      this.#aheadBytes += message.data.length;
      this.#known = Math.max(this.#known, message.seq);
      this.#fill();
    }
  }

  /** The ledger has it as done, so its ack was lost, unless the sequence was given to a second message. */
  async #ackAgain(message: StreamMessage): Promise<void> {
    if (!(await this.#stream.hasHeld(this.#done.lastDone)))
      throw new Error('the stream was made anew, or has lost messages');
    this.#stream.ack(message);
  }

  /** Queues the message that is expected; throws where it is another one. */
  #enqueue(message: StreamMessage): void {
    if (message.seq !== this.#expected)
      throw new Error(`message-source: message ${message.seq} for ${this.#expected}: out of order`);
    const isSooner = this.#queue.push(message);
    this.#unacked.add(message);
    this.#moveExpected(this.#expected + 1);
    if (isSooner) this.#notify();
  }

  #openMs(): number {
    return this.#stopped ? 0 : this.#queue.openMs(this.#storing > 0);
  }

  /**
   * Looks for messages that were delivered to any source and did not arrive here; does nothing while it looks already.
   * Without its broker a look waits, and each silence meanwhile would add one that asks again and again.
   */
  async #catchUp(): Promise<void> {
    if (this.#isCatchingUp) return;
    this.#isCatchingUp = true;
    const lastDelivered = await this.#stream.lastDelivered();
    this.#isCatchingUp = false;
    this.#known = Math.max(this.#known, lastDelivered);
    this.#fill();
  }

  /** Closes the gap in the background; does nothing where there is none or it is being closed. */
  #fill(): void {
    if (this.#isFilling || this.#stopped || this.#expected > this.#known) return;
    this.#isFilling = true;
    const filled = this.#fillGap().finally(() => {
      this.#isFilling = false;
    });
    this.#guard(filled.then(() => this.#fill()));
  }

  async #fillGap(): Promise<void> {
    // The messages before the stream's first one were acked or deleted.
    const firstSeq = await this.#stream.firstSeq();
    this.#moveExpected(Math.max(this.#expected, firstSeq));
    while (!this.#stopped && this.#expected <= this.#known) {
      if (this.#done.isDone(this.#expected)) {
        this.#moveExpected(this.#expected + 1);
        continue;
      }
      const delivered = this.#takeAhead(this.#expected);
      if (delivered !== undefined) this.#enqueue(delivered);
      else if (this.#queue.hasRoom(0)) await this.#fetchMissing();
      else await new Promise((resolve) => setTimeout(resolve, roomPauseMs));
    }
  }

  /** Reads the messages of the gap up to the next one in `#ahead`, and passes over sequences that hold nothing. */
  async #fetchMissing(): Promise<void> {
    const seqs: number[] = [];
    for (let seq = this.#expected; seq <= this.#known && seqs.length < fillAtOnce; seq++) {
      if (this.#ahead.has(seq) || this.#done.isDone(seq)) break;
      seqs.push(seq);
    }
    const found = await Promise.all(seqs.map((seq) => this.#stream.stored(seq)));
    for (const [index, read] of found.entries()) {
      const seq = seqs[index] ?? 0;
      // While it was read the message may have been delivered: then it is ahead, or queued already.
      const message = this.#takeAhead(seq) ?? read;
      if (seq < this.#expected) continue;
      if (message !== undefined) this.#enqueue(message);
      else this.#moveExpected(seq + 1);
    }
  }

  #takeAhead(seq: number): StreamMessage | undefined {
    const message = this.#ahead.get(seq);
    if (message === undefined) return undefined;
    this.#ahead.delete(seq);
    this.#aheadBytes -= message.data.length;
    return message;
  }

  /** Ends the source where work in the background fails. */
  #guard(work: Promise<void>): void {
    work.catch((error: unknown) => this.fail(error));
  }

  /** Ends the source; `next` throws the error. */
  fail(error: unknown): void {
    if (this.#stopped) return;
    this.#failure = error instanceof Error ? error : new Error(String(error));
    this.stop();
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
