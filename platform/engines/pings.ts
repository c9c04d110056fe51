// Asks a process again and again whether it is well, and tells once it has not answered for too long. Starting it again
// is left to child.ts.

import { setTimeout as delay } from 'node:timers/promises';
import { withTimeLimit } from '../memory/time-limit.ts';

export interface Pings {
  /** Whether the process is well; a rejection counts as not. */
  ping: (signal: AbortSignal) => Promise<boolean>;
  everyMs: number;
  timeoutMs: number;
  /** One more miss than this, one after the other, is too long. */
  maxMissed: number;
  /** From the end of one silent process to the first question to the next: none is ended more often than this. */
  restMs: number;
}

/** Begins after `firstAskMs`. Calls `onSilent` at most once. Returns how to stop asking. */
export function watchAnswers(pings: Pings, firstAskMs: number, onSilent: () => void): () => void {
  const stopping = new AbortController();
  const { signal } = stopping;
  const watch = async (): Promise<void> => {
    await delay(Math.max(0, firstAskMs), undefined, { signal });
    for (let missed = 0; missed <= pings.maxMissed; ) {
      await delay(pings.everyMs, undefined, { signal });
      const well = await pings.ping(withTimeLimit(signal, pings.timeoutMs)).catch(() => false);
      missed = well ? 0 : missed + 1;
    }
    if (!signal.aborted) onSilent();
  };
  // The delay rejects once asking is stopped.
  watch().catch(() => {});
  return () => stopping.abort();
}
