// What planning a question finds out beside the text of its statement: what its rows depend on, what may be kept of
// past days, where the rows come from, and what it would like to know of the project first.

/** Half-open, in milliseconds. */
export interface Range {
  fromMs: number;
  toMs: number;
}

/** Cells of whole days, as a statement answers them that keeps them. */
export interface DayCells {
  /** A hash, under which they are kept: the same for the same question, whatever its range. */
  key: string;
  /** The statements that keep the days `daysToKeep`, and then list them: a day that is listed is there whole. */
  keep: readonly string[];
  /** A day's cells depend on the events of so many days before and after, too. */
  reachDays: number;
}

/** A need, the source that serves it, and those above that refused it, as sources/ladder.ts names them. */
export interface Served {
  need: string;
  source: string;
  refused: { source: string; reason: string }[];
}

export interface PlanNotes {
  /** The times whose events the statement reads, as rows or as sums: every reader notes its own. */
  readonly reads: Range[];
  readonly dayCells: DayCells[];
  readonly served: Served[];
  /** Properties whose types, and whether deletions, decide what the statement looks for. */
  readonly properties: Set<string>;
  asksDeletions: boolean;
}

export function createNotes(): PlanNotes {
  return { reads: [], dayCells: [], served: [], properties: new Set(), asksDeletions: false };
}
