// Asks a process again and again whether it is well, and tells once it has not answered for too long. Starting it again
// is left to child.ts.

import { setTimeout as delay } from 'node:timers/promises';
import { withTimeLimit } from '../memory/time-limit.ts';

export interface Pings {
  /** Whether the process is well; a rejection counts as not. */
  ping: (signal: AbortSignal) => Promise<boolean>;
  /** Lets go of what pings keep: none comes any more to this process. */
  end?: () => void;
  everyMs: number;
  timeoutMs: number;
  /** One more miss than this, one after the other, is too long. */
  maxMissed: number;
  /** From the end of one silent process to that of the next: none is ended more often than this. */
  restMs: number;
  /**
   * Whether the disk is so full that the next process falls silent, too. Where it was at the end of one, the rest ends
   * once the disk has room: nothing else would end the silence then.
   */
  lacksRoom?: () => boolean;
}

/** Between the ends of two silent processes, one in the other's place. */
export class Rest {
  readonly #pings: Pings;
  #untilMs = Number.NEGATIVE_INFINITY;
  #beganWithoutRoom = false;

  constructor(pings: Pings) {
    this.#pings = pings;
  }

  begin(): void {
    this.#untilMs = performance.now() + this.#pings.restMs;
    this.#beganWithoutRoom = this.#lacksRoom();
  }

  isOver(): boolean {
    if (performance.now() >= this.#untilMs) return true;
    return this.#beganWithoutRoom && !this.#lacksRoom();
  }

  #lacksRoom(): boolean {
    return this.#pings.lacksRoom?.() === true;
  }
}

/** Calls `onSilent` at most once, where `rest` is over, and begins the next one. Returns how to stop asking. */
export function watchAnswers(pings: Pings, rest: Rest, onSilent: () => void): () => void {
  const stopping = new AbortController();
  const { signal } = stopping;
  const watch = async (): Promise<void> => {
    for (let missed = 0; missed <= pings.maxMissed || !rest.isOver(); ) {
      await delay(pings.everyMs, undefined, { signal });
      const well = await pings.ping(withTimeLimit(signal, pings.timeoutMs)).catch(() => false);
      missed = well ? 0 : missed + 1;
    }
    if (signal.aborted) return;
    rest.begin();
    onSilent();
  };
  // The delay rejects once asking is stopped.
  watch().catch(() => {});
  return () => {
    stopping.abort();
    pings.end?.();
  };
}
