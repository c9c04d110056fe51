// How many statements of reads run and wait at once: of all owners of projects, and of one. Whose turn is next is
// turns.ts's.

import { availableParallelism } from 'node:os';

export interface TurnBounds {
  /** Statements that run at once … */
  running: number;
  /** … of one owner; less than `running`, so that others have a turn. */
  runningOfOwner: number;
  /** Searches among them … */
  searches: number;
  /** … and of one owner. */
  searchesOfOwner: number;
  /** Statements that wait at once, and those of one owner. */
  waiting: number;
  waitingOfOwner: number;
  /** The longest wait. */
  waitMs: number;
  /** A turn is kept so long after its statement was left in the middle: the engine ends it between two blocks. */
  lingerMs: number;
  /** The engine's, and those that a search uses where nobody else asks. */
  cores: number;
  threads: number;
}

/**
 * For one of `processes` that read from one engine. A dashboard asks for a dozen results at once, and each of hundreds
 * that wait holds little but its statement. Half of a read's ten seconds may pass before its turn. The engine ends a
 * statement between two blocks, within a second.
 */
export function turnBounds(processes: number): TurnBounds {
  const running = Math.max(3, Math.floor(4 / processes));
  return {
    running,
    runningOfOwner: running - 1,
    searches: running - 1,
    searchesOfOwner: running - 2,
    waiting: 200,
    waitingOfOwner: 50,
    waitMs: 5_000,
    lingerMs: 1_000,
    cores: availableParallelism(),
    threads: 1,
  };
}

/**
 * For the statements of questions, apart from all others, which wait seconds at most: a question may use all cores for
 * half a minute. Few run at once, because each has its part of the engine's memory, and one owner leaves a turn to
 * others. Dozens of boards of a dozen tiles may ask at once, and wait nearly as long as their readers do: a minute.
 */
export function insightTurnBounds(processes: number): TurnBounds {
  const running = processes === 1 ? 3 : 2;
  const cores = availableParallelism();
  return {
    running,
    runningOfOwner: running - 1,
    searches: running,
    searchesOfOwner: running - 1,
    waiting: 1_000,
    waitingOfOwner: 600,
    waitMs: 55_000,
    lingerMs: 1_000,
    cores,
    threads: cores,
  };
}

/** What an owner of long statements has beside others. */
export interface HeavyBounds {
  /** Of one statement. */
  threads: number;
  searches: number;
  /** The engine lets a statement of a better priority go first between two blocks: of 65,409 rows, unless told. */
  blockRows: number;
}

/** They leave a core to others. */
export function heavyBounds({ cores, threads, searchesOfOwner }: TurnBounds): HeavyBounds {
  const left = Math.max(1, cores - 1);
  const ofOne = Math.min(threads, Math.max(1, Math.floor(left / 2)));
  const searches = Math.min(searchesOfOwner, Math.floor(left / ofOne));
  return { threads: ofOne, searches, blockRows: 8_192 };
}

/** Each has a connection of the engine and a thread of it, for as long as its reader takes. */
export const exportsAtOnce = 2;

/** Kept exports that are written: they wait for nobody, and one leaves the engine to others. */
export const keptExportsAtOnce = 1;

/** Scheduled exports: likewise. */
export const scheduledExportsAtOnce = 1;

/** Statements of callers (POST /sql): one of them leaves the engine to others, too. */
export const sqlAtOnce = 3;

/** Of all processes together, and two of those that take no turn. */
export function readsAtOnce(processes: number): number {
  const ofTurns = turnBounds(processes).running + insightTurnBounds(processes).running;
  const ofExports = exportsAtOnce + keptExportsAtOnce + scheduledExportsAtOnce;
  const ofOne = ofTurns + ofExports + sqlAtOnce;
  return processes * ofOne + 2;
}

/** Of one question's statement: those that run at once leave a part of the engine's memory to inserts and merges. */
export function insightMemoryBytes(engineBytes: number, processes: number): number {
  const atOnce = processes * insightTurnBounds(processes).running;
  return Math.floor(engineBytes / (atOnce + 1));
}
