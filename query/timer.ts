// Calls something later: the waits of reads and streams have a timer of their own in tests.

/** Calls `run` once after `ms`, unless the function that it returns is called before. */
export type Timer = (ms: number, run: () => void) => () => void;

export const systemTimer: Timer = (ms, run) => {
  const timer = setTimeout(run, ms);
  timer.unref();
  return () => clearTimeout(timer);
};
