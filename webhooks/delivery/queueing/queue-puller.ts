// Pulls the messages of one durable consumer, never more than its receiver has room for. Acks are held-messages.ts's.

import { pullMs } from '../../../platform/broker/beat.ts';
import {
  createInbox,
  type Msg,
  type NatsConnection,
  nanos,
  type Subscription,
} from '../../../platform/broker/nats.ts';

export interface QueuedMessage {
  /** Names the message for ever: its sequence in the stream, and when it was stored. */
  key: string;
  /** The broker's stamp, ms since the epoch. */
  storedTimeMs: number;
  /** A view of the client's memory: read it at once. */
  data: Uint8Array;
  ackSubject: string;
  /** How many the consumer has left behind this one. */
  left: number;
}

interface PullerOptions {
  connection: NatsConnection;
  stream: string;
  consumer: string;
  /** Asked before each pull: how many messages there is room for now. */
  wants(): number;
  onMessage(message: QueuedMessage): void;
}

export interface QueuePuller {
  /**
   * Makes no further pull. Resolves when the last one has ended: until then its messages still come, because one that
   * the broker sends to nobody would wait for the consumer's ack_wait.
   */
  stop(): Promise<void>;
}

const maxPullMessages = 256;
/** nats-server before 2.9.16 does not always say that a pull has expired. */
const pullGraceMs = 500;
/** Between two looks whether there is room, and after a pull that ended at once. */
const pauseMs = 25;

/** Keeps one pull open at the server until it is stopped; over a broken connection too. */
export function openQueuePuller(options: PullerOptions): QueuePuller {
  const puller = new Puller(options);
  puller.start();
  return puller;
}

class Puller implements QueuePuller {
  readonly #options: PullerOptions;
  readonly #inbox = createInbox();
  #subscription: Subscription | undefined;
  #pulls = 0;
  #wanted = 0;
  #received = 0;
  #startedMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #isPulling = false;
  #stopping = false;
  #hasClosed: () => void = () => {};
  readonly #closed = new Promise<void>((resolve) => {
    this.#hasClosed = resolve;
  });

  constructor(options: PullerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#subscription = this.#options.connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error === null) this.#receive(message);
      },
    });
    this.#pull();
  }

  stop(): Promise<void> {
    this.#stopping = true;
    if (!this.#isPulling) this.#close();
    return this.#closed;
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.#subscription?.unsubscribe();
    this.#subscription = undefined;
    this.#hasClosed();
  }

  #receive(message: Msg): void {
    const queued = queuedMessage(message);
    if (queued === undefined) {
      // A status carries its pull's subject: the status of an earlier pull says nothing about this one.
      if (message.subject === this.#pullSubject()) this.#end();
      return;
    }
    this.#received++;
    this.#options.onMessage(queued);
    if (this.#received === this.#wanted) this.#end();
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#isPulling = false;
    const hasWaited = performance.now() - this.#startedMs > pauseMs;
    if (this.#stopping) this.#close();
    else if (this.#received > 0 || hasWaited) this.#pull();
    else this.#pullLater();
  }

  #pullLater(): void {
    this.#timer = setTimeout(() => this.#pull(), pauseMs);
  }

  #pull(): void {
    const { connection, stream, consumer } = this.#options;
    if (this.#stopping || connection.isClosed()) {
      this.#close();
      return;
    }
    this.#wanted = Math.min(maxPullMessages, this.#options.wants());
    if (this.#wanted <= 0) {
      this.#pullLater();
      return;
    }
    this.#pulls++;
    this.#isPulling = true;
    this.#received = 0;
    this.#startedMs = performance.now();
    const expiresMs = pullMs();
    const request = { batch: this.#wanted, expires: nanos(expiresMs) };
    const reply = this.#pullSubject();
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`;
    connection.publish(subject, JSON.stringify(request), { reply });
    this.#timer = setTimeout(() => this.#end(), expiresMs + pullGraceMs);
  }

  #pullSubject(): string {
    return `${this.#inbox}.${this.#pulls}`;
  }
}

/** Undefined for a status, which has no ack subject. */
function queuedMessage(message: Msg): QueuedMessage | undefined {
  const { reply } = message;
  if (reply === undefined || !reply.startsWith('$JS.ACK.')) return undefined;
  const tokens = reply.split('.');
  // Newer servers put the domain and the account's hash in front of the stream's name.
  const first = tokens.length === 9 ? 2 : 4;
  const [stream, sequence, storedAt] = [tokens[first], tokens[first + 3], tokens[first + 5]];
  const key = `${stream}.${sequence}.${storedAt}`;
  const left = Number(tokens[first + 6]);
  const storedTimeMs = Number(storedAt) / 1e6;
  return { key, storedTimeMs, data: message.data, ackSubject: reply, left };
}
