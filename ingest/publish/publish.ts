// Puts accepted requests into the broker. Requests of one turn of the event loop share one message (a frame), and each
// is answered when that message is acknowledged. Large requests share it with their project's alone, and those that may
// be much work with none, so that the pipeline can give projects their turns. Publishes on NATS core with one reply
// inbox for all messages, because a JetStream client's publish costs ten times as much. Within the deadline a frame
// that the broker has lost is sent again (resends.ts); after it the sender repeats the request. Event ids make both
// safe.

import {
  type ConnectionState,
  createInbox,
  type Msg,
  type PublishOutcome,
  publishOutcome,
} from '../../platform/broker/nats.ts';
import type { DiskRoom } from '../../platform/engines/disk-room.ts';
import { type EncodedRequest, requestBytes } from '../../proto/wire/frame.ts';
import { OpenFrames } from './open-frames.ts';
import { type Repeats, Resends } from './resends.ts';
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
  /** What is sent again within the deadline; nothing unless given. */
  repeats?: Repeats;
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

/** As publishOutcome names it where no server leads the stream. Nothing was stored then. */
const noStream = 'no stream';
/** Before the number of a repeated send: the answer to an earlier one tells nothing of what was sent meanwhile. */
const againMark = '-';

export class Publisher {
  readonly #options: PublisherOptions;
  readonly #inbox = createInbox();
  readonly #subscription: { unsubscribe(): void };
  readonly #open: OpenFrames;
  readonly #sent: SentFrames;
  readonly #resends: Resends;
  #frames = 0;
  #isFlushScheduled = false;
  #isClosed = false;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#open = new OpenFrames({
      ...options,
      send: (frame) => this.#send(frame),
    });
    this.#sent = new SentFrames({
      deadlineMs: options.deadlineMs,
      flush: () => options.broker.flush(),
      onOverdue: (frame) => {
        const reason = frame.isRefused ? noStream : 'no acknowledgement in time';
        this.#settle(frame, { kind: 'unavailable', reason });
      },
    });
    this.#resends = new Resends({
      repeats: options.repeats,
      waiting: () => this.#sent.waiting,
      send: (token, frame) => this.#transmit(token, frame),
    });
    this.#subscription = options.broker.subscribe(`${this.#inbox}.*`, {
      callback: (error, reply) => this.#acknowledged(error, reply),
    });
    options.state.onChange((connected) => {
      if (connected) this.#resends.noteReconnected();
      else if (!this.#resends.outlastsConnection) this.#abandonAll('connection lost');
    });
  }

  /**
   * Never rejects. Copies the request before it returns, so that the body's memory is free then. Settles within
   * `timeoutMs`, or within the publisher's deadline where that is sooner.
   */
  publish(shard: number, request: EncodedRequest, timeoutMs: number): Promise<Published> {
    const { state, disk, maxInFlightBytes } = this.#options;
    const isAway = !state.connected();
    if (this.#isClosed || (isAway && !this.#resends.outlastsConnection)) {
      return Promise.resolve('unavailable');
    }
    if (disk.isScarce()) return Promise.resolve('disk_full');
    const bytes = requestBytes(request);
    if (this.#inFlightBytes() + bytes > maxInFlightBytes) {
      return Promise.resolve(isAway || this.#isRefused() ? 'unavailable' : 'full');
    }
    const frame = this.#open.append(shard, request);
    if (!this.#isFlushScheduled) {
      this.#isFlushScheduled = true;
      setImmediate(() => this.#flush());
    }
    const published = this.#published(frame, request, timeoutMs);
    if (request.isAlone === true) this.#open.sendApart(request.project);
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
    this.#resends.close();
    this.#abandonAll('shutting down');
    this.#subscription.unsubscribe();
  }

  /** Whether the oldest frame on its way found no stream when it was sent last. */
  #isRefused(): boolean {
    for (const [, frame] of this.#sent.waiting) return frame.isRefused;
    return false;
  }

  #inFlightBytes(): number {
    return this.#open.bytes + this.#sent.bytes;
  }

  #flush(): void {
    this.#isFlushScheduled = false;
    this.#open.sendAll();
  }

  #send(frame: Frame): void {
    const token = (++this.#frames).toString(36);
    this.#sent.add(token, frame);
    this.#transmit(token, frame);
  }

  #transmit(token: string, frame: Frame): void {
    const { broker, state, subjectOf } = this.#options;
    this.#resends.noteSent(frame);
    // It is sent once the connection is back.
    if (!state.connected()) return;
    try {
      const isFirst = frame.lastSend === frame.firstSend;
      const name = isFirst ? token : `${token}${againMark}${frame.lastSend}`;
      const reply = `${this.#inbox}.${name}`;
      broker.publish(subjectOf(frame.shard), frame.message, { reply });
    } catch (error) {
      this.#sent.take(token);
      const failure = error instanceof Error ? error : new Error(String(error));
      this.#settle(frame, publishOutcome(failure));
    }
  }

  #acknowledged(error: Error | null, reply: Msg): void {
    const [token = '', again] = reply.subject.slice(this.#inbox.length + 1).split(againMark);
    const outcome = publishOutcome(error ?? reply);
    const waiting = this.#sent.peek(token);
    const isRefused = outcome.kind === 'unavailable' && outcome.reason === noStream;
    if (isRefused && waiting?.isSettled === false && this.#resends.noteRefused(waiting)) return;
    const frame = this.#sent.take(token);
    if (frame !== undefined) {
      this.#settle(frame, outcome);
      const send = again === undefined ? frame.firstSend : Number(again);
      if (outcome.kind === 'stored') this.#resends.noteStored(frame.shard, send);
    }
    const unconfirmed = frame?.unconfirmedEvents ?? this.#sent.takeForgotten(token);
    if (outcome.kind === 'stored' && unconfirmed > 0) this.#options.onLate?.(unconfirmed);
  }

  /** Frames that a lost connection had been sent may or may not be stored; open ones are dropped. */
  #abandonAll(reason: string): void {
    const abandoned = [...this.#sent.takeAll(), ...this.#open.dropAll()];
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
      sentBytes: frame.message.length,
      seconds: (performance.now() - frame.openedAtMs) / 1_000,
      inFlightBytes: this.#inFlightBytes(),
    });
  }
}
