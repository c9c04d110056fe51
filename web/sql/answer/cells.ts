// Cells of an answer as texts, and what kind of values the engine's types hold.

import type { Grid } from '../../exports/csv.ts';
import type { Cell, RowsAnswer } from '../statement-client.ts';

/** Without what wraps a type and leaves its values as they are. */
function innerType(type: string): string {
  const inner = /^(?:Nullable|LowCardinality)\((.*)\)$/.exec(type)?.[1];
  return inner === undefined ? type : innerType(inner);
}

export function isNumberType(type: string): boolean {
  return /^(?:U?Int|B?Float|Decimal)/.test(innerType(type));
}

export function isTimeType(type: string): boolean {
  return /^Date/.test(innerType(type));
}

export function isTextType(type: string): boolean {
  return /^(?:String|FixedString|Enum|UUID|Bool|IPv)/.test(innerType(type));
}

export function isMapType(type: string): boolean {
  return type.startsWith('Map(');
}

/** NULL is the empty text. */
export function cellText(cell: Cell): string {
  if (cell === null) return '';
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
}

/** For CSV. */
export function gridOf({ columns, rows }: Pick<RowsAnswer, 'columns' | 'rows'>): Grid {
  return {
    columns: columns.map(({ name }) => name),
    rows: rows.map((row) => row.map((cell) => (typeof cell === 'number' ? cell : cellText(cell)))),
  };
}
