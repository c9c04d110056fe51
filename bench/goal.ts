// What a goal of the benches says: a share of a limit that was measured in the same run.

export interface Goal {
  name: string;
  /** The limit, measured beside it. */
  beside: string;
  asked: { atLeast: number } | { atMost: number };
  unit?: 'us' | 'ms' | 'MiB';
  reached: Cell;
}

/** A column of a bench's table and the rows that count; of several, the worst. */
export interface Cell {
  bench: string;
  column: string;
  where?: Readonly<Record<string, string>>;
}
