// Turns at the engine: how many statements of reads run at once, of all projects and of one. So the dear reads of one
// project leave turns to its own look-ups and to other projects, and all reads leave connections of the engine to
// inserts, the pipeline and the probe of readiness, which take no turn. The time limit of a statement is
// read-rows.ts's.

import { Code, ConnectError } from '@connectrpc/connect';
import type { RowReader } from '../platform/clickhouse/select-rows.ts';
import type { Timer } from './timer.ts';

/** A `search` may look at every row of a project, a `look-up` at those of one profile. */
export type StatementKind = 'search' | 'look-up';

export interface TurnBounds {
  /** Statements that run at once … */
  running: number;
  /** … of one project; less than `running`, so that others have a turn. */
  runningOfProject: number;
  /** Searches among them … */
  searches: number;
  /** … and of one project. */
  searchesOfProject: number;
  /** Statements that wait at once, and those of one project. */
  waiting: number;
  waitingOfProject: number;
  /** The longest wait. */
  waitMs: number;
  /** A turn is kept so long after its statement was left in the middle: the engine ends it between two blocks. */
  lingerMs: number;
}

/**
 * For one of `processes` that read from one engine. A dashboard asks for a dozen results at once, and each of hundreds
 * that wait holds little but its statement. Half of a read's ten seconds may pass before its turn. The engine ends a
 * statement between two blocks, within a second.
 */
export function turnBounds(processes: number): TurnBounds {
  const running = Math.max(2, Math.floor(4 / processes));
  return {
    running,
    runningOfProject: running - 1,
    searches: running - 1,
    searchesOfProject: Math.ceil(running / 2),
    waiting: 200,
    waitingOfProject: 50,
    waitMs: 5_000,
    lingerMs: 1_000,
  };
}

/**
 * For the statements of questions, apart from all others, which wait seconds at most: a question may use all cores for
 * half a minute. Few run at once, because each has its part of the engine's memory, and one project leaves a turn to
 * others. Dozens of boards of a dozen tiles may ask at once, and wait nearly as long as their readers do: a minute.
 */
export function insightTurnBounds(processes: number): TurnBounds {
  const running = processes === 1 ? 3 : 2;
  return {
    running,
    runningOfProject: running - 1,
    searches: running,
    searchesOfProject: running - 1,
    waiting: 1_000,
    waitingOfProject: 600,
    waitMs: 55_000,
    lingerMs: 1_000,
  };
}

/** Of all processes together, and two of those that take no turn. */
export function readsAtOnce(processes: number): number {
  const ofOne = turnBounds(processes).running + insightTurnBounds(processes).running;
  return processes * ofOne + 2;
}

/** Of one question's statement: those that run at once leave a part of the engine's memory to inserts and merges. */
export function insightMemoryBytes(engineBytes: number, processes: number): number {
  const atOnce = processes * insightTurnBounds(processes).running;
  return Math.floor(engineBytes / (atOnce + 1));
}

interface Waiter {
  start: () => void;
}

/** Of one project; forgotten when nothing of it runs or waits. */
interface Lane {
  running: number;
  searches: number;
  waiting: Readonly<Record<StatementKind, Set<Waiter>>>;
}

export class Turns {
  readonly #bounds: TurnBounds;
  readonly #timer: Timer;
  /** By project, in the order in which the projects get their next turns. */
  readonly #lanes = new Map<string, Lane>();
  #running = 0;
  #searches = 0;
  #waiting = 0;

  constructor(bounds: TurnBounds, timer: Timer) {
    this.#bounds = bounds;
    this.#timer = timer;
  }

  /** A reader whose statements take turns of the project; they throw resource_exhausted instead of waiting too long. */
  reader(clickhouse: RowReader, projectId: string, kind: StatementKind): RowReader {
    return {
      select: async (select, onRow) => {
        await this.#take(projectId, kind, select.signal);
        let isLeft = false;
        try {
          await clickhouse.select(select, (text) => {
            const goesOn = onRow(text);
            isLeft = !goesOn;
            return goesOn;
          });
        } finally {
          const give = (): void => this.#give(projectId, kind);
          if (isLeft || select.signal.aborted) this.#timer(this.#bounds.lingerMs, give);
          else give();
        }
      },
    };
  }

  #take(projectId: string, kind: StatementKind, signal: AbortSignal): Promise<void> {
    // Nobody would call off its wait.
    if (signal.aborted) return Promise.reject(signal.reason);
    const lane = this.#lanes.get(projectId) ?? newLane();
    const own = lane.waiting['look-up'].size + lane.waiting.search.size;
    const { waiting, waitingOfProject } = this.#bounds;
    if (lane.waiting[kind].size === 0 && this.#hasRoom(lane, kind)) {
      this.#lanes.set(projectId, lane);
      this.#begin(lane, kind);
      return Promise.resolve();
    }
    if (this.#waiting >= waiting || own >= waitingOfProject) return Promise.reject(this.#busy());
    this.#lanes.set(projectId, lane);
    return this.#wait(lane, projectId, kind, signal);
  }

  #wait(lane: Lane, projectId: string, kind: StatementKind, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        lane.waiting[kind].delete(waiter);
        this.#waiting--;
        calledOff();
        signal.removeEventListener('abort', fail);
      };
      const fail = (): void => {
        leave();
        this.#forgetIfIdle(projectId, lane);
        reject(signal.aborted ? signal.reason : this.#busy());
      };
      const waiter = {
        start: () => {
          leave();
          this.#begin(lane, kind);
          resolve();
        },
      };
      lane.waiting[kind].add(waiter);
      this.#waiting++;
      const calledOff = this.#timer(this.#bounds.waitMs, fail);
      signal.addEventListener('abort', fail);
    });
  }

  #begin(lane: Lane, kind: StatementKind): void {
    lane.running++;
    this.#running++;
    if (kind === 'look-up') return;
    lane.searches++;
    this.#searches++;
  }

  #give(projectId: string, kind: StatementKind): void {
    const lane = this.#lanes.get(projectId);
    if (lane === undefined) throw new Error('a turn was given back twice');
    lane.running--;
    this.#running--;
    if (kind === 'search') {
      lane.searches--;
      this.#searches--;
    }
    this.#forgetIfIdle(projectId, lane);
    this.#startNext();
  }

  /** One turn to each project that waits, before any gets a second. */
  #startNext(): void {
    for (const [projectId, lane] of [...this.#lanes]) {
      if (this.#running >= this.#bounds.running) return;
      const waiter = this.#nextOf(lane);
      if (waiter === undefined) continue;
      waiter.start();
      this.#lanes.delete(projectId);
      this.#lanes.set(projectId, lane);
    }
  }

  #nextOf(lane: Lane): Waiter | undefined {
    for (const kind of ['look-up', 'search'] as const) {
      const [first] = lane.waiting[kind];
      if (first !== undefined && this.#hasRoom(lane, kind)) return first;
    }
    return undefined;
  }

  #hasRoom(lane: Lane, kind: StatementKind): boolean {
    const { running, runningOfProject, searches, searchesOfProject } = this.#bounds;
    if (this.#running >= running || lane.running >= runningOfProject) return false;
    return kind === 'look-up' || (this.#searches < searches && lane.searches < searchesOfProject);
  }

  #forgetIfIdle(projectId: string, lane: Lane): void {
    const { search, 'look-up': lookUp } = lane.waiting;
    if (lane.running + search.size + lookUp.size === 0) this.#lanes.delete(projectId);
  }

  #busy(): ConnectError {
    const message = 'too many reads of this project are running or waiting';
    const retryAfter = String(Math.ceil(this.#bounds.waitMs / 1_000));
    return new ConnectError(message, Code.ResourceExhausted, { 'retry-after': retryAfter });
  }
}

function newLane(): Lane {
  return { running: 0, searches: 0, waiting: { 'look-up': new Set(), search: new Set() } };
}
