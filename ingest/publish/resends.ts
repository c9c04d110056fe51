// Sends frames again that the broker has lost: while a stream has no leader, and when the connection was lost. It keeps
// to the streams' order of sending, and does not decide how long a frame may wait.

import type { Frame } from './sent-frames.ts';

/**
 * `all`: whatever has no acknowledgement, because the pipeline stores a repeated event once. `refused`: only what the
 * broker has surely not stored, because a repeated change would take effect behind later ones.
 */
export type Repeats = 'all' | 'refused';

const lookEveryMs = 250;
/** A stream that acknowledges nothing for so long may have lost its leader. */
const silentMs = 1_000;

interface ResendsOptions {
  repeats: Repeats | undefined;
  /** Frames without an acknowledgement, oldest first, by token. */
  waiting(): Iterable<[token: string, frame: Frame]>;
  send(token: string, frame: Frame): void;
}

export class Resends {
  readonly #options: ResendsOptions;
  #sends = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ResendsOptions) {
    this.#options = options;
  }

  /** Whether a frame that is not known to be stored may wait for a connection. */
  get outlastsConnection(): boolean {
    return this.#options.repeats === 'all';
  }

  noteSent(frame: Frame): void {
    frame.lastSend = ++this.#sends;
    frame.firstSend ||= frame.lastSend;
    frame.sentAtMs = performance.now();
    frame.isRefused = false;
    if (this.#options.repeats !== undefined)
      this.#timer ??= setTimeout(() => this.#look(), lookEveryMs);
  }

  /** True where the frame, which no stream took, will be sent again. */
  noteRefused(frame: Frame): boolean {
    if (this.#options.repeats === undefined) return false;
    frame.isRefused = true;
    return true;
  }

  /** The broker answers in the order of sending: what was sent before and has no answer is lost. */
  noteStored(shard: number, send: number): void {
    const due: [string, Frame][] = [];
    for (const [token, frame] of this.#options.waiting()) {
      // As a rule the first one ends this: acknowledgements come in order.
      if (frame.firstSend > send) break;
      if (frame.shard === shard && frame.lastSend < send) due.push([token, frame]);
    }
    this.#sendAgain(due);
  }

  noteReconnected(): void {
    this.#sendAgain([...this.#options.waiting()]);
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  /** One frame for each shard asks whether its stream is back: all of them at once would keep a busy broker busy. */
  #look(): void {
    this.#timer = undefined;
    const nowMs = performance.now();
    const oldest = new Map<number, [string, Frame]>();
    for (const [token, frame] of this.#options.waiting()) {
      this.#timer ??= setTimeout(() => this.#look(), lookEveryMs);
      if (this.#mayRepeat(frame) && !oldest.has(frame.shard))
        oldest.set(frame.shard, [token, frame]);
    }
    const isDue = ({ isRefused, sentAtMs }: Frame) => isRefused || nowMs - sentAtMs >= silentMs;
    this.#sendAgain([...oldest.values()].filter(([, frame]) => isDue(frame)));
  }

  #sendAgain(due: readonly [string, Frame][]): void {
    for (const [token, frame] of due) {
      if (this.#mayRepeat(frame)) this.#options.send(token, frame);
    }
  }

  #mayRepeat({ isSettled, isRefused }: Frame): boolean {
    return !isSettled && (this.#options.repeats === 'all' || isRefused);
  }
}
