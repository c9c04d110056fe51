// A shard's messages that wait to become a batch: how many go into one, and how long it stays open. The queue takes its
// messages in stream order and knows neither the broker nor acks. Whose messages are next is turns/take-turns.ts's.

import { frameEvents, frameProjects, unpackedBytes } from '../../proto/wire/frame.ts';
import type { StreamMessage } from './event-stream.ts';
import { Crowding } from './turns/crowding.ts';
import { isImport, takeTurns, type WaitingMessage } from './turns/take-turns.ts';

export interface BatchLimits {
  /** A batch takes all that waits, up to any of these three, unless one message alone is larger. */
  maxRows: number;
  maxBytes: number;
  maxMessages: number;
  /** Of messages that wait, as the broker has them: among these, projects take turns. */
  maxQueuedBytes: number;
  /** How many may wait; absent where their bytes alone bound them. */
  maxQueuedMessages?: number;
  /**
   * This share of `maxRows` or `maxBytes` closes a batch. So a batch is larger only where more waits already: of a
   * writer that is behind, whose parts are then fewer and cheaper to merge.
   */
  enoughShare: number;
  /**
   * Of imports, in one batch, while events of now come: those wait for the insert of what is before them and beside
   * them. No bound unless given.
   */
  maxImportRows?: number;
  /**
   * A batch of imports alone stays open until it is full, as long as more come, this long after its first message at
   * most: nobody waits for its events, and the insert alone costs as much as thousands of rows. Like any other batch
   * unless given.
   */
  maxImportWaitMs?: number;
  /**
   * A batch stays open this long after its first message, and this long after the batch before it was closed: the
   * engine must merge every part.
   */
  minWaitMs: number;
  minIntervalMs: number;
  /**
   * In place of `minIntervalMs` while fewer than `maxRows` wait and more than `quickBatches` have come one after the
   * other; one more may be quick after each such interval. An insert costs the engine as much as thousands of rows.
   */
  gather?: { intervalMs: number; maxRows: number; quickBatches: number };
  /** In place of all these while imports wait: their rows make each insert longer, so the next begins sooner. */
  minImportIntervalMs?: number;
  /** While the batch before it is being stored, a batch grows on, for at most this long after its first message. */
  maxWaitMs: number;
}

/** Events of now come while the last of them came this lately: who has few wants to see those, too. */
const liveMs = 60_000;
/** An import that has sent nothing for so long is at its end, or does something else. */
const importPauseMs = 300;
/** Of imports, so many batches may wait then: more would only take the machine from those events. */
const importBatchesAhead = 3;

/** What waits of one lane. */
interface Waiting {
  rows: number;
  bytes: number;
  messages: number;
}

export class MessageQueue {
  readonly #limits: BatchLimits;
  readonly #crowding: Crowding;
  /** In stream order. */
  #waiting: WaitingMessage[] = [];
  #queuedBytes = 0;
  readonly #live: Waiting = { rows: 0, bytes: 0, messages: 0 };
  readonly #imports: Waiting = { rows: 0, bytes: 0, messages: 0 };
  /** When an event that is no import's was queued last. */
  #liveMs = Number.NEGATIVE_INFINITY;
  /** When the first message of the next batch was queued, or became its first because a batch was taken. */
  #waitingSinceMs = 0;
  /** When a message was queued last. */
  #pushedMs = Number.NEGATIVE_INFINITY;
  /** When the last batch was taken. */
  #takenMs = Number.NEGATIVE_INFINITY;
  /** So many batches may follow each other quickly, before `gather` holds: of who sends a few events, each counts. */
  #quickBatches: number;

  constructor(limits: BatchLimits) {
    this.#limits = limits;
    this.#crowding = new Crowding(limits.maxQueuedBytes, limits.maxQueuedMessages);
    this.#quickBatches = limits.gather?.quickBatches ?? 0;
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** Sequence of the first message that waits; undefined where the queue is empty. */
  get firstSeq(): number | undefined {
    return this.#waiting[0]?.message.seq;
  }

  /** Sequence of the message that was queued last; undefined where the queue is empty. */
  get lastSeq(): number | undefined {
    return this.#waiting.at(-1)?.message.seq;
  }

  /**
   * The marks of the projects that fill the queue beyond their share, so that others wait, and of imports that are
   * ahead of the writer while events of now come.
   */
  crowding(isTooLong: boolean): number[] {
    const marks = this.#crowding.find(this.#waiting, performance.now(), isTooLong);
    if (this.#imports.rows <= importBatchesAhead * this.#maxImportRows) return marks;
    const imports = this.#waiting.flatMap((one) => (isImport(one) ? one.projects : []));
    return [...new Set([...marks, ...imports])];
  }

  /** The next batch need not wait for more messages. */
  get hasEnough(): boolean {
    const { maxRows, maxBytes, maxMessages } = this.#limits;
    const enoughShare = this.#gathersImports ? 1 : this.#limits.enoughShare;
    const live = this.#live;
    // Imports that wait for their turn close no batch.
    const also = this.#maxImportRows < this.#imports.rows ? undefined : this.#imports;
    return (
      live.rows + (also?.rows ?? 0) >= enoughShare * maxRows ||
      live.bytes + (also?.bytes ?? 0) >= enoughShare * maxBytes ||
      live.messages + (also?.messages ?? 0) >= maxMessages
    );
  }

  get #maxImportRows(): number {
    const { maxImportRows = Number.POSITIVE_INFINITY } = this.#limits;
    return this.#isLive ? maxImportRows : Number.POSITIVE_INFINITY;
  }

  get #isLive(): boolean {
    return performance.now() - this.#liveMs <= liveMs;
  }

  get #gathersImports(): boolean {
    return this.#limits.maxImportWaitMs !== undefined && this.#live.messages === 0 && !this.#isLive;
  }

  /** The queue has room for more messages, beside `otherBytes` that wait elsewhere. */
  hasRoom(otherBytes: number): boolean {
    const { maxQueuedBytes, maxQueuedMessages = Number.POSITIVE_INFINITY } = this.#limits;
    const hasBytes = this.#queuedBytes + otherBytes < maxQueuedBytes;
    return hasBytes && this.#waiting.length < maxQueuedMessages;
  }

  /** Returns whether the batch may be closed earlier than `openMs` told before. */
  push(message: StreamMessage): boolean {
    const nowMs = performance.now();
    const gathered = this.#gathersImports;
    const intervalMs = this.#intervalMs;
    if (this.#waiting.length === 0) this.#waitingSinceMs = nowMs;
    this.#pushedMs = nowMs;
    const waiting = waitingOf(message);
    this.#waiting.push(waiting);
    this.#count(waiting, 1);
    if (!isImport(waiting)) this.#liveMs = nowMs;
    this.#crowding.noteSeen(waiting.projects, nowMs);
    const isSooner = this.#intervalMs < intervalMs || (gathered && !this.#gathersImports);
    return this.#waiting.length === 1 || this.hasEnough || isSooner;
  }

  /** Puts taken messages back into their places, for a later batch. */
  giveBack(messages: readonly StreamMessage[]): void {
    const waiting = messages.map(waitingOf);
    for (const one of waiting) this.#count(one, 1);
    this.#waiting = [...waiting, ...this.#waiting].sort((a, b) => a.message.seq - b.message.seq);
  }

  /** How much longer the batch stays open if nothing happens; at most 0 where it is to be closed. */
  openMs(isStoring: boolean): number {
    if (this.hasEnough) return 0;
    const { minWaitMs, maxWaitMs, maxImportWaitMs = maxWaitMs } = this.#limits;
    if (this.#gathersImports) {
      const quietMs = Math.max(this.#waitingSinceMs, this.#pushedMs) + importPauseMs;
      return Math.min(this.#waitingSinceMs + maxImportWaitMs, quietMs) - performance.now();
    }
    const latestMs = this.#waitingSinceMs + maxWaitMs;
    const earliestMs = Math.max(this.#waitingSinceMs + minWaitMs, this.#takenMs + this.#intervalMs);
    return (isStoring ? latestMs : Math.min(earliestMs, latestMs)) - performance.now();
  }

  /** From the batch before on. */
  get #intervalMs(): number {
    const { gather, minIntervalMs, minImportIntervalMs = minIntervalMs } = this.#limits;
    if (this.#imports.messages > 0) return minImportIntervalMs;
    const gathers = gather !== undefined && this.#live.rows < gather.maxRows;
    return gathers && this.#quickBatches < 1 ? gather.intervalMs : minIntervalMs;
  }

  /** Removes the messages of the next batch and returns them, ascending: at least one where the queue has any. */
  take(): StreamMessage[] {
    const { taken, left } = takeTurns(this.#waiting, {
      ...this.#limits,
      maxImportRows: this.#maxImportRows,
    });
    this.#waiting = left;
    for (const waiting of taken) this.#count(waiting, -1);
    const nowMs = performance.now();
    this.#countQuick(nowMs - this.#takenMs);
    this.#takenMs = nowMs;
    this.#waitingSinceMs = nowMs;
    return taken.map(({ message }) => message);
  }

  /** A batch was taken so long after the one before it. */
  #countQuick(afterMs: number): void {
    const { gather } = this.#limits;
    if (gather === undefined) return;
    const earned = Math.min(gather.quickBatches, this.#quickBatches + afterMs / gather.intervalMs);
    this.#quickBatches = Math.max(0, earned - 1);
  }

  #count(waiting: WaitingMessage, sign: 1 | -1): void {
    const lane = isImport(waiting) ? this.#imports : this.#live;
    lane.rows += sign * waiting.rows;
    lane.bytes += sign * waiting.bytes;
    lane.messages += sign;
    this.#queuedBytes += sign * waiting.queuedBytes;
  }
}

function waitingOf(message: StreamMessage): WaitingMessage {
  const { data } = message;
  return {
    message,
    queuedBytes: data.length,
    bytes: unpackedBytes(data),
    rows: frameEvents(data),
    projects: frameProjects(data),
  };
}
