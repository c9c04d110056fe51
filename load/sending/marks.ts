// How soon events are listed, by one marked event a second: the first event of a request moves into a session of the
// run's own, and List is asked for that session until the event is there. The request itself is the generator's.

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../../demo/sending/client.ts';
import { RequestRefused } from '../../demo/sending/request-refused.ts';
import { rfc3339 } from '../../demo/visits/event.ts';

interface Mark {
  /** When its request was due, by performance.now(), and by the calendar. */
  dueMs: number;
  occurMs: number;
  acknowledged: boolean;
}

export interface ListedSummary {
  /** Marked events that were acknowledged and listed. */
  marks: number;
  medianMs: number;
  highestMs: number;
  /** Acknowledged and not listed when the wait for them ended. */
  missing: number;
}

const everyMs = 1_000;
/** The precision of each figure. Reading more often would be a load of its own. */
const pollMs = 200;
/** With so many unlisted nothing more is marked: one page of List holds them all. */
const maxWaiting = 50;

export class Marks {
  /** The session of all marked events. */
  readonly session = randomUUID();
  readonly #list: (filter: Record<string, unknown>) => Promise<{ eventId: string }[]>;
  readonly #waiting = new Map<string, Mark>();
  readonly #listedMs: number[] = [];
  #nextMs = 0;
  #stopped = false;
  #polling: Promise<void> | undefined;

  /** `client` should try once: a poll that fails is followed by the next. */
  constructor(client: Pick<Client, 'listEvents'>, privateKey: string) {
    this.#list = (filter) => client.listEvents(filter, privateKey);
  }

  /** Whether the request that goes out now carries a mark. */
  isDue(dueMs: number): boolean {
    return dueMs >= this.#nextMs && this.#waiting.size < maxWaiting;
  }

  begin(eventId: string, dueMs: number, occurMs: number): void {
    this.#nextMs = Math.max(dueMs, this.#nextMs) + everyMs;
    this.#waiting.set(eventId, { dueMs, occurMs, acknowledged: false });
  }

  acknowledge(eventId: string): void {
    const mark = this.#waiting.get(eventId);
    if (mark === undefined) return;
    mark.acknowledged = true;
    this.#polling ??= this.#poll();
  }

  /** Its request was refused or lost. */
  drop(eventId: string): void {
    this.#waiting.delete(eventId);
  }

  /** Waits until all are listed, at most so long; polls no more afterwards. */
  async settle(maxWaitMs: number, signal: AbortSignal): Promise<ListedSummary> {
    const deadlineMs = performance.now() + maxWaitMs;
    while (this.#waiting.size > 0 && performance.now() < deadlineMs && !signal.aborted) {
      await delay(pollMs);
    }
    this.#stopped = true;
    await this.#polling;
    const sorted = this.#listedMs.toSorted((a, b) => a - b);
    return {
      marks: sorted.length,
      medianMs: sorted[Math.floor(sorted.length / 2)] ?? 0,
      highestMs: sorted.at(-1) ?? 0,
      missing: this.#waiting.size,
    };
  }

  async #poll(): Promise<void> {
    while (!this.#stopped) {
      const first = this.#oldestAcknowledged();
      if (first === undefined) break;
      await this.#look(first);
      await delay(pollMs);
    }
    this.#polling = undefined;
  }

  async #look(oldest: Mark): Promise<void> {
    const timeRange = { from: rfc3339(oldest.occurMs) };
    try {
      const filter = { sessionId: this.session, timeRange, pageSize: 2 * maxWaiting };
      const events = await this.#list(filter);
      const nowMs = performance.now();
      for (const { eventId } of events) {
        const mark = this.#waiting.get(eventId);
        if (mark === undefined || !this.#waiting.delete(eventId)) continue;
        this.#listedMs.push(nowMs - mark.dueMs);
      }
    } catch (error) {
      // The instance is overloaded or gone: the marks stay unlisted until it answers.
      if (!(error instanceof RequestRefused)) throw error;
    }
  }

  #oldestAcknowledged(): Mark | undefined {
    for (const mark of this.#waiting.values()) if (mark.acknowledged) return mark;
    return undefined;
  }
}
