// How long each project's longest statement ran of late. Where several projects ask at once, the engine lets those go
// first whose statements are short, and long ones get fewer threads: the engine stops a statement between two blocks
// only, so that many threads of a heavy one take the cores of a small one all the same. Alone, a project has the whole
// machine.

import { setBounded } from '../../../platform/memory/bounded-map.ts';

/** A long statement counts half after this time. */
const halfLifeMs = 10_000;
/** Statements of a tenth of a second make a project go after those of short ones; each step takes twice as long. */
const firstStepMs = 100;
/** A project asks beside others where one of them began a statement within so long. */
const besideMs = 10_000;
/** From this priority on a project's statements get fewer threads beside others: they take half a second. */
const heavyPriority = 3;
/** A project that is forgotten goes first: far more than ask at once. */
const maxProjects = 10_000;

interface Use {
  /** The longest statement that has ended, as it counted at `atMs`. */
  longestMs: number;
  atMs: number;
  /** When each running statement began. */
  running: Set<{ sinceMs: number }>;
}

/** ClickHouse's `priority` of statements that go first. */
export const firstPriority = 1;

export class RecentUse {
  readonly #nowMs: () => number;
  readonly #uses = new Map<string, Use>();
  /** The project that began a statement last, and the last other one before it. */
  #last: { projectId: string; atMs: number } | undefined;
  #lastOther: { projectId: string; atMs: number } | undefined;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** ClickHouse's `priority` of the project's next statement: 1 goes first. */
  priorityOf(projectId: string): number {
    const use = this.#uses.get(projectId);
    if (use === undefined) return firstPriority;
    const nowMs = this.#nowMs();
    let longestMs = decayed(use, nowMs);
    for (const { sinceMs } of use.running) longestMs = Math.max(longestMs, nowMs - sinceMs);
    return firstPriority + Math.floor(Math.log2(1 + longestMs / firstStepMs));
  }

  /** The threads of the project's next statement; it runs on `cores` where others have not asked of late. */
  threadsOf(projectId: string, cores: number): number {
    const other = this.#last?.projectId === projectId ? this.#lastOther : this.#last;
    const isAlone = other === undefined || this.#nowMs() - other.atMs >= besideMs;
    if (isAlone || this.priorityOf(projectId) < heavyPriority) return cores;
    // Two of its statements may run at once, and leave a core.
    return Math.max(1, Math.floor((cores - 1) / 2));
  }

  /** A statement of the project begins; call the returned function when it has ended. */
  begin(projectId: string): () => void {
    const nowMs = this.#nowMs();
    if (this.#last?.projectId !== projectId) this.#lastOther = this.#last;
    this.#last = { projectId, atMs: nowMs };
    const use = this.#uses.get(projectId) ?? { longestMs: 0, atMs: nowMs, running: new Set() };
    const statement = { sinceMs: nowMs };
    use.running.add(statement);
    this.#uses.delete(projectId);
    setBounded(this.#uses, projectId, use, maxProjects);
    return () => {
      const endMs = this.#nowMs();
      use.running.delete(statement);
      use.longestMs = Math.max(decayed(use, endMs), endMs - statement.sinceMs);
      use.atMs = endMs;
    };
  }
}

function decayed({ longestMs, atMs }: Use, nowMs: number): number {
  return longestMs * 2 ** ((atMs - nowMs) / halfLifeMs);
}
