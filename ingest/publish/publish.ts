// Puts accepted requests into the broker. Requests of one turn of the event loop share one message (a frame), and each
// is answered when that message is acknowledged. Large requests share it with their project's alone, and those that may
// be much work with none, so that the pipeline can give projects their turns. Publishes on NATS core with one reply
// inbox for all messages, because a JetStream client's publish costs ten times as much. Never retries: the sender does,
// and event ids make that safe.

import {
  type ConnectionState,
  createInbox,
  type Msg,
  type PublishOutcome,
  publishOutcome,
} from '../../platform/broker/nats.ts';
import type { DiskRoom } from '../../platform/engines/disk-room.ts';
import { maxFrameEvents as defaultMaxFrameEvents } from '../../platform/limits.ts';
import { type EncodedRequest, FRAME_HEADER_BYTES, requestBytes } from '../../proto/wire/frame.ts';
import { FrameWriter } from '../../proto/wire/frame-writer.ts';
import { FramePacking } from './frame-packing.ts';
import { type Frame, type Published, SentFrames } from './sent-frames.ts';

/** The part of a broker connection that a publisher needs. */
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
  /** Where it is scarce, nothing is taken. */
  disk: Pick<DiskRoom, 'isScarce'>;
  subjectOf: (shard: number) => string;
  /** How long the broker may take to acknowledge a frame. */
  deadlineMs: number;
  /** A frame is closed before it grows past it, unless one request alone is larger. */
  maxFrameBytes: number;
  /** Likewise; maxFrameEvents of limits.ts unless given. */
  maxFrameEvents?: number;
  /** Bytes of frames that wait for their acknowledgement; past it requests are refused as `full`. */
  maxInFlightBytes: number;
  /** Whether a project's requests have frames of their own; see crowding-projects.ts. */
  isApart?: (project: number) => boolean;
  /** Whether frames are packed where that pays. Bounds count bytes before packing. */
  lz4: boolean;
  /** Runs once for each frame, as soon as its outcome is known. */
  onFrame?: (frame: FrameReport) => void;
  /** Runs where events turn out to be queued whose requests were answered `unavailable`. */
  onLate?: (events: number) => void;
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

/** A frame that is being gathered. */
interface OpenFrame {
  frame: Frame;
  writer: FrameWriter;
}

/** From this size on a request gains nothing by sharing a frame with others', and others would wait with it. */
const minApartBytes = 16_384;

/** Writers of sent frames are kept for the next ones, except those that a large body made grow. */
const maxKeptWriters = 4;

export class Publisher {
  readonly #options: PublisherOptions;
  readonly #inbox = createInbox();
  readonly #packing: FramePacking;
  readonly #subscription: { unsubscribe(): void };
  /** With the requests of the current turn, at most one for each shard … */
  readonly #shared = new Map<number, OpenFrame>();
  /** … and one for each project that has a frame of its own, by its mark. */
  readonly #apart = new Map<number, OpenFrame>();
  readonly #sent: SentFrames;
  readonly #writers: FrameWriter[] = [];
  #frames = 0;
  #openBytes = 0;
  #isFlushScheduled = false;
  #isClosed = false;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#packing = new FramePacking(options.lz4);
    this.#sent = new SentFrames({
      deadlineMs: options.deadlineMs,
      flush: () => options.broker.flush(),
      onOverdue: (frame) =>
        this.#settle(frame, { kind: 'unavailable', reason: 'no acknowledgement in time' }),
    });
    this.#subscription = options.broker.subscribe(`${this.#inbox}.*`, {
      callback: (error, reply) => this.#acknowledged(error, reply),
    });
    options.state.onChange((connected) => {
      if (!connected) this.#abandonAll('connection lost');
    });
  }

  /**
   * Never rejects. Copies the request before it returns, so that the body's memory is free then. Settles within
   * `timeoutMs`, or within the publisher's deadline where that is sooner.
   */
  publish(shard: number, request: EncodedRequest, timeoutMs: number): Promise<Published> {
    const { state, disk, maxInFlightBytes } = this.#options;
    if (this.#isClosed || !state.connected()) return Promise.resolve('unavailable');
    if (disk.isScarce()) return Promise.resolve('disk_full');
    const bytes = requestBytes(request);
    if (this.#inFlightBytes() + bytes > maxInFlightBytes) return Promise.resolve('full');
    const { frame, writer } = this.#frameFor(shard, bytes, request);
    writer.append(request);
    frame.bytes = writer.length;
    frame.events = writer.events;
    this.#openBytes += bytes;
    if (!this.#isFlushScheduled) {
      this.#isFlushScheduled = true;
      setImmediate(() => this.#flush());
    }
    const published = this.#published(frame, request, timeoutMs);
    if (request.isAlone === true) this.#sendOf(this.#apart, request.project);
    return published;
  }

  #published(frame: Frame, { events }: EncodedRequest, timeoutMs: number): Promise<Published> {
    return new Promise((resolve) => {
      if (timeoutMs >= this.#options.deadlineMs) {
        frame.settle.push(resolve);
        return;
      }
      const timer = setTimeout(() => {
        frame.unconfirmedEvents += events;
        resolve('timed_out');
      }, timeoutMs);
      frame.settle.push((published) => {
        clearTimeout(timer);
        resolve(published);
      });
    });
  }

  /** Answers unavailable to every request that waits and takes no more. */
  close(): void {
    this.#isClosed = true;
    this.#sent.close();
    this.#abandonAll('shutting down');
    this.#subscription.unsubscribe();
  }

  #inFlightBytes(): number {
    return this.#openBytes + this.#sent.bytes;
  }

  /** The open frame for a request. Sends a frame without room for the request and opens another. */
  #frameFor(shard: number, bytes: number, request: EncodedRequest): OpenFrame {
    const { maxFrameBytes, maxFrameEvents = defaultMaxFrameEvents } = this.#options;
    const { events, project, isAlone = false } = request;
    if (isAlone) this.#sendBefore(shard, project);
    const isApart = project !== undefined && (isAlone || this.#isApart(project, bytes));
    const [open, key] = isApart ? [this.#apart, project] : [this.#shared, shard];
    const current = open.get(key);
    if (current !== undefined) {
      const { writer } = current;
      const hasRoom =
        writer.length + bytes <= maxFrameBytes &&
        writer.events + events <= maxFrameEvents &&
        writer.hasRoomFor(project);
      if (hasRoom) return current;
      open.delete(key);
      this.#send(current);
    }
    const opened = this.#openFrame(shard, isApart ? FRAME_HEADER_BYTES + bytes : maxFrameBytes);
    open.set(key, opened);
    return opened;
  }

  /** Sends the open frames that have requests of a project: those came before one that has a frame of its own. */
  #sendBefore(shard: number, project: number | undefined): void {
    const shared = this.#shared.get(shard);
    if (project !== undefined && shared?.writer.holds(project) === true) {
      this.#sendOf(this.#shared, shard);
    }
    this.#sendOf(this.#apart, project);
  }

  #sendOf(open: Map<number, OpenFrame>, key: number | undefined): void {
    const current = key === undefined ? undefined : open.get(key);
    if (key === undefined || current === undefined) return;
    open.delete(key);
    this.#send(current);
  }

  #isApart(project: number, bytes: number): boolean {
    return bytes >= minApartBytes || this.#options.isApart?.(project) === true;
  }

  /** `capacity` bounds what many frames of one turn hold: it grows where requests follow. */
  #openFrame(shard: number, capacity: number): OpenFrame {
    const writer = this.#writers.pop() ?? new FrameWriter(capacity);
    const frame: Frame = {
      shard,
      settle: [],
      bytes: FRAME_HEADER_BYTES,
      sentBytes: 0,
      events: 0,
      unconfirmedEvents: 0,
      openedAtMs: performance.now(),
      isSettled: false,
    };
    this.#openBytes += FRAME_HEADER_BYTES;
    return { frame, writer };
  }

  #flush(): void {
    this.#isFlushScheduled = false;
    for (const opened of this.#takeOpen()) this.#send(opened);
  }

  #takeOpen(): OpenFrame[] {
    const open = [...this.#shared.values(), ...this.#apart.values()];
    this.#shared.clear();
    this.#apart.clear();
    return open;
  }

  #send({ frame, writer }: OpenFrame): void {
    const { broker, subjectOf } = this.#options;
    const token = (++this.#frames).toString(36);
    this.#openBytes -= frame.bytes;
    try {
      const reply = `${this.#inbox}.${token}`;
      const message = this.#messageOf(writer);
      frame.sentBytes = message.length;
      broker.publish(subjectOf(frame.shard), message, { reply });
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      this.#settle(frame, publishOutcome(failure));
      return;
    }
    this.#sent.add(token, frame);
  }

  /** Copies the gathered frame out, so that its writer can be reused. */
  #messageOf(writer: FrameWriter): Uint8Array {
    const gathered = writer.frame();
    const packed = this.#packing.pack(gathered);
    const message = packed === gathered ? gathered.slice() : packed;
    writer.clear();
    const { maxFrameBytes } = this.#options;
    const isKept = this.#writers.length < maxKeptWriters && writer.capacity <= maxFrameBytes;
    if (isKept) this.#writers.push(writer);
    return message;
  }

  #acknowledged(error: Error | null, reply: Msg): void {
    const token = reply.subject.slice(this.#inbox.length + 1);
    const outcome = publishOutcome(error ?? reply);
    const frame = this.#sent.take(token);
    if (frame !== undefined) this.#settle(frame, outcome);
    const unconfirmed = frame?.unconfirmedEvents ?? this.#sent.takeForgotten(token);
    if (outcome.kind === 'stored' && unconfirmed > 0) this.#options.onLate?.(unconfirmed);
  }

  /** Frames that a lost connection had been sent may or may not be stored; open ones are dropped. */
  #abandonAll(reason: string): void {
    const open = this.#takeOpen().map(({ frame }) => frame);
    const abandoned = [...this.#sent.takeAll(), ...open];
    this.#openBytes = 0;
    for (const frame of abandoned) this.#settle(frame, { kind: 'unavailable', reason });
  }

  #settle(frame: Frame, outcome: PublishOutcome): void {
    if (frame.isSettled) return;
    frame.isSettled = true;
    if (outcome.kind === 'unavailable') frame.unconfirmedEvents = frame.events;
    for (const resolve of frame.settle) resolve(outcome.kind);
    this.#options.onFrame?.({
      outcome,
      requests: frame.settle.length,
      bytes: frame.bytes,
      sentBytes: frame.sentBytes,
      seconds: (performance.now() - frame.openedAtMs) / 1_000,
      inFlightBytes: this.#inFlightBytes(),
    });
  }
}
