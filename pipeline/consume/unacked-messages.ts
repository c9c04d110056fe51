// The messages that the source holds and has not acked. Every 20 seconds it tells the broker that they are still worked
// on, so that the broker does not deliver them again. It does not decide when a message is acked.

import type { EventStream, StreamMessage } from './event-stream.ts';
import { requireSame } from './given-anew.ts';

/** A third of the consumer's ack_wait. */
const keepAliveEveryMs = 20_000;

interface UnackedMessage {
  readonly message: StreamMessage;
  /** When the broker last heard of it. */
  heardMs: number;
}

export class UnackedMessages {
  readonly #stream: Pick<EventStream, 'ack' | 'working'>;
  readonly #unacked = new Map<number, UnackedMessage>();
  readonly #keepAlive: NodeJS.Timeout;

  constructor(stream: Pick<EventStream, 'ack' | 'working'>) {
    this.#stream = stream;
    this.#keepAlive = setInterval(() => this.#reportWork(), keepAliveEveryMs);
    this.#keepAlive.unref();
  }

  add(message: StreamMessage): void {
    this.#unacked.set(message.seq, { message, heardMs: performance.now() });
  }

  /**
   * Gives a message that was read without a delivery the ack subject of its later delivery, to be acked by that. Throws
   * where another message is delivered under its sequence.
   */
  deliveredAgain(message: StreamMessage): void {
    const held = this.#unacked.get(message.seq)?.message;
    if (held === undefined) return;
    requireSame(held, message);
    held.ackSubject ??= message.ackSubject;
  }

  ack(message: StreamMessage): void {
    this.#unacked.delete(message.seq);
    this.#stream.ack(message);
  }

  /** Ends the reports; messages can still be acked. */
  stopReports(): void {
    clearInterval(this.#keepAlive);
  }

  #reportWork(): void {
    const nowMs = performance.now();
    for (const held of this.#unacked.values()) {
      if (nowMs - held.heardMs < keepAliveEveryMs / 2) continue;
      this.#stream.working(held.message);
      held.heardMs = nowMs;
    }
  }
}
