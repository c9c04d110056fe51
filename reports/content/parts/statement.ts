// The answer of a statement in a mail: one figure, or its first columns and rows.

import type { AnsweredStatement } from '../../../platform/reports/rendered-period.ts';
import { figure } from '../../../platform/words/figures.ts';
import {
  type StatementAnswer,
  StatementView,
} from '../../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { type ReportPart, tableOf } from '../report-part.ts';
import { lineInMail } from '../text-in-mail.ts';

/** As many as a phone shows. */
const maxColumns = 5;
const maxCellCharacters = 80;

export function partOfStatement(title: string, { view, answer }: AnsweredStatement): ReportPart {
  switch (view) {
    case StatementView.NUMBER:
      return partOfNumber(title, answer);
    case StatementView.UNSPECIFIED:
    case StatementView.TABLE:
    case StatementView.LINES:
    case StatementView.BARS:
      return partOfRows(title, answer);
    default:
      return view satisfies never;
  }
}

/** The first number of the first row. */
function partOfNumber(title: string, { columns, rows }: StatementAnswer): ReportPart {
  const [row] = rows;
  const at = columns.findIndex(({ type }) => numberType.test(type));
  const name = lineInMail(columns[at]?.name ?? 'Number', maxCellCharacters);
  const text = at === -1 ? '–' : cellText(row?.cells[at]);
  return { kind: 'figures', title, rows: [{ name, cells: [{ text }] }], notes: [] };
}

function partOfRows(title: string, { columns, rows, isCut }: StatementAnswer): ReportPart {
  const shown = columns.slice(0, maxColumns);
  const left = columns.length - shown.length;
  const [, ...heads] = shown.map(({ name }) => lineInMail(name, maxCellCharacters));
  const notes = [
    ...(left > 0 ? [`${left} more columns are on the board.`] : []),
    ...(isCut ? ['The answer has more rows than a board shows.'] : []),
  ];
  if (rows.length === 0) return { kind: 'text', title, text: 'The answer has no rows.', notes };
  const written = rows.map(({ cells }) => {
    const [name = '–', ...others] = cells.slice(0, maxColumns).map(cellText);
    return { name, cells: others.map((text) => ({ text })) };
  });
  return tableOf(title, heads, written, notes);
}

const numberType = /^(?:(?:Nullable|LowCardinality)\()*(?:U?Int|B?Float|Decimal)/;

/** Of a cell as JSON. 64-bit integers are texts, and a text stays as it is. */
function cellText(json: string | undefined): string {
  const value: unknown = json === undefined ? null : JSON.parse(json);
  if (value === null) return '–';
  if (typeof value === 'number') return figure(value);
  if (typeof value === 'string') return lineInMail(value, maxCellCharacters);
  return lineInMail(JSON.stringify(value), maxCellCharacters);
}
