// Tells query that a page asked whether it may send: a core message, which nobody waits for. It is empty, because a
// preflight has no key and the page's origin is nobody's business.

import type { Clock } from '../../platform/clock.ts';
import { preflightSubject } from '../../platform/live/live-subjects.ts';

/** The answer is called at each preflight and tells the first of each second. */
export function createPreflightNotice(
  send: (subject: string, content: Uint8Array) => void,
  clock: Clock,
): () => void {
  let toldSecond: number | undefined;
  return () => {
    const second = Math.floor(clock.nowMs() / 1_000);
    if (second === toldSecond) return;
    toldSecond = second;
    send(preflightSubject, nothing);
  };
}

const nothing = new Uint8Array();
