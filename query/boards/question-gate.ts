// Bounds the questions of dashboards that run at once for a project, over all that are rendered: so one dashboard of a
// hundred tiles, or thirty readers at once, do not take the places where statements wait for their turns. Turns at the
// engine are turns.ts's.

import { Code, ConnectError } from '@connectrpc/connect';

/** Statements of one project run three at once at most. */
const running = 3;
/** Questions that wait; each dashboard that is rendered has three here at most. */
const maxWaiting = 150;

interface Lane {
  running: number;
  waiting: Set<() => void>;
}

export class QuestionGate {
  readonly #lanes = new Map<string, Lane>();

  /** Runs `work` in its turn. Throws resource_exhausted where too many wait, and the signal's reason. */
  async run<T>(projectId: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#enter(projectId, signal);
    try {
      return await work();
    } finally {
      this.#leave(projectId);
    }
  }

  async #enter(projectId: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const lane = this.#lanes.get(projectId) ?? { running: 0, waiting: new Set() };
    this.#lanes.set(projectId, lane);
    if (lane.running < running) {
      lane.running++;
      return;
    }
    if (lane.waiting.size >= maxWaiting) throw busy();
    await new Promise<void>((resolve, reject) => {
      const fail = (): void => {
        lane.waiting.delete(start);
        reject(signal.reason);
      };
      const start = (): void => {
        signal.removeEventListener('abort', fail);
        resolve();
      };
      lane.waiting.add(start);
      signal.addEventListener('abort', fail, { once: true });
    });
  }

  /** The place goes to the next that waits, or is free. */
  #leave(projectId: string): void {
    const lane = this.#lanes.get(projectId);
    if (lane === undefined) throw new Error('a place was given back twice');
    const [next] = lane.waiting;
    if (next !== undefined) {
      lane.waiting.delete(next);
      next();
      return;
    }
    lane.running--;
    if (lane.running === 0) this.#lanes.delete(projectId);
  }
}

function busy(): ConnectError {
  const message = 'too many dashboards of this project are rendered at once';
  return new ConnectError(message, Code.ResourceExhausted, { 'retry-after': '5' });
}
