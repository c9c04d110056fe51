// Finds the projects that fill a shard's queue, so that the messages of others would no longer come into it. A project
// that has the shard to itself crowds nobody: the broker's disk is its queue, as long as whoever comes next would not
// wait too long for it (backlog.ts).

import { setBounded } from '../../../platform/memory/bounded-map.ts';
import { fairShare } from './fair-share.ts';
import { marksOf, type WaitingMessage } from './take-turns.ts';

/** From this share of the queue on, whoever has more than its part of it is told. */
const crowdedShare = 0.5;
/** Others are there if one of them sent events this lately. */
const seenMs = 60_000;
/** Two are enough to know; more are kept so that one frame of many projects does not hide them. */
const maxSeen = 256;

export class Crowding {
  readonly #maxBytes: number;
  readonly #maxMessages: number;
  /** When each project had a message last, the latest last. */
  readonly #seen = new Map<number, number>();

  constructor(maxQueuedBytes: number, maxQueuedMessages = Number.POSITIVE_INFINITY) {
    this.#maxBytes = maxQueuedBytes;
    this.#maxMessages = maxQueuedMessages;
  }

  /** To be called with the projects of each message that comes. */
  noteSeen(projects: readonly number[], nowMs: number): void {
    for (const project of projects) {
      this.#seen.delete(project);
      setBounded(this.#seen, project, nowMs, maxSeen);
    }
  }

  /**
   * Their marks; none where the queue is not crowded, or one project has it alone, unless too much waits behind it
   * (`isTooLong`).
   */
  find(waiting: readonly WaitingMessage[], nowMs: number, isTooLong: boolean): number[] {
    let bytes = 0;
    for (const one of waiting) bytes += one.queuedBytes;
    const part = Math.max(bytes / this.#maxBytes, waiting.length / this.#maxMessages);
    if (part < crowdedShare || !(isTooLong || this.#hasSeveral(nowMs))) return [];
    const parts = new Map<number, number>();
    for (const one of waiting) {
      const marks = marksOf(one);
      const held = Math.max(one.queuedBytes / this.#maxBytes, 1 / this.#maxMessages);
      for (const mark of marks) parts.set(mark, (parts.get(mark) ?? 0) + held / marks.length);
    }
    const share = fairShare(parts.values(), crowdedShare);
    return [...parts].filter(([mark, amount]) => mark >= 0 && amount > share).map(([mark]) => mark);
  }

  #hasSeveral(nowMs: number): boolean {
    const times = [...this.#seen.values()];
    return nowMs - (times.at(-2) ?? Number.NEGATIVE_INFINITY) <= seenMs;
  }
}
