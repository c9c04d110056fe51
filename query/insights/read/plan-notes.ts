// What planning a question finds out beside its statement: what may be kept of past days, and where the rows come from.

/** Cells of whole days, as a statement answers them that keeps them. */
export interface DayCells {
  /** Of each series among them: the same for the same question, whatever its range. */
  keys: readonly string[];
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
