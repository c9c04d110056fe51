// Requests into the broker: those that are ready in the same turn of the event loop share one message, and each is
// answered when that message's acknowledgement arrives. Core publish with one reply inbox for all of them, because a
// JetStream client's publish costs ten times as much. Does not retry: the sender does, and event ids make that safe.

import {
  type ConnectionState,
  createInbox,
  type Msg,
  type PublishOutcome,
  publishOutcome,
} from '../../platform/broker/nats.ts';
import { maxFrameEvents } from '../../platform/limits.ts';
import {
  type EncodedRequest,
  FRAME_HEADER_BYTES,
  FrameWriter,
  requestBytes,
} from '../../proto/wire/frame.ts';
import { FramePacking } from './frame-packing.ts';

/** `full`: surely not queued. `unavailable`: not known to be queued. */
export type Published = 'stored' | 'full' | 'unavailable';

/** What is needed of a broker connection. */
export interface Broker {
  publish(subject: string, payload: Uint8Array, options: { reply: string }): void;
  subscribe(
    subject: string,
    options: { callback: (error: Error | null, reply: Msg) => void },
  ): { unsubscribe(): void };
  /** Resolves when the broker has read all that was written before. */
  flush(): Promise<void>;
}

export interface PublisherOptions {
  broker: Broker;
  state: Pick<ConnectionState, 'connected' | 'onChange'>;
  subjectOf: (shard: number) => string;
  /** How long the broker may take to acknowledge a frame. */
  deadlineMs: number;
  /** A frame is closed before it grows past it, unless one request alone is larger. */
  maxFrameBytes: number;
  /** Bytes of frames that wait for their acknowledgement; past it requests are refused as `full`. */
  maxInFlightBytes: number;
  /** Whether frames are packed where it pays. Bounds count their bytes before that. */
  lz4: boolean;
  /** Told once per frame, after its outcome is known. */
  onFrame?: (frame: FrameReport) => void;
}

export interface FrameReport {
  outcome: PublishOutcome;
  requests: number;
  bytes: number;
  /** Fewer than `bytes` where the frame was packed. */
  sentBytes: number;
  /** From the first request's arrival to the outcome. */
  seconds: number;
  inFlightBytes: number;
}

interface Frame {
  shard: number;
  settle: ((published: Published) => void)[];
  bytes: number;
  sentBytes: number;
  /** On performance.now()'s scale. */
  openedAtMs: number;
  isSettled: boolean;
}

/** A frame that is being gathered. */
interface OpenFrame {
  frame: Frame;
  writer: FrameWriter;
}

/** Memory of frames that were sent, for the next ones. One that a large body made grow is not kept. */
const maxKeptWriters = 4;

export class Publisher {
  readonly #options: PublisherOptions;
  readonly #inbox = createInbox();
  readonly #packing: FramePacking;
  readonly #subscription: { unsubscribe(): void };
  /** At most one a shard: what the current turn has gathered. */
  readonly #open = new Map<number, OpenFrame>();
  /** By the last token of the reply subject, oldest first. */
  readonly #sent = new Map<string, Frame>();
  readonly #writers: FrameWriter[] = [];
  #frames = 0;
  #inFlightBytes = 0;
  #isFlushScheduled = false;
  #isClosed = false;
  #sweep: NodeJS.Timeout | undefined;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#packing = new FramePacking(options.lz4);
    this.#subscription = options.broker.subscribe(`${this.#inbox}.*`, {
      callback: (error, reply) => this.#acknowledged(error, reply),
    });
    options.state.onChange((connected) => {
      if (!connected) this.#abandonAll('connection lost');
    });
  }

  /**
   * Never rejects; the request's body is not needed any more once this returns. Settles within `timeoutMs`, and within
   * the publisher's deadline where that is sooner.
   */
  publish(shard: number, request: EncodedRequest, timeoutMs: number): Promise<Published> {
    const { state, deadlineMs, maxInFlightBytes } = this.#options;
    if (this.#isClosed || !state.connected()) return Promise.resolve('unavailable');
    const bytes = requestBytes(request);
    if (this.#inFlightBytes + bytes > maxInFlightBytes) return Promise.resolve('full');
    const { frame, writer } = this.#frameFor(shard, bytes, request.events);
    writer.append(request);
    frame.bytes = writer.length;
    this.#inFlightBytes += bytes;
    if (!this.#isFlushScheduled) {
      this.#isFlushScheduled = true;
      setImmediate(() => this.#flush());
    }
    return new Promise((resolve) => {
      if (timeoutMs >= deadlineMs) {
        frame.settle.push(resolve);
        return;
      }
      const timer = setTimeout(() => resolve('unavailable'), timeoutMs);
      frame.settle.push((published) => {
        clearTimeout(timer);
        resolve(published);
      });
    });
  }

  /** Settles what is waiting as unavailable and takes nothing more. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#sweep);
    this.#abandonAll('shutting down');
    this.#subscription.unsubscribe();
  }

  /** The shard's open frame; one without room for the request is sent, and a new one opened. */
  #frameFor(shard: number, bytes: number, events: number): OpenFrame {
    const { maxFrameBytes } = this.#options;
    const current = this.#open.get(shard);
    if (current !== undefined) {
      const { length, events: gathered } = current.writer;
      const hasRoom = length + bytes <= maxFrameBytes && gathered + events <= maxFrameEvents;
      if (hasRoom) return current;
      this.#open.delete(shard);
      this.#send(current);
    }
    const writer = this.#writers.pop() ?? new FrameWriter(maxFrameBytes);
    const frame: Frame = {
      shard,
      settle: [],
      bytes: FRAME_HEADER_BYTES,
      sentBytes: 0,
      openedAtMs: performance.now(),
      isSettled: false,
    };
    this.#inFlightBytes += FRAME_HEADER_BYTES;
    const opened = { frame, writer };
    this.#open.set(shard, opened);
    return opened;
  }

  #flush(): void {
    this.#isFlushScheduled = false;
    for (const opened of this.#open.values()) this.#send(opened);
    this.#open.clear();
  }

  #send({ frame, writer }: OpenFrame): void {
    const { broker, subjectOf, deadlineMs } = this.#options;
    const token = (++this.#frames).toString(36);
    try {
      const reply = `${this.#inbox}.${token}`;
      const message = this.#messageOf(writer);
      frame.sentBytes = message.length;
      broker.publish(subjectOf(frame.shard), message, { reply });
    } catch (error) {
      this.#inFlightBytes -= frame.bytes;
      const failure = error instanceof Error ? error : new Error(String(error));
      this.#settle(frame, publishOutcome(failure));
      return;
    }
    this.#sent.set(token, frame);
    this.#sweep ??= setTimeout(() => this.#expire(), deadlineMs);
  }

  /** Bytes of its own for what has been gathered, so that the writer is free again. */
  #messageOf(writer: FrameWriter): Uint8Array {
    const plain = writer.frame();
    const packed = this.#packing.pack(plain);
    const message = packed === plain ? plain.slice() : packed;
    writer.clear();
    const { maxFrameBytes } = this.#options;
    const isKept = this.#writers.length < maxKeptWriters && writer.capacity <= maxFrameBytes;
    if (isKept) this.#writers.push(writer);
    return message;
  }

  #acknowledged(error: Error | null, reply: Msg): void {
    const token = reply.subject.slice(this.#inbox.length + 1);
    const frame = this.#sent.get(token);
    if (frame === undefined) return;
    this.#sent.delete(token);
    this.#inFlightBytes -= frame.bytes;
    this.#settle(frame, publishOutcome(error ?? reply));
  }

  /** Answers for the frames whose deadline is past. They keep their bytes until the broker has surely read them. */
  #expire(): void {
    const { broker, deadlineMs } = this.#options;
    this.#sweep = undefined;
    const overdue: string[] = [];
    const nowMs = performance.now();
    for (const [token, frame] of this.#sent) {
      const leftMs = frame.openedAtMs + deadlineMs - nowMs;
      if (leftMs > 0) {
        this.#sweep = setTimeout(() => this.#expire(), leftMs + 1);
        break;
      }
      if (frame.isSettled) continue;
      overdue.push(token);
      this.#settle(frame, { kind: 'unavailable', reason: 'no acknowledgement in time' });
    }
    if (overdue.length === 0) return;
    // It is rejected when the connection is lost, and then #abandonAll has done more.
    broker.flush().then(
      () => this.#forget(overdue),
      () => {},
    );
  }

  /** A frame that the broker has read and not acknowledged takes no memory here any more. */
  #forget(tokens: readonly string[]): void {
    for (const token of tokens) {
      const frame = this.#sent.get(token);
      if (frame === undefined) continue;
      this.#sent.delete(token);
      this.#inFlightBytes -= frame.bytes;
    }
  }

  /** What was written to a lost connection may or may not be stored; what was not yet written is dropped. */
  #abandonAll(reason: string): void {
    const open = [...this.#open.values()].map(({ frame }) => frame);
    const abandoned = [...this.#sent.values(), ...open];
    this.#sent.clear();
    this.#open.clear();
    this.#inFlightBytes = 0;
    for (const frame of abandoned) this.#settle(frame, { kind: 'unavailable', reason });
  }

  #settle(frame: Frame, outcome: PublishOutcome): void {
    if (frame.isSettled) return;
    frame.isSettled = true;
    for (const resolve of frame.settle) resolve(outcome.kind);
    this.#options.onFrame?.({
      outcome,
      requests: frame.settle.length,
      bytes: frame.bytes,
      sentBytes: frame.sentBytes,
      seconds: (performance.now() - frame.openedAtMs) / 1_000,
      inFlightBytes: this.#inFlightBytes,
    });
  }
}
