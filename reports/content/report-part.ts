// What a mail shows of one tile: figures, a table or a text. The HTML and the plain text are both made of it, so that
// they say the same.

/** Against the period before. */
export interface Change {
  /** "+12%", "−5%", "0.0%". */
  text: string;
  /** Undefined where nobody can tell. */
  isGood: boolean | undefined;
}

export interface Cell {
  text: string;
  change?: Change | undefined;
}

export interface Row {
  name: string;
  cells: readonly Cell[];
  /** Of a bar, 0 to 1; absent, none is drawn. */
  share?: number;
}

export type ReportPart = {
  title: string;
  /** What is said below: rows that are left out, figures that are not complete. */
  notes: readonly string[];
} & (
  | { kind: 'figures'; rows: readonly Row[] }
  /** `heads`: the names of the columns after the first. */
  | { kind: 'table'; heads: readonly string[]; rows: readonly Row[] }
  | { kind: 'text'; text: string }
);

/** Of a table. */
export const maxRows = 31;

/** A part with the rows that have room, and a note of those that have none. */
export function tableOf(
  title: string,
  heads: readonly string[],
  rows: readonly Row[],
  notes: readonly string[] = [],
): ReportPart {
  const left = rows.length - maxRows;
  const more = left > 0 ? [`${left} more rows are on the board.`] : [];
  return {
    ...{ kind: 'table', title, heads, rows: rows.slice(0, maxRows) },
    notes: [...more, ...notes],
  };
}

/** Each row with its share of the greatest first cell. */
export function withBars(rows: readonly (Row & { value: number | undefined })[]): Row[] {
  const greatest = Math.max(0, ...rows.map(({ value }) => value ?? 0));
  return rows.map(({ value = 0, ...row }) =>
    greatest > 0 ? { ...row, share: Math.max(0, value) / greatest } : row,
  );
}
