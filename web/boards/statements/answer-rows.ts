// The answer of a tile's statement as the SQL page has answers, and the ways in which it can be shown.

import {
  type StatementAnswer,
  StatementView,
} from '../../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { isNumberType } from '../../sql/answer/cells.ts';
import { distinctNames } from '../../sql/column-names.ts';
import type { Cell, RowsAnswer } from '../../sql/statement-client.ts';

export type ShownAs = 'table' | 'number' | 'lines' | 'bars';

export const shownAs: readonly { value: ShownAs; name: string; view: StatementView }[] = [
  { value: 'table', name: 'Table', view: StatementView.TABLE },
  { value: 'number', name: 'Number', view: StatementView.NUMBER },
  { value: 'lines', name: 'Lines over time', view: StatementView.LINES },
  { value: 'bars', name: 'Bars', view: StatementView.BARS },
];

export function nameOfView(view: StatementView): ShownAs {
  switch (view) {
    case StatementView.UNSPECIFIED:
    case StatementView.TABLE:
      return 'table';
    case StatementView.NUMBER:
      return 'number';
    case StatementView.LINES:
      return 'lines';
    case StatementView.BARS:
      return 'bars';
    default:
      return view satisfies never;
  }
}

export function viewOf(name: ShownAs): StatementView {
  return shownAs.find(({ value }) => value === name)?.view ?? StatementView.TABLE;
}

type Shown = Pick<RowsAnswer, 'columns' | 'rows'>;

export function rowsOfTile({ columns, rows }: StatementAnswer): Shown {
  return {
    columns: distinctNames(columns),
    rows: rows.map(({ cells }) => cells.map((cell): Cell => JSON.parse(cell))),
  };
}

/** The first number of the first row; a 64-bit one stays a text. */
export function numberOf({
  columns,
  rows,
}: Shown): { name: string; value: number | string } | undefined {
  const at = columns.findIndex(({ type }) => isNumberType(type));
  const value = rows[0]?.[at];
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  return { name: columns[at]?.name ?? '', value };
}
