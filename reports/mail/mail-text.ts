// The plain text of a report: the same figures as its HTML.

import type { Cell, ReportPart, Row } from '../content/report-part.ts';

export function textPart(part: ReportPart): string {
  const { title, notes } = part;
  const head = title === '' ? [] : [title, '-'.repeat(Math.min(60, [...title].length))];
  return [...head, ...linesOf(part), ...notes].join('\n');
}

function linesOf(part: ReportPart): string[] {
  switch (part.kind) {
    case 'figures':
      return part.rows.map((row) =>
        part.rows.length > 1 ? `${row.name}: ${cellsText(row, [])}` : cellsText(row, []),
      );
    case 'table':
      if (part.rows.length === 0) return ['Nothing happened.'];
      return part.rows.map((row) => `${row.name}: ${cellsText(row, part.heads)}`);
    case 'text':
      return [part.text];
    default:
      return part satisfies never;
  }
}

/** Columns of a table with several have their names. */
function cellsText({ cells }: Row, heads: readonly string[]): string {
  return cells
    .map((cell, index) => {
      const head = cells.length > 1 ? heads[index] : '';
      return head ? `${head} ${cellText(cell)}` : cellText(cell);
    })
    .join(', ');
}

function cellText({ text, change }: Cell): string {
  return change === undefined ? text : `${text} (${change.text})`;
}
