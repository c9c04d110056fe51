// Text and tables as HTML. The page around them is report.ts's.

import { isTextColumn, type Table } from './bench.ts';

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export function drawTable({ title, columns, rows }: Table): string {
  const isText = columns.map((_, column) => isTextColumn(rows, column));
  const cells = (row: readonly string[], tag: string): string =>
    row
      .map((cell, column) => {
        const kind = isText[column] ? '' : ' class="number"';
        return `<${tag}${kind}>${escapeHtml(cell)}</${tag}>`;
      })
      .join('');
  const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
  return `<div class="wide"><table><caption>${escapeHtml(title)}</caption>
<thead><tr>${cells(columns, 'th')}</tr></thead>
<tbody>${body}</tbody></table></div>`;
}
