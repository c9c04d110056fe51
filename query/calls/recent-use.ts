// How long each owner's longest statement ran of late. Where several owners ask at once, those go first whose
// statements are short, and long ones get fewer turns and threads: the engine stops a statement between two blocks
// only, so that many threads of a heavy one take the cores of a small one all the same. Alone, an owner has the whole
// machine.

import { setBounded } from '../../platform/memory/bounded-map.ts';

/** A long statement counts half after this time. */
const halfLifeMs = 10_000;
/** Statements of a tenth of a second make an owner go after those of short ones; each step takes twice as long. */
const firstStepMs = 100;
/** An owner asks beside others where one of them began a statement within so long. */
const besideMs = 10_000;
/** From this priority on an owner's statements get fewer turns and threads beside others: they take half a second. */
const heavyPriority = 3;
/** An owner that is forgotten goes first: far more than ask at once. */
const maxOwners = 10_000;

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
  /** The owner that began a statement last, and the last other one before it. */
  #last: { owner: string; atMs: number } | undefined;
  #lastOther: { owner: string; atMs: number } | undefined;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** ClickHouse's `priority` of the owner's next statement: 1 goes first. */
  priorityOf(owner: string): number {
    return firstPriority + Math.floor(Math.log2(1 + this.longestMsOf(owner) / firstStepMs));
  }

  /** The owner's longest statement, running or of late. */
  longestMsOf(owner: string): number {
    const use = this.#uses.get(owner);
    if (use === undefined) return 0;
    const nowMs = this.#nowMs();
    let longestMs = decayed(use, nowMs);
    for (const { sinceMs } of use.running) longestMs = Math.max(longestMs, nowMs - sinceMs);
    return longestMs;
  }

  /** Whether the owner's statements are long, and others have asked of late. */
  isHeavyBesideOthers(owner: string): boolean {
    const other = this.#last?.owner === owner ? this.#lastOther : this.#last;
    const isAlone = other === undefined || this.#nowMs() - other.atMs >= besideMs;
    return !isAlone && this.priorityOf(owner) >= heavyPriority;
  }

  /** A statement of the owner begins; call the returned function when it has ended, for the milliseconds it took. */
  begin(owner: string): () => number {
    const nowMs = this.#nowMs();
    if (this.#last?.owner !== owner) this.#lastOther = this.#last;
    this.#last = { owner, atMs: nowMs };
    const use = this.#uses.get(owner) ?? { longestMs: 0, atMs: nowMs, running: new Set() };
    const statement = { sinceMs: nowMs };
    use.running.add(statement);
    this.#uses.delete(owner);
    setBounded(this.#uses, owner, use, maxOwners);
    return () => {
      const endMs = this.#nowMs();
      const tookMs = endMs - statement.sinceMs;
      use.running.delete(statement);
      use.longestMs = Math.max(decayed(use, endMs), tookMs);
      use.atMs = endMs;
      return tookMs;
    };
  }
}

function decayed({ longestMs, atMs }: Use, nowMs: number): number {
  return longestMs * 2 ** ((atMs - nowMs) / halfLifeMs);
}
