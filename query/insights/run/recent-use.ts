// How long each project's longest statement ran of late. Where several projects ask at once, the engine lets those go
// first whose statements are short: so one project's heavy questions leave another's small ones nearly undisturbed, and
// alone they have the whole machine.

import { setBounded } from '../../../platform/memory/bounded-map.ts';

/** A long statement counts half after this time. */
const halfLifeMs = 10_000;
/** Statements of a second make a project go after those of short ones; each later step takes twice as long. */
const firstStepMs = 1_000;
/** A project that is forgotten goes first: far more than ask at once. */
const maxProjects = 10_000;

interface Use {
  /** The longest statement that has ended, as it counted at `atMs`. */
  longestMs: number;
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
    let longestMs = decayed(use, nowMs);
    for (const { sinceMs } of use.running) longestMs = Math.max(longestMs, nowMs - sinceMs);
    return 1 + Math.floor(Math.log2(1 + longestMs / firstStepMs));
  }

  /** A statement of the project begins; call the returned function when it has ended. */
  begin(projectId: string): () => void {
    const nowMs = this.#nowMs();
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
