// Whether statements of the event store get the processor, as the store's own counters tell: a statement on a starved
// machine takes long however little it asks for.

import { timeLimit } from '../memory/time-limit.ts';
import type { RowReader } from './select-rows.ts';

export interface Looks {
  clickhouse: RowReader;
  /** A clock that never goes back. */
  nowMs: () => number;
}

/** Two looks lie so far apart, and one counts for twice as long. */
const betweenMs = 2_000;
const timeoutMs = 2_000;
/** A statement that gets less of a core than this has waited for the machine. */
const leastCore = 0.1;

// The statement itself has not run for a second. The counters are those of the threads that run now and have run.
const sql = `SELECT sum(elapsed), sum(ProfileEvents['OSCPUVirtualTimeMicroseconds']) / 1e6,
  sum(ProfileEvents['OSCPUWaitMicroseconds']) / 1e6 FROM system.processes WHERE elapsed >= 1`;

export class EngineShare {
  readonly #looks: Looks;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #starvedAtMs = Number.NEGATIVE_INFINITY;

  constructor(looks: Looks) {
    this.#looks = looks;
  }

  /** Looks at the statements that run, unless that was done just now. Never rejects. */
  async look(): Promise<void> {
    const { clickhouse, nowMs } = this.#looks;
    if (nowMs() - this.#lookedAtMs < betweenMs) return;
    this.#lookedAtMs = nowMs();
    const select = { sql, params: {}, settings: {}, signal: timeLimit(timeoutMs) };
    let row: unknown;
    try {
      await clickhouse.select(select, (text) => {
        row = JSON.parse(text);
        return true;
      });
    } catch {
      // A server may keep its counters from us; and whether it answers at all is found out elsewhere.
      return;
    }
    this.#starvedAtMs = isStarved(row) ? nowMs() : Number.NEGATIVE_INFINITY;
  }

  /** Whether statements that ran just now waited for the machine most of their time. */
  isStarved(): boolean {
    return this.#looks.nowMs() - this.#starvedAtMs < 2 * betweenMs;
  }
}

/** Takes seconds since the statements began, on the processor, and ready to run without getting it. */
function isStarved(row: unknown): boolean {
  const [elapsed = 0, running = 0, waiting = 0] = Array.isArray(row) ? row.map(Number) : [];
  return elapsed > 0 && (waiting > running || running < leastCore * elapsed);
}
