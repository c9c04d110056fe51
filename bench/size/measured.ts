// What an event costs each role by the kept results, each figure with its bench, row and column.

import type { Result } from '../results.ts';

export interface Figure {
  value: number;
  from: string;
}

/** Of a medium event in batches of 100. CPU in us, memory in MiB of one process. */
export interface Measured {
  requests: readonly Figure[];
  /** The same of a request with one event. */
  singleRequests: Figure;
  building: readonly Figure[];
  broker: Figure;
  inserting: readonly Figure[];
  /** CPU of one rewrite of a row of `events` by a merge, and the share that `events` have of all tables' merges. */
  rewrite: Figure;
  shareOfEvents: Figure;
  /** Rewrites of a row by then, ascending. */
  rewrites: readonly { rows: number; figure: Figure }[];
  memory: { service: Figure; broker: Figure; engine: Figure };
  bodyBytes: Figure;
  queuedBytes: Figure;
  insertedBytes: Figure;
  storedBytes: Figure;
  /** Events a second of one machine with all parts and the senders, half of what it takes, and the lag's p99 in ms. */
  halfLoad: Figure;
  halfLoadLag: Figure;
}

const clients = { size: 'medium', batch: '100', connections: '16' };
const batch = Number(clients.batch);
const merged = { rows: '100,000,000, nothing left to merge' };
const simulatedRows = [10, 100, 200, 1_000].map((millions) => millions * 1_000_000);

/** Throws where the results lack a figure. */
export function readMeasured(results: readonly Result[]): Measured {
  const of = (bench: string, column: string, where: Cells): Figure => {
    const [found] = figures(results, bench, column, where);
    if (found === undefined) throw lacking(bench, column);
    return found;
  };
  const stage = (name: string): Figure => of('stages', 'us/event', { stage: name });
  const process = (name: string, column: string): Figure =>
    of('end-to-end', column, { process: name });
  const requests = of('broker-bytes', 'requests/message', clients).value;
  return {
    requests: [stage('HTTP and validation'), stage('frame, LZ4, publish')],
    singleRequests: of('single', 'server', { server: 'millrace' }),
    building: [
      ...[stage('receive, unpack'), stage('scan, enrich, columns')],
      ...[stage('duplicates'), stage('hand over the insert')],
    ],
    broker: process('broker', 'us/event'),
    inserting: [
      process('engine: inserts and reads', 'us/event'),
      process('engine: views of the inserts', 'us/event'),
    ],
    rewrite: of('age', 'us a rewrite of events', merged),
    shareOfEvents: of('age', 'share of events', merged),
    rewrites: simulatedRows.map((rows) => ({
      rows,
      figure: greatest(figures(results, 'age', `at ${rows.toLocaleString('en-US')}`)),
    })),
    memory: {
      service: process('service', 'MiB'),
      broker: process('broker', 'MiB'),
      engine: process('engine: inserts and reads', 'MiB'),
    },
    bodyBytes: by(of('broker-bytes', 'B/body', clients), batch),
    queuedBytes: by(of('broker-bytes', 'B/message', clients), batch * requests),
    insertedBytes: insertedBytes(results),
    storedBytes: storedBytes(results),
    halfLoad: of('end-to-end', 'events/s', { p99: undefined }),
    halfLoadLag: of('end-to-end', 'p99', {}),
  };
}

/** Columns that the table has, with the text of the row; undefined for any text. */
type Cells = Readonly<Record<string, string | undefined>>;

/** Of the first table that has the columns: the figures of the rows that fit. */
function figures(
  results: readonly Result[],
  bench: string,
  column: string,
  where: Cells = {},
): Figure[] {
  const names = [column, ...Object.keys(where)];
  const tables = results.find((result) => result.bench === bench)?.tables ?? [];
  const table = tables.find(({ columns }) => names.every((name) => columns.includes(name)));
  if (table === undefined) throw lacking(bench, column);
  const { columns } = table;
  const fits = (row: readonly string[]): boolean =>
    Object.entries(where).every(
      ([name, text]) => text === undefined || row[columns.indexOf(name)] === text,
    );
  return table.rows.filter(fits).map((row) => {
    // A name and its figure may have the same head: the name comes first.
    const value = Number(row[columns.lastIndexOf(column)]?.replaceAll(',', ''));
    if (!(value > 0)) throw lacking(bench, column);
    const name = Object.values(where).find((text) => text !== undefined);
    return { value, from: [`\`${bench}\``, name, column].filter(Boolean).join(', ') };
  });
}

function lacking(bench: string, column: string): Error {
  return new Error(`bench/results.json: the bench ${bench} has no figure "${column}"`);
}

function greatest(all: readonly Figure[]): Figure {
  return all.reduce((one, other) => (other.value > one.value ? other : one));
}

function by({ value, from }: Figure, events: number): Figure {
  return { value: value / events, from };
}

/** Of an Arrow stream, told in the table's title. */
function insertedBytes(results: readonly Result[]): Figure {
  const title = results.find(({ bench }) => bench === 'insert')?.tables[0]?.title ?? '';
  const [, rows, mebibytes] = /(\d+) rows \(([\d.]+) MiB\)/.exec(title) ?? [];
  if (rows === undefined || mebibytes === undefined) throw lacking('insert', 'rows (MiB)');
  return { value: (Number(mebibytes) * 2 ** 20) / Number(rows), from: '`insert`, MiB of its rows' };
}

/** Of all tables of the product; the bench compares with a peer's. */
function storedBytes(results: readonly Result[]): Figure {
  const [bench, column] = ['insights', 'bytes an event'];
  const table = results
    .find((result) => result.bench === bench)
    ?.tables.find(({ columns }) => columns.includes(column));
  if (table === undefined) throw lacking(bench, column);
  const value = table.rows
    .filter(([name = '']) => !name.startsWith('peer_'))
    .reduce((sum, row) => sum + Number(row[table.columns.indexOf(column)]), 0);
  return { value, from: `\`${bench}\`, ${column} in all tables` };
}
