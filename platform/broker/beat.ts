// Wakes a process once for all that comes again and again: whoever asks the broker at the same moment has one write
// and one read with the others, and a write costs more than what is in it.

interface Beat {
  timer: NodeJS.Timeout;
  runs: Set<() => void>;
}

const beats = new Map<number, Beat>();

const pullEndsEveryMs = 1_000;
/** A pull that ends with its beginning would be made for nothing. Whoever is answered sooner was refused. */
export const leastPullMs = 250;

/**
 * How long a pull that is made now may wait for messages, from 250 to 1,250 ms: all pulls end together, so that the
 * broker's answers come in one read, and the next pulls leave in one write.
 */
export function pullMs(): number {
  const untilEndMs = untilBeatMs(pullEndsEveryMs);
  return untilEndMs < leastPullMs ? untilEndMs + pullEndsEveryMs : untilEndMs;
}

/** Calls `run` at each beat until the returned function is called. It must not throw. Keeps no process alive. */
export function everyBeat(everyMs: number, run: () => void): () => void {
  const again = (): void => {
    callOff = atBeat(everyMs, again);
    run();
  };
  let callOff = atBeat(everyMs, again);
  return () => callOff();
}

/** Whole milliseconds until the steady clock shows a multiple of `everyMs`: from 1 to `everyMs`. */
function untilBeatMs(everyMs: number): number {
  return Math.ceil(everyMs - (performance.now() % everyMs));
}

/**
 * Calls `run` once, with the others of the same `everyMs`, a millisecond after `everyMs` at most. It must not throw.
 * Returns how to call it off.
 */
export function atBeat(everyMs: number, run: () => void): () => void {
  const beat = beats.get(everyMs) ?? newBeat(everyMs);
  beat.runs.add(run);
  return () => {
    beat.runs.delete(run);
    if (beat.runs.size > 0 || beats.get(everyMs) !== beat) return;
    clearTimeout(beat.timer);
    beats.delete(everyMs);
  };
}

function newBeat(everyMs: number): Beat {
  const runs = new Set<() => void>();
  const timer = setTimeout(() => {
    beats.delete(everyMs);
    for (const run of runs) run();
    // Timers may fire a millisecond early: before the beat, it would come twice.
  }, untilBeatMs(everyMs) + 1);
  timer.unref();
  const beat = { timer, runs };
  beats.set(everyMs, beat);
  return beat;
}
