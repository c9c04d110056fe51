// What a statement answered: its rows as a table and as a chart, with CSV, or a file in the format that it names.

import { useMemo, useState } from 'preact/hooks';
import { bytes, figure, milliseconds, plural } from '../../../platform/words/figures.ts';
import { download } from '../../browser/download.ts';
import { toCsv } from '../../exports/csv.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Tabs, useTab } from '../../ui/tabs.tsx';
import {
  type Answer,
  type Cell,
  type FileAnswer,
  maxRows,
  type RowsAnswer,
} from '../statement-client.ts';
import { AnswerChart } from './answer-chart.tsx';
import { cellText, gridOf, isNumberType, isTimeType } from './cells.ts';

const tabs = [
  { id: 'table', name: 'Table' },
  { id: 'chart', name: 'Chart' },
] as const;

export function AnswerView({ answer }: { answer: Answer }) {
  if (answer.kind === 'file') return <FileView answer={answer} />;
  return <RowsView answer={answer} />;
}

function RowsView({ answer }: { answer: RowsAnswer }) {
  const tab = useTab(tabs);
  const { rows, isCut, tookMs, readRows } = answer;
  const take = (): void => download('statement.csv', 'text/csv', toCsv(gridOf(answer)));
  return (
    <section class="card" aria-label="Answer">
      <header>
        <p class="hint" role="status">
          {isCut ? `The first ${figure(maxRows)} rows` : plural(rows.length, 'row')} in{' '}
          {milliseconds(tookMs)}, {plural(readRows, 'row')} read.
          {isCut ? ' There are more, which CSV has not either: add GROUP BY or WHERE.' : ''}
        </p>
        <button type="button" disabled={rows.length === 0} onClick={take}>
          Export as CSV
        </button>
      </header>
      <Tabs label="Answer as" tabs={tabs} />
      {tab === 'chart' ? <AnswerChart answer={answer} /> : <AnswerTable answer={answer} />}
    </section>
  );
}

interface Row {
  index: number;
  cells: readonly Cell[];
}

const rowPx = 34;
/** The edges, and the bar for scrolling sideways. */
const edgesPx = 20;

function AnswerTable({ answer }: { answer: RowsAnswer }) {
  const [opened, open] = useState<Row>();
  const rows = useMemo(() => answer.rows.map((cells, index) => ({ index, cells })), [answer]);
  const columns: Column<Row>[] = answer.columns.map(({ name, type }, at) => ({
    name,
    isNumber: isNumberType(type),
    ...(isTimeType(type) ? { width: 'minmax(190px, 1fr)' } : {}),
    cell: ({ cells }) => <CellText cell={cells[at] ?? null} />,
  }));
  if (rows.length === 0) return <p class="empty">No row fits the statement.</p>;
  return (
    <>
      <Table
        label="Rows of the answer"
        rows={rows}
        columns={columns}
        rowKey={({ index }) => String(index)}
        onOpen={open}
        height={`min(60vh, ${(rows.length + 1) * rowPx + edgesPx}px)`}
      />
      {opened ? (
        <Dialog title={`Row ${figure(opened.index + 1)}`} side onClose={() => open(undefined)}>
          <dl class="facts">
            {answer.columns.map(({ name, type }, at) => (
              <div key={name}>
                <dt title={type}>{name}</dt>
                <dd class="mono">
                  <CellText cell={opened.cells[at] ?? null} />
                </dd>
              </div>
            ))}
          </dl>
        </Dialog>
      ) : null}
    </>
  );
}

function CellText({ cell }: { cell: Cell }) {
  return cell === null ? <small>NULL</small> : <span>{cellText(cell)}</span>;
}

const maxShownCharacters = 100_000;

function FileView({ answer }: { answer: FileAnswer }) {
  const { format, type, bytes: content } = answer;
  const isText = !type.startsWith('application/octet-stream');
  const text = useMemo(
    () => (isText ? new TextDecoder().decode(content.subarray(0, maxShownCharacters)) : ''),
    [answer],
  );
  return (
    <section class="card" aria-label="Answer">
      <header>
        <p class="hint" role="status">
          {bytes(content.length)} in the format {format}, as the statement asks.
          {isText && content.length > maxShownCharacters ? ' Here is its beginning.' : ''}
        </p>
        <button
          type="button"
          onClick={() => download(`statement.${extensionOf(format)}`, type, content)}
        >
          Download
        </button>
      </header>
      {isText ? (
        <pre class="scroll" tabIndex={0} aria-label={`Answer as ${format}`}>
          {text}
        </pre>
      ) : null}
    </section>
  );
}

function extensionOf(format: string): string {
  const names: [RegExp, string][] = [
    [/^Parquet/, 'parquet'],
    [/^Arrow/, 'arrow'],
    [/^CSV/, 'csv'],
    [/^(?:TSV|TabSeparated)/, 'tsv'],
    [/EachRow|^NDJSON|^JSONLines/, 'ndjson'],
    [/^JSON/, 'json'],
    [/^Markdown/, 'md'],
    [/^XML/, 'xml'],
    [/^(?:Native|RowBinary|MsgPack|ODBC)/, 'bin'],
  ];
  return names.find(([pattern]) => pattern.test(format))?.[1] ?? 'txt';
}
