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
  /** Lets the waiting tabs know that this one has the turn, while its work has nothing to tell. */
  tell: () => void;
};

/** Some may be late: a browser slows down the timers of tabs that nobody sees. */
const signsInPatience = 4;

/** The answer is to be called with each sign that another tab has the turn. */
export function takeTurns(turns: Turns): () => void {
  const { request, end } = turns;
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
          return workAloud(turns, signal);
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

/** Works, and tells so from the first moment: others that wait may be about to take the turn as well. */
async function workAloud({ work, tell, patienceMs }: Turns, signal: AbortSignal): Promise<void> {
  const tellInTurn = (): void => {
    if (!signal.aborted) tell();
  };
  tellInTurn();
  const timer = setInterval(tellInTurn, patienceMs / signsInPatience);
  try {
    await work(signal);
  } finally {
    clearInterval(timer);
  }
}
