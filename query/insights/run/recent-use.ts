// How long each project's statements have run of late. Where several projects ask at once, the engine lets those go
// first that have used least: so one project's heavy questions leave another's small ones nearly undisturbed, and alone
// they have the whole machine.

import { setBounded } from '../../../platform/memory/bounded-map.ts';

/** Use counts half after this time. */
const halfLifeMs = 10_000;
/** The use that makes a project go after those that used nothing; each later step takes twice as much. */
const firstStepMs = 100;
/** A project that is forgotten goes first: far more than ask at once. */
const maxProjects = 10_000;

interface Use {
  /** Of the statements that have ended, as it was at `atMs`. */
  usedMs: number;
  atMs: number;
  /** When each running statement began. */
  running: Set<{ sinceMs: number }>;
}

export class RecentUse {
  readonly #nowMs: () => number;
  readonly #uses = new Map<string, Use>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** ClickHouse's `priority` of the project's next statement: 1 goes first. */
  priorityOf(projectId: string): number {
    const use = this.#uses.get(projectId);
    if (use === undefined) return 1;
    const nowMs = this.#nowMs();
    let usedMs = decayed(use, nowMs);
    for (const { sinceMs } of use.running) usedMs += nowMs - sinceMs;
    return 1 + Math.floor(Math.log2(1 + usedMs / firstStepMs));
  }

  /** A statement of the project begins; call the returned function when it has ended. */
  begin(projectId: string): () => void {
    const nowMs = this.#nowMs();
    const use = this.#uses.get(projectId) ?? { usedMs: 0, atMs: nowMs, running: new Set() };
    const statement = { sinceMs: nowMs };
    use.running.add(statement);
    this.#uses.delete(projectId);
    setBounded(this.#uses, projectId, use, maxProjects);
    return () => {
      const endMs = this.#nowMs();
      use.running.delete(statement);
      use.usedMs = decayed(use, endMs) + endMs - statement.sinceMs;
      use.atMs = endMs;
    };
  }
}

function decayed({ usedMs, atMs }: Use, nowMs: number): number {
  return usedMs * 2 ** ((atMs - nowMs) / halfLifeMs);
}
