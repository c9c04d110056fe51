// Frames on their way: sent, their acknowledgement not yet here. Bounds how long their requests wait, counts the bytes
// that they hold, and knows no broker beyond its flush.

import { setBounded } from '../../platform/memory/bounded-map.ts';

export interface Frame {
  shard: number;
  /** Answers the frame's requests, one function each. */
  settle: ((published: Published) => void)[];
  bytes: number;
  /** As it is sent: packed, or not. */
  message: Uint8Array;
  events: number;
  /** Those of requests that were answered `unavailable`. */
  unconfirmedEvents: number;
  /** On performance.now()'s scale. */
  openedAtMs: number;
  isSettled: boolean;
  /** Counts all sends of a publisher, those of one frame again too; 0 before the first. */
  firstSend: number;
  lastSend: number;
  sentAtMs: number;
  /** No stream took it when it was sent last. */
  isRefused: boolean;
}

/**
 * `full`, `disk_full`: surely not queued. `unavailable`, and `timed_out` at the sender's time-out: not known to be
 * queued.
 */
export type Published = 'stored' | 'full' | 'disk_full' | 'unavailable' | 'timed_out';

/** Frames without an acknowledgement whose events are still known; more than a broker is sent while it hangs. */
const maxForgotten = 10_000;

interface SentFramesOptions {
  /** How long a frame may wait for its acknowledgement. */
  deadlineMs: number;
  /** Resolves when the broker has read all that was written before; rejects when the connection is lost. */
  flush: () => Promise<void>;
  /** Runs once for each frame whose deadline passes. */
  onOverdue: (frame: Frame) => void;
}

export class SentFrames {
  readonly #options: SentFramesOptions;
  /** By the last token of the reply subject, oldest first. */
  readonly #frames = new Map<string, Frame>();
  /** The events of frames that were given up: their acknowledgement may come after all. */
  readonly #forgotten = new Map<string, number>();
  #bytes = 0;
  #sweep: NodeJS.Timeout | undefined;

  constructor(options: SentFramesOptions) {
    this.#options = options;
  }

  /** Bytes of all frames, counted before packing. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Oldest first, those that were answered at their deadline too. */
  get waiting(): Iterable<[token: string, frame: Frame]> {
    return this.#frames;
  }

  add(token: string, frame: Frame): void {
    this.#frames.set(token, frame);
    this.#bytes += frame.bytes;
    this.#sweep ??= setTimeout(() => this.#expire(), this.#options.deadlineMs);
  }

  peek(token: string): Frame | undefined {
    return this.#frames.get(token);
  }

  /** Undefined where the frame was taken or given up before. */
  take(token: string): Frame | undefined {
    const frame = this.#frames.get(token);
    if (frame === undefined) return undefined;
    this.#frames.delete(token);
    this.#bytes -= frame.bytes;
    return frame;
  }

  /** The events of a frame that was given up; 0 where no such frame is known. */
  takeForgotten(token: string): number {
    const events = this.#forgotten.get(token) ?? 0;
    this.#forgotten.delete(token);
    return events;
  }

  /** Gives up every frame. */
  takeAll(): Frame[] {
    const frames = [...this.#frames.values()];
    for (const token of this.#frames.keys()) this.#forget(token);
    return frames;
  }

  close(): void {
    clearTimeout(this.#sweep);
  }

  /** Frames whose deadline is past keep their bytes until the broker has surely read them. */
  #expire(): void {
    const { deadlineMs, flush, onOverdue } = this.#options;
    this.#sweep = undefined;
    const overdue: string[] = [];
    const nowMs = performance.now();
    for (const [token, frame] of this.#frames) {
      const leftMs = frame.openedAtMs + deadlineMs - nowMs;
      if (leftMs > 0) {
        this.#sweep = setTimeout(() => this.#expire(), leftMs + 1);
        break;
      }
      if (frame.isSettled) continue;
      overdue.push(token);
      onOverdue(frame);
    }
    if (overdue.length === 0) return;
    // The broker has read them and not acknowledged them, or the connection is lost: they hold no memory any more.
    const forget = (): void => {
      for (const token of overdue) this.#forget(token);
    };
    flush().then(forget, forget);
  }

  #forget(token: string): void {
    const frame = this.take(token);
    if (frame !== undefined) setBounded(this.#forgotten, token, frame.events, maxForgotten);
  }
}
