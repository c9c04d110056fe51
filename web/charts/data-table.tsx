// The table of a chart: the same figures for people who read and for programs that do, with CSV.

import { readablePath } from '../text/readable-path.ts';
import { download } from '../ui/download.ts';

export type Grid = { columns: readonly string[]; rows: readonly (readonly (string | number)[])[] };

/** A quoted field where it needs quotes. A text that a spreadsheet would run as a formula gets an apostrophe. */
function csvField(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function toCsv({ columns, rows }: Grid): string {
  return [columns, ...rows].map((row) => row.map(csvField).join(',')).join('\r\n');
}

export function DataTable({ label, grid }: { label: string; grid: Grid }) {
  return (
    <details class="data">
      <summary>Table</summary>
      <div class="row end">
        <button type="button" onClick={() => download(`${label}.csv`, 'text/csv', toCsv(grid))}>
          CSV
        </button>
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label={`${label}: table`}>
        <table>
          <thead>
            <tr>
              {grid.columns.map((name) => (
                <th key={name} scope="col">
                  {readablePath(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {grid.rows.map((row, index) => (
              <tr key={index}>
                {row.map((value, column) => (
                  <td key={grid.columns[column]} class={typeof value === 'number' ? 'number' : ''}>
                    {typeof value === 'string' ? readablePath(value) : value}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
