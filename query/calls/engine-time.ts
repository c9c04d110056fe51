// How long the statements of a read were at the engine. What else passed of its time was a wait for its turn. A read is
// known by the signal that ends it, which goes along with each of its statements.

interface Period {
  fromMs: number;
  untilMs: number;
}

export class EngineTime {
  readonly #nowMs: () => number;
  readonly #periods: Period[] = [];
  readonly #shared = new Set<EngineTime>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** A statement begins; call the returned function when it has ended. */
  begin(): () => void {
    const period = { fromMs: this.#nowMs(), untilMs: Number.POSITIVE_INFINITY };
    this.#periods.push(period);
    return () => {
      period.untilMs = this.#nowMs();
    };
  }

  /** The time of `other` is this read's, too, because it waits for that one's rows. */
  share(other: EngineTime): void {
    this.#shared.add(other);
  }

  /** It waits no longer: reads of which each waited for the one before would keep each other for ever. */
  unshare(other: EngineTime): void {
    this.#shared.delete(other);
  }

  /** Of the last `lengthMs`, how long at least one statement was at the engine. */
  msOfLast(lengthMs: number): number {
    const nowMs = this.#nowMs();
    const all = new Set<EngineTime>([this]);
    // Of two reads each may wait for rows of the other.
    for (const time of all) for (const other of time.#shared) all.add(other);
    const periods = [...all].flatMap((time) => time.#periods);
    let ms = 0;
    let countedMs = nowMs - lengthMs;
    for (const { fromMs, untilMs } of periods.sort((one, other) => one.fromMs - other.fromMs)) {
      const endMs = Math.min(untilMs, nowMs);
      ms += Math.max(0, endMs - Math.max(fromMs, countedMs));
      countedMs = Math.max(countedMs, endMs);
    }
    return ms;
  }
}

const times = new WeakMap<AbortSignal, EngineTime>();

/** Of the read that `signal` ends. */
export function engineTimeOf(signal: AbortSignal): EngineTime {
  const known = times.get(signal);
  if (known !== undefined) return known;
  const time = new EngineTime(() => performance.now());
  times.set(signal, time);
  return time;
}

/** Whoever `waiting` ends waits for rows of the read that `running` ends. */
export function shareEngineTime(waiting: AbortSignal, running: AbortSignal): void {
  engineTimeOf(waiting).share(engineTimeOf(running));
}

/** The read that `running` ends has ended. */
export function unshareEngineTime(waiting: AbortSignal, running: AbortSignal): void {
  engineTimeOf(waiting).unshare(engineTimeOf(running));
}
