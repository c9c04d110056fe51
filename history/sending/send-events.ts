// Sends events in the order of time, without those that are stored: whatever was imported before, from this file or
// from another, and however long ago.

import { dayMs } from '../../platform/clock.ts';
import { maxEventsPerRequest } from '../../platform/limits.ts';
import { bodyOf, type HeldEvent, sentBytes } from '../events/held-event.ts';
import type { Service } from './service.ts';

/** Asked for together; their days are read once for all of them. */
const maxAsked = 10_000;
/** Longer bodies go another way through the service, which takes longer. */
const maxBodyBytes = 1_000_000;
/** A question about stored ids takes at most 400 days. */
const maxAskedMs = 399 * dayMs;
/** Of what is asked or sent at once: while one is looked up, others are queued. */
const atOnce = 4;

export interface SentCounts {
  sent: number;
  stored: number;
}

interface SendOptions {
  service: Pick<Service, 'findStored' | 'sendEvents'>;
  /** By how much an event's time may differ from that of the same event that is stored. */
  timeDoubtMs: number;
  onDone: (counts: SentCounts) => void;
}

export class EventSender {
  readonly #options: SendOptions;
  readonly #running = new Set<Promise<void>>();
  /** For bodies: new memory costs the kernel and the collector as much as copying. */
  readonly #rooms: Buffer[] = [];
  #failure: unknown;

  constructor(options: SendOptions) {
    this.#options = options;
  }

  /** `events` in the order of time. Resolves once there is room for more. Throws what sending throws. */
  async send(events: readonly HeldEvent[]): Promise<void> {
    for (const asked of slicesOf(events)) {
      while (this.#running.size >= atOnce) await Promise.race(this.#running);
      if (this.#failure !== undefined) throw this.#failure;
      const running: Promise<void> = this.#sendNew(asked)
        .catch((error: unknown) => {
          this.#failure ??= error;
        })
        .finally(() => this.#running.delete(running));
      this.#running.add(running);
    }
  }

  /** Resolves once all is queued. Throws what sending throws. */
  async end(): Promise<void> {
    await Promise.all(this.#running);
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #sendNew(events: readonly HeldEvent[]): Promise<void> {
    const { service, timeDoubtMs, onDone } = this.#options;
    const fromMs = (events[0]?.timeMs ?? 0) - timeDoubtMs;
    const toMs = (events.at(-1)?.timeMs ?? 0) + timeDoubtMs;
    const ids = events.map(({ eventId }) => eventId);
    const { stored } = await service.findStored(ids, Math.max(0, fromMs), toMs);
    const left =
      stored.size === 0
        ? events
        : events.filter(({ eventId }) => !stored.has(eventId.replaceAll('-', '').toLowerCase()));
    onDone({ sent: 0, stored: events.length - left.length });
    const room = this.#rooms.pop() ?? Buffer.allocUnsafeSlow(maxBodyBytes);
    for (const some of bodiesOf(left)) {
      await service.sendEvents(bodyOf(some, room));
      onDone({ sent: some.length, stored: 0 });
    }
    this.#rooms.push(room);
  }
}

function* slicesOf(events: readonly HeldEvent[]): Generator<readonly HeldEvent[]> {
  let from = 0;
  for (let at = 0; at <= events.length; at++) {
    const [first, event] = [events[from], events[at]];
    if (first === undefined) return;
    const isOver = event === undefined || event.timeMs - first.timeMs > maxAskedMs;
    if (!isOver && at - from < maxAsked) continue;
    yield events.slice(from, at);
    from = at;
  }
}

function* bodiesOf(events: readonly HeldEvent[]): Generator<readonly HeldEvent[]> {
  let from = 0;
  let bytes = 0;
  for (const [at, event] of events.entries()) {
    const added = sentBytes(event);
    const isFull = at - from === maxEventsPerRequest || bytes + added > maxBodyBytes;
    if (isFull && at > from) {
      yield events.slice(from, at);
      from = at;
      bytes = 0;
    }
    bytes += added;
  }
  if (from < events.length) yield events.slice(from);
}
