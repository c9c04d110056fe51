// One tab of a browser works for all of them: the one that holds a lock. When it closes another follows, and where
// nothing is heard of it one takes its turn away: a browser lets tabs sleep that nobody sees.

import { afterSilence } from './silence.ts';

export type Turns = {
  /** Asks for the lock, of which all tabs of the browser have one. */
  request: (options: LockOptions, work: () => Promise<void>) => Promise<void>;
  /** Ends this tab's turn, or its waiting. */
  end: AbortSignal;
  /** A tab that waits takes the turn away after so long a silence. */
  patienceMs: number;
  /** Whether somebody sees this tab: of those that nobody sees, none is better than another. */
  isSeen: () => boolean;
  /** What is done in turn; its signal ends it. */
  work: (turn: AbortSignal) => Promise<void>;
};

/** The answer is to be called with each sign that the work goes on, here or in another tab. */
export function takeTurns(turns: Turns): () => void {
  const { request, end, work } = turns;
  let turn = new AbortController();
  let isWaiting = true;
  let isForced = false;
  const silence = afterSilence(turns.patienceMs, () => {
    if (!isWaiting || !turns.isSeen()) return;
    isForced = true;
    turn.abort();
  });
  end.addEventListener('abort', () => turn.abort());
  const run = async (): Promise<void> => {
    while (!end.aborted) {
      turn = new AbortController();
      const { signal } = turn;
      isWaiting = true;
      const options = isForced ? { steal: true } : { signal };
      isForced = false;
      try {
        await request(options, () => {
          isWaiting = false;
          return work(signal);
        });
      } catch (cause) {
        // A turn that was waited for in vain, or taken away; all else would come again at once.
        if (!(cause instanceof DOMException && cause.name === 'AbortError')) return;
      }
      turn.abort();
      silence.hear();
    }
  };
  void run().finally(silence.end);
  return silence.hear;
}
