// The table of a chart: the same figures for people who read and for programs that do, with CSV.

import { useContext } from 'preact/hooks';
import { figure } from '../../platform/words/figures.ts';
import { readablePath } from '../../platform/words/readable-path.ts';
import { download } from '../browser/download.ts';
import { type Grid, toCsv } from '../exports/csv.ts';
import { CompleteUntil, useToldTable } from '../exports/shown-tables.ts';

/**
 * `isHidden`: its rows are told to whoever takes the tables of the page away, and not shown. `isAlone`: it stands in
 * the place of the chart.
 */
export function DataTable(props: {
  label: string;
  grid: Grid;
  isHidden?: boolean;
  isAlone?: boolean;
}) {
  const { label, grid } = props;
  const completeUntil = useContext(CompleteUntil);
  useToldTable({ label, grid, completeUntil });
  if (props.isHidden === true && props.isAlone !== true) return null;
  const take = (): void => download(`${label}.csv`, 'text/csv', toCsv(grid, completeUntil));
  const whole = (
    <>
      <div class="row end">
        <button type="button" onClick={take}>
          Export as CSV
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
                    {typeof value === 'string' ? readablePath(value) : inFull(value)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
  if (props.isAlone === true) return <div class="data">{whole}</div>;
  return (
    <details class="data">
      <summary>Table</summary>
      {whole}
    </details>
  );
}

/** A fraction keeps all its digits: the table is where they can be read. */
function inFull(value: number): string {
  return Number.isInteger(value) ? figure(value) : String(value);
}
