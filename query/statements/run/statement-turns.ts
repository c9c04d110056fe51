// Places of statements: one at a time of a key, two of a project, and some of all. A dashboard sends all of its panels'
// at once, so a statement waits for a while; a bounded number of each project's may wait.

import type { Timer } from '../../timer.ts';
import { codes, StatementRefusal } from '../refusal.ts';

export interface StatementTurnBounds {
  running: number;
  runningOfProject: number;
  runningOfKey: number;
  waiting: number;
  waitingOfProject: number;
  waitMs: number;
}

export const defaultTurnBounds: Omit<StatementTurnBounds, 'running'> = {
  ...{ runningOfProject: 2, runningOfKey: 1, waiting: 200, waitingOfProject: 20 },
  waitMs: 20_000,
};

export interface Asker {
  projectId: string;
  keyId: string;
}

interface Waiter extends Asker {
  start(): void;
}

export class StatementTurns {
  readonly #bounds: StatementTurnBounds;
  readonly #timer: Timer;
  readonly #running: Asker[] = [];
  /** In the order in which they came; whoever may not start yet is passed over. */
  readonly #waiting = new Set<Waiter>();

  constructor(bounds: StatementTurnBounds, timer: Timer) {
    this.#bounds = bounds;
    this.#timer = timer;
  }

  /** Resolves with what gives the place back. Throws StatementRefusal for too long a wait, and the signal's reason. */
  async take(asker: Asker, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (!this.#mayStart(asker)) await this.#wait(asker, signal);
    const place = { ...asker };
    this.#running.push(place);
    return () => {
      const at = this.#running.indexOf(place);
      if (at === -1) return;
      this.#running.splice(at, 1);
      this.#startNext();
    };
  }

  #mayStart({ projectId, keyId }: Asker): boolean {
    const { running, runningOfProject, runningOfKey } = this.#bounds;
    const ofProject = this.#running.filter((one) => one.projectId === projectId);
    return (
      this.#running.length < running &&
      ofProject.length < runningOfProject &&
      ofProject.filter((one) => one.keyId === keyId).length < runningOfKey
    );
  }

  #wait(asker: Asker, signal: AbortSignal): Promise<void> {
    const { waiting, waitingOfProject, waitMs } = this.#bounds;
    const own = [...this.#waiting].filter(({ projectId }) => projectId === asker.projectId);
    if (this.#waiting.size >= waiting || own.length >= waitingOfProject) throw tooMany();
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(waiter);
        callOff();
        signal.removeEventListener('abort', gone);
      };
      const gone = (): void => {
        leave();
        reject(signal.reason);
      };
      const waiter: Waiter = {
        ...asker,
        start: () => {
          leave();
          resolve();
        },
      };
      this.#waiting.add(waiter);
      const callOff = this.#timer(waitMs, () => {
        leave();
        reject(tooMany());
      });
      signal.addEventListener('abort', gone);
    });
  }

  /** One at a time: its place is taken before another is looked at. */
  #startNext(): void {
    for (const waiter of this.#waiting) {
      if (!this.#mayStart(waiter)) continue;
      waiter.start();
      // The next one is looked at when this one has taken its place.
      queueMicrotask(() => queueMicrotask(() => this.#startNext()));
      return;
    }
  }
}

function tooMany(): StatementRefusal {
  return new StatementRefusal(
    codes.limit,
    'too many statements: one runs at a time of a key, two of a project, and this one has waited too long',
  );
}
