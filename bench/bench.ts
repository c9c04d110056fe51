// A bench is a question, a run in smoke or real size, and a report with its figures and a proof that the work was done.
// Figures are ratios to a calibration of the same run wherever there is one.

import type { Stack } from '../test/harness/servers/stack.ts';

/** Smoke runs in every test run, so that a bench cannot rot; its figures mean nothing. */
export type Mode = 'smoke' | 'real';

export interface Report {
  tables: Table[];
  /** Proves that the work was done: differs where a result differs, not where a time does. */
  resultHash: string;
}

export interface Table {
  title: string;
  columns: string[];
  rows: string[][];
}

export interface Bench {
  name: string;
  /** One sentence. */
  question: string;
  /** Throws where a result is wrong. */
  run(mode: Mode, session: Session): Promise<Report>;
}

/** Shared by benches of the whole service: smoke runs use one stack, each real run starts its own. */
export interface Session {
  stack(): Promise<Stack>;
  /** The same stack with a shop in its project, which `store` stores where no bench of the session has yet. */
  stackWithShop(store: (stack: Stack) => Promise<void>): Promise<Stack>;
  /** A number that no earlier load of this session used, for events that are new to the stack. */
  nextLoad(): number;
}

/** Throws with the expectation where `holds` is false: a bench that did not do its work reports nothing. */
export function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(`the bench's result is wrong: ${what}`);
}

/** The table with its columns lined up: numbers to the right, text to the left. */
export function printTable({ title, columns, rows }: Table): string {
  const widths = columns.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const isText = columns.map((_, column) => isTextColumn(rows, column));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return isText[column] ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [title, '', line(columns), rule, ...rows.map(line)].join('\n');
}

/** True where any cell of the column is neither empty nor begins like a number. */
export function isTextColumn(rows: readonly (readonly string[])[], column: number): boolean {
  return rows.some((row) => !/^([<>]=? )?-?\d|^$/.test(row[column] ?? ''));
}
