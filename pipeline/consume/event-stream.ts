// One shard's stream as the pipeline sees it: one pull after the other, single reads by sequence, acks. It keeps no
// order and remembers no message; message-source.ts does.

import { pullMs } from '../../platform/broker/beat.ts';
import { isClustered, leaderInfo } from '../../platform/broker/cluster/leader-info.ts';
import {
  createInbox,
  type Msg,
  type NatsConnection,
  nanos,
  type StoredMsg,
  type StreamInfo,
  type Subscription,
} from '../../platform/broker/nats.ts';
import { writerConsumer } from '../../platform/broker/streams.ts';
import { findMessage } from './queue-state.ts';

/** A message of the stream. One that was read instead of delivered has no `ackSubject`. */
export interface StreamMessage {
  seq: number;
  /** In memory of its own, so that it can be freed by itself. */
  data: Uint8Array;
  ackSubject?: string | undefined;
  /** When the broker stored it, by its clock. */
  storedMs?: number;
  /** Messages that the stream held behind it when it was delivered. */
  undelivered?: number;
}

export interface Receiver {
  /** Called before each pull: false delays it. */
  wants(): boolean;
  onMessage(message: StreamMessage): void;
  /** Called when a pull has ended without a message. */
  onSilence(): void;
}

/** The broker as message-source.ts needs it. */
export interface EventStream {
  /** Delivers messages for as long as the receiver wants them, until `close`. */
  receive(receiver: Receiver): void;
  /**
   * The message with this sequence, from the stream's leader; undefined where there is none. Retries until answered.
   */
  stored(seq: number): Promise<StreamMessage | undefined>;
  /** The lowest sequence that is stored; the next one to be stored where the stream is empty. */
  firstSeq(): Promise<number>;
  /** The highest sequence that was ever delivered to a writer. */
  lastDelivered(): Promise<number>;
  /** False where the stream was made again since it was opened, or ends before `doneSeq`: it has lost messages. */
  hasHeld(doneSeq: number): Promise<boolean>;
  ack(message: StreamMessage): void;
  /** Tells the broker not to deliver the message again for now. */
  working(message: StreamMessage): void;
  close(): void;
}

const pullMessages = 2_000;
const pullBytes = 16 * 1024 * 1024;
/** nats-server before 2.9.16 does not always say that a pull has expired. */
const pullGraceMs = 500;
/** Pause before the next pull after one that ended at once: the stream may have no leader for a moment. */
const pauseMs = 50;

const ackPayload = '+ACK';
const workingPayload = '+WPI';

interface EventStreamOptions {
  connection: NatsConnection;
  /** The stream's name. */
  stream: string;
  /** When the stream was made, in the words of its info. */
  created: string;
  /** Runs one call until it answers; see platform/retry.ts. */
  retry: <T>(call: () => Promise<T>) => Promise<T>;
}

/** When a stream was made, in the words of its info. */
export async function streamCreated(connection: NatsConnection, stream: string): Promise<string> {
  return (await streamInfo(connection, stream)).created;
}

export function openEventStream(options: EventStreamOptions): EventStream {
  const { connection, stream, created, retry } = options;
  const puller = new Puller(connection, stream);
  return {
    receive: (receiver) => puller.start(receiver),
    stored: (seq) => retry(() => readMessage(connection, stream, seq)),
    firstSeq: () => retry(async () => (await streamInfo(connection, stream)).state.first_seq),
    lastDelivered: () =>
      retry(async () => {
        const manager = await connection.jetstreamManager({ checkAPI: false });
        return (await manager.consumers.info(stream, writerConsumer)).delivered.stream_seq;
      }),
    hasHeld: (doneSeq) =>
      retry(async () => {
        const info = await streamInfo(connection, stream);
        return info.created === created && info.state.last_seq >= doneSeq;
      }),
    ack: (message) => answer(connection, message, ackPayload),
    working: (message) => answer(connection, message, workingPayload),
    close: () => puller.stop(),
  };
}

async function streamInfo(connection: NatsConnection, stream: string): Promise<StreamInfo> {
  const manager = await connection.jetstreamManager({ checkAPI: false });
  return leaderInfo(manager, stream);
}

/**
 * Asks the leader instead of a "direct get": a replica that lags would answer 'not found' for a message that is there.
 * So does a cluster's new leader until it has applied its log: its word counts where it leads before and after, and
 * its stream has reached the message.
 */
async function readMessage(
  connection: NatsConnection,
  stream: string,
  seq: number,
): Promise<StreamMessage | undefined> {
  const found = await findMessage(connection, stream, seq);
  if (found !== undefined) return readOf(found);
  if (!isClustered(connection)) return undefined;
  const before = await streamInfo(connection, stream);
  const again = await findMessage(connection, stream, seq);
  if (again !== undefined) return readOf(again);
  const after = await streamInfo(connection, stream);
  const isReached = before.state.last_seq >= seq;
  if (isReached && before.cluster?.leader === after.cluster?.leader) return undefined;
  throw new Error(`the leader of ${stream} has not applied its log up to ${seq} yet`);
}

function readOf({ seq, data, time }: StoredMsg): StreamMessage {
  return { seq, data: copyOf(data), storedMs: time.getTime() };
}

/**
 * The client's bytes are views of everything that it read at once, or of memory that it doubled until they fitted.
 * Memory that is released at once is collected with the young generation. Held until a batch is full, it makes the
 * collector walk the whole heap, twice as often under full load.
 */
function copyOf(bytes: Uint8Array): Uint8Array {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}

function answer(connection: NatsConnection, message: StreamMessage, payload: string): void {
  if (message.ackSubject === undefined || connection.isClosed()) return;
  connection.publish(message.ackSubject, payload);
}

/** Keeps one pull request open at the server. A pull is over at its last message, at any status, or at its deadline. */
class Puller {
  readonly #connection: NatsConnection;
  readonly #nextSubject: string;
  readonly #inbox = createInbox();
  readonly #maxBytes: number;
  #subscription: Subscription | undefined;
  #pulls = 0;
  #received = 0;
  #startedMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(connection: NatsConnection, stream: string) {
    this.#connection = connection;
    this.#nextSubject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${writerConsumer}`;
    // The server would refuse a pull that is smaller than the next message, for ever.
    this.#maxBytes = Math.max(pullBytes, 2 * (connection.info?.max_payload ?? 0));
  }

  start(receiver: Receiver): void {
    this.#subscription = this.#connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error === null) this.#receive(message, receiver);
      },
    });
    this.#pull(receiver);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#subscription?.unsubscribe();
    this.#subscription = undefined;
  }

  #receive(message: Msg, receiver: Receiver): void {
    const delivery = deliveryOf(message);
    if (delivery === undefined) {
      // A status carries its pull's subject: the status of an earlier pull says nothing about this one.
      if (message.subject === this.#pullSubject()) this.#end(receiver);
      return;
    }
    this.#received++;
    receiver.onMessage({ ...delivery, data: copyOf(message.data), ackSubject: message.reply });
    if (this.#received === pullMessages) this.#end(receiver);
  }

  #end(receiver: Receiver): void {
    clearTimeout(this.#timer);
    if (this.#received === 0) receiver.onSilence();
    const hasWaited = performance.now() - this.#startedMs > pauseMs;
    if (this.#received > 0 || hasWaited) this.#pull(receiver);
    else this.#timer = setTimeout(() => this.#pull(receiver), pauseMs);
  }

  #pull(receiver: Receiver): void {
    if (this.#subscription === undefined || this.#connection.isClosed()) return;
    if (!receiver.wants()) {
      this.#timer = setTimeout(() => this.#pull(receiver), pauseMs);
      return;
    }
    this.#pulls++;
    this.#received = 0;
    this.#startedMs = performance.now();
    const expiresMs = pullMs();
    const expires = nanos(expiresMs);
    const request = { batch: pullMessages, max_bytes: this.#maxBytes, expires };
    const reply = this.#pullSubject();
    this.#connection.publish(this.#nextSubject, JSON.stringify(request), { reply });
    this.#timer = setTimeout(() => this.#end(receiver), expiresMs + pullGraceMs);
  }

  #pullSubject(): string {
    return `${this.#inbox}.${this.#pulls}`;
  }
}

/** What a message's ack subject says; undefined for a status, which has no such subject. */
function deliveryOf(
  message: Msg,
): Pick<StreamMessage, 'seq' | 'storedMs' | 'undelivered'> | undefined {
  if (message.reply === undefined || !message.reply.startsWith('$JS.ACK.')) return undefined;
  const tokens = message.reply.split('.');
  // Newer servers put the domain and the account's hash in front of the stream's name.
  const first = tokens.length === 9 ? 2 : 4;
  const [seq, undelivered] = [Number(tokens[first + 3]), Number(tokens[first + 6])];
  // Nanoseconds, which a number does not hold.
  const storedMs = Number(tokens[first + 5]?.slice(0, -6));
  return Number.isSafeInteger(seq) ? { seq, storedMs, undelivered } : undefined;
}
