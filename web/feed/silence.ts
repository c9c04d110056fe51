// Streams that fall silent: one that brings nothing for a while is dead, whatever its connection says.

export type Silence = {
  /** Something was heard: the time begins anew. */
  hear: () => void;
  end: () => void;
};

/** Calls `tell` once nothing was heard for `ms`, and again after as long. */
export function afterSilence(ms: number, tell: () => void): Silence {
  let timer = setInterval(tell, ms);
  let isOver = false;
  return {
    hear: () => {
      clearInterval(timer);
      if (!isOver) timer = setInterval(tell, ms);
    },
    end: () => {
      isOver = true;
      clearInterval(timer);
    },
  };
}

/** Hands on what a stream brings until it ends; it is ended by `signal`, and by a silence of `silentMs`. */
export async function readWhileHeard<T>(
  open: (end: AbortSignal) => AsyncIterable<T>,
  signal: AbortSignal,
  silentMs: number,
  take: (one: T) => void,
): Promise<void> {
  const round = new AbortController();
  const stop = (): void => round.abort();
  signal.addEventListener('abort', stop, { signal: round.signal });
  const silence = afterSilence(silentMs, stop);
  try {
    for await (const one of open(round.signal)) {
      silence.hear();
      take(one);
    }
  } finally {
    silence.end();
    stop();
  }
}
