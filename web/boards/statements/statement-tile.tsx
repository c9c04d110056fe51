// The answer of a statement on a board: a table, a number, lines or bars, or what it has too little of.

import { useMemo } from 'preact/hooks';
import { figure } from '../../../platform/words/figures.ts';
import type {
  StatementAnswer,
  StatementView,
} from '../../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { DataTable } from '../../charts/data-table.tsx';
import { AnswerChart } from '../../sql/answer/answer-chart.tsx';
import { cellText, gridOf, isNumberType } from '../../sql/answer/cells.ts';
import { nameOfView, numberOf, rowsOfTile } from './answer-rows.ts';
import '../../styles/sql.css';

export function StatementTile(props: {
  label: string;
  view: StatementView;
  answer: StatementAnswer;
  height: number;
}) {
  const { label, view, answer, height } = props;
  const rows = useMemo(() => rowsOfTile(answer), [answer]);
  const shown = nameOfView(view);
  return (
    <>
      {rows.rows.length === 0 ? (
        <p class="hint">No row fits the statement.</p>
      ) : shown === 'table' ? (
        <Rows label={label} {...rows} />
      ) : shown === 'number' ? (
        <BigNumber {...rows} />
      ) : (
        <AnswerChart answer={rows} wants={shown} label={label} height={height} />
      )}
      {/* Lines have a table of their own. */}
      {shown === 'lines' ? null : <DataTable label={label} grid={gridOf(rows)} isHidden />}
      {answer.isCut ? (
        <p class="hint">The statement has more rows than the 1,000 that a board shows.</p>
      ) : null}
    </>
  );
}

type Shown = ReturnType<typeof rowsOfTile>;

function BigNumber(rows: Shown) {
  const found = numberOf(rows);
  if (found === undefined) {
    return <p class="hint">The first row has no number: SELECT count() …</p>;
  }
  const { name, value } = found;
  const exact = typeof value === 'number' ? figure(value) : grouped(value);
  return (
    <p class="big-figure">
      <b>{exact}</b>
      <small>{name}</small>
    </p>
  );
}

/** A 64-bit whole number with all of its digits. */
function grouped(text: string): string {
  return /^-?\d{1,20}$/.test(text) ? BigInt(text).toLocaleString('en-US') : text;
}

function Rows({ label, columns, rows }: Shown & { label: string }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`${label}: rows`}>
      <table class="sql-rows">
        <thead>
          <tr>
            {columns.map(({ name, type }) => (
              <th key={name} scope="col" title={type} class={isNumberType(type) ? 'number' : ''}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {columns.map(({ name, type }, at) => (
                <td key={name} class={isNumberType(type) ? 'number' : ''}>
                  {row[at] === null ? <small>NULL</small> : cellText(row[at] ?? null)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
