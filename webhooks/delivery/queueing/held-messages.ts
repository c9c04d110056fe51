// The messages that this process works on: each is held once, however often the broker delivers it, and the broker
// hears often that it is worked on, so that no other process gets it. A message that is given back later is held until
// then: the broker counts a delay by the clock on the wall. Pulling is queue-puller.ts's.

import { everyBeat } from '../../../platform/broker/beat.ts';
import type { NatsConnection } from '../../../platform/broker/nats.ts';
import { queueAckWaitMs } from '../../../platform/webhooks/webhook-streams.ts';
import type { QueuedMessage } from './queue-puller.ts';

interface HeldMessage {
  ackSubject: string;
  bytes: number;
  /** Of a message that is to be given back later. */
  timer?: NodeJS.Timeout;
}

export class HeldMessages {
  readonly #connection: NatsConnection;
  readonly #held = new Map<string, HeldMessage>();
  readonly #stopReports: () => void;
  #bytes = 0;

  constructor(connection: NatsConnection, ackWaitMs = queueAckWaitMs) {
    this.#connection = connection;
    this.#stopReports = everyBeat(ackWaitMs / 3, () => this.#reportWork());
  }

  get count(): number {
    return this.#held.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** False where the message is held already: then there is nothing to do. */
  take({ key, ackSubject, data }: QueuedMessage): boolean {
    const held = this.#held.get(key);
    if (held !== undefined) {
      held.ackSubject = ackSubject;
      return false;
    }
    this.#held.set(key, { ackSubject, bytes: data.length });
    this.#bytes += data.length;
    return true;
  }

  ack(key: string): void {
    const held = this.#remove(key);
    if (held === undefined) return;
    this.#answer(held.ackSubject, '+ACK');
  }

  /** Gives the message back: some process gets it again after `delayMs`. */
  giveBack(key: string, delayMs: number): void {
    const held = this.#held.get(key);
    if (held === undefined) return;
    clearTimeout(held.timer);
    if (delayMs > 0) {
      held.timer = setTimeout(() => this.giveBack(key, 0), delayMs);
      held.timer.unref();
      return;
    }
    this.#remove(key);
    this.#answer(held.ackSubject, '-NAK');
  }

  /** Ends the reports, and gives back what is still held. */
  stop(): void {
    this.#stopReports();
    for (const key of [...this.#held.keys()]) this.giveBack(key, 0);
  }

  #remove(key: string): HeldMessage | undefined {
    const held = this.#held.get(key);
    if (held === undefined) return undefined;
    clearTimeout(held.timer);
    this.#held.delete(key);
    this.#bytes -= held.bytes;
    return held;
  }

  #reportWork(): void {
    for (const { ackSubject } of this.#held.values()) this.#answer(ackSubject, '+WPI');
  }

  #answer(ackSubject: string, payload: string): void {
    if (!this.#connection.isClosed()) this.#connection.publish(ackSubject, payload);
  }
}
