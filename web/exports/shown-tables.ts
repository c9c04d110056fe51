// The tables that a part of a page shows, for whoever takes all of them away: a table tells its rows, and whatever is
// on its way says so.

import { createContext } from 'preact';
import { useContext, useLayoutEffect, useRef } from 'preact/hooks';
import type { Grid } from './csv.ts';

export interface ShownTable {
  label: string;
  grid: Grid;
  /** RFC 3339, or `unknown`; undefined of tables that answer no question. */
  completeUntil: string | undefined;
}

export interface PartTables {
  /** By whatever shows it, in the order in which they came. */
  tables: Map<object, ShownTable>;
  /** What is on its way. */
  waiting: Set<object>;
}

/** Of a part that is named by its id; made where nobody has asked for it. */
export function partIn(parts: Map<string, PartTables>, id: string): PartTables {
  const known = parts.get(id) ?? { tables: new Map(), waiting: new Set() };
  parts.set(id, known);
  return known;
}

/** Of the part in which something stands; undefined where nobody takes its tables away. */
export const PartOfPage = createContext<PartTables | undefined>(undefined);

/** Until when the answer that is shown is complete. */
export const CompleteUntil = createContext<string | undefined>(undefined);

/** Tells the rows as they are shown. */
export function useToldTable(table: ShownTable): void {
  const part = useContext(PartOfPage);
  const own = useRef({}).current;
  useLayoutEffect(() => {
    part?.tables.set(own, table);
  });
  useLayoutEffect(() => () => void part?.tables.delete(own), [part]);
}

export function useToldWaiting(): void {
  const part = useContext(PartOfPage);
  const own = useRef({}).current;
  useLayoutEffect(() => {
    part?.waiting.add(own);
    return () => void part?.waiting.delete(own);
  }, [part]);
}
