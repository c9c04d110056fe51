// The goals of the benches, each a share of a limit that was measured in the same run. Values are read from the tables
// that the benches print, so that goals and tables cannot differ.

import type { Table } from './bench.ts';
import type { Result } from './results.ts';

export interface Goal {
  name: string;
  /** The limit, measured beside it. */
  beside: string;
  asked: { atLeast: number } | { atMost: number };
  unit?: 'us' | 'ms' | 'MiB';
  reached: Cell;
}

/** A column of a bench's table and the rows that count; of several, the worst. */
interface Cell {
  bench: string;
  column: string;
  where?: Readonly<Record<string, string>>;
}

export const goals: readonly Goal[] = [
  {
    name: 'validation, medium events in batches of 100',
    beside: 'JSON.parse of the same bodies, CPU',
    asked: { atLeast: 6 },
    reached: { bench: 'validate', column: 'ratio', where: { size: 'medium', batch: '100' } },
  },
  {
    name: 'validation, the worst of three sizes and three batches',
    beside: 'JSON.parse of the same bodies, CPU',
    asked: { atLeast: 4 },
    reached: { bench: 'validate', column: 'ratio' },
  },
  {
    name: 'validation that also writes columns',
    beside: 'validation alone, CPU',
    asked: { atMost: 1.7 },
    reached: { bench: 'emit', column: 'ratio', where: { size: 'medium', batch: '100' } },
  },
  {
    name: 'queued bytes to Arrow',
    beside: 'JSON.parse and vectorFromArray, CPU',
    asked: { atLeast: 12 },
    reached: { bench: 'arrow', column: 'ratio', where: { size: 'medium', batch: '100' } },
  },
  {
    name: 'a request of one event before the broker',
    beside: 'a bare node:http sink, CPU a request',
    asked: { atMost: 1.3 },
    reached: { bench: 'gateway', column: 'ratio', where: { batch: '1' } },
  },
  {
    name: 'a request of 100 events before the broker',
    beside: 'a bare node:http sink, CPU a request',
    asked: { atMost: 1.8 },
    reached: { bench: 'gateway', column: 'ratio', where: { batch: '100' } },
  },
  {
    name: 'requests of one event, acknowledged',
    beside: "a bare node:http sink's requests a second",
    asked: { atLeast: 0.5 },
    reached: { bench: 'single', column: 'of sink', where: { server: 'millrace' } },
  },
  {
    name: 'bytes stored in the broker, medium events in batches of 100',
    beside: 'bytes received',
    asked: { atMost: 0.4 },
    reached: { bench: 'broker-bytes', column: 'ratio', where: { size: 'medium', batch: '100' } },
  },
  {
    name: 'an event from HTTP until it is queryable, batches of 100',
    beside: "the engine's own insert of the same rows, CPU, all merges",
    asked: { atLeast: 0.45 },
    reached: { bench: 'end-to-end', column: 'of engine', where: { run: 'all' } },
  },
  {
    name: 'time until queryable at half load, p99',
    beside: 'the clock',
    asked: { atMost: 1_500 },
    unit: 'ms',
    reached: { bench: 'end-to-end', column: 'p99' },
  },
  {
    name: 'memory of service, broker and engine together',
    beside: '1.7 GB',
    asked: { atMost: 1_621 },
    unit: 'MiB',
    reached: { bench: 'end-to-end', column: 'MiB', where: { process: 'together' } },
  },
  {
    name: 'the same at any moment of ten minutes at half load',
    beside: '1.7 GB',
    asked: { atMost: 1_621 },
    unit: 'MiB',
    reached: { bench: 'steady', column: 'highest', where: { process: 'together' } },
  },
  profileGoal('a profile by its externalId, p99', 25, 'GetByExternalId'),
  profileGoal('a profile by an id, p99', 25, 'Get by an id, anonymous or merged'),
  profileGoal('a page with two filters, p99', 100, 'a page with two filters on traits'),
  {
    name: 'any of these and other reads where half of the profiles are merged',
    beside: 'the same read without merges, CPU',
    asked: { atMost: 1.5 },
    reached: { bench: 'profile-reads', column: 'cpu ratio' },
  },
  {
    name: 'an event on a live view after its acknowledgement, p95',
    beside: 'the clock',
    asked: { atMost: 150 },
    unit: 'ms',
    reached: { bench: 'watch', column: 'p95 ms', where: { stage: 'arriving' } },
  },
  {
    name: 'a question over 20 million events, the worst of fourteen',
    beside: 'the milliseconds asked for it',
    asked: { atMost: 1 },
    reached: { bench: 'insights', column: 'of asked' },
  },
  {
    name: 'a question, the worst of fourteen',
    beside: 'the plainest SQL for the same answer',
    asked: { atMost: 1.5 },
    reached: { bench: 'insights', column: 'of plain' },
  },
  {
    name: 'a question that a table of sums serves, the worst of them',
    beside: 'the plainest SQL for the same answer',
    asked: { atMost: 0.5 },
    reached: { bench: 'insights', column: 'of plain', where: { rollup: 'yes' } },
  },
  {
    name: "a peer's layout of the same events, geometric mean",
    beside: 'ours',
    asked: { atLeast: 2 },
    reached: { bench: 'insights', column: 'peer / ours, geometric mean' },
  },
  {
    name: "a peer's layout of the same events, the worst of fourteen questions",
    beside: 'ours',
    asked: { atLeast: 1 },
    reached: { bench: 'insights', column: 'peer / ours' },
  },
  {
    name: 'the overview board over 20 million events',
    beside: 'the clock',
    asked: { atMost: 700 },
    unit: 'ms',
    reached: { bench: 'insights', column: 'board p50 ms' },
  },
  {
    name: 'a trend of 30 days with five times as many events before them',
    beside: 'the same trend without them',
    asked: { atMost: 1.3 },
    reached: {
      bench: 'insights-growth',
      column: '100 of 20',
      where: { question: 'trend of one kind' },
    },
  },
  {
    name: 'a question while 50,000 events a second come in, the worst',
    beside: 'the same question in quiet',
    asked: { atMost: 3 },
    reached: { bench: 'insights-under-load', column: 'of quiet' },
  },
  accountsGoal('check of a key', 20, 'us', 'a key, us of CPU'),
  accountsGoal('check of a token', 20, 'us', 'a token, us of CPU'),
  accountsGoal('slowest revocation', 1_000, 'ms', 'a revocation in another process, ms, slowest'),
  {
    name: "others' requests while somebody attacks the memory of the port, p99",
    beside: 'the same load without the attack',
    asked: { atMost: 5 },
    reached: { bench: 'exposed', column: 'ratio' },
  },
  {
    name: 'memory that such an attack adds to the service',
    beside: 'its memory before',
    asked: { atMost: 256 },
    unit: 'MiB',
    reached: { bench: 'exposed', column: 'MiB more' },
  },
  {
    name: 'ready again after a start',
    beside: 'the clock',
    asked: { atMost: 5_000 },
    unit: 'ms',
    reached: { bench: 'start', column: 'reached ms', where: { '': 'again' } },
  },
  {
    name: 'ready after broker and engine have answered, 20 million events stored',
    beside: 'the clock',
    asked: { atMost: 3_000 },
    unit: 'ms',
    reached: { bench: 'start-stored', column: 'after them ms' },
  },
];

function profileGoal(name: string, atMost: number, read: string): Goal {
  const reached: Cell = { bench: 'profile-reads', column: 'p99 ms', where: { read } };
  return { name, beside: 'the clock', asked: { atMost }, unit: 'ms', reached };
}

function accountsGoal(name: string, atMost: number, unit: 'us' | 'ms', row: string): Goal {
  const reached: Cell = { bench: 'accounts', column: 'reached', where: { '': row } };
  return { name, beside: 'the clock', asked: { atMost }, unit, reached };
}

interface Reached {
  value: number;
  /** The range of the pairs, where the bench compares pairs. */
  range: readonly [min: number, max: number] | undefined;
  met: boolean;
}

/** Undefined where the goal's bench is not among the results; throws where the bench lacks the figure. */
export function readGoal(goal: Goal, results: readonly Result[]): Reached | undefined {
  const result = results.find(({ bench }) => bench === goal.reached.bench);
  if (result === undefined) return undefined;
  const { value, range } = read(goal, goal.reached, result);
  const met = 'atLeast' in goal.asked ? value >= goal.asked.atLeast : value <= goal.asked.atMost;
  return { value, range, met };
}

/** One line a goal whose benches have run. */
export function goalTable(results: readonly Result[]): Table {
  const rows = goals.flatMap((goal) => {
    const reached = readGoal(goal, results);
    if (reached === undefined) return [];
    const tell = (value: number): string => format(value, goal.unit);
    const range = reached.range?.map(tell).join(' to ') ?? '';
    const { asked, name, beside } = goal;
    const wanted = 'atLeast' in asked ? `>= ${tell(asked.atLeast)}` : `<= ${tell(asked.atMost)}`;
    return [[name, beside, wanted, tell(reached.value), range, reached.met ? 'yes' : 'no']];
  });
  return { title: 'Goals', columns: ['goal', 'beside', 'asked', 'reached', 'range', 'met'], rows };
}

function format(value: number, unit: Goal['unit']): string {
  return unit === undefined
    ? value.toFixed(2)
    : `${Math.round(value).toLocaleString('en-US')} ${unit}`;
}

function read(goal: Goal, { column, where = {} }: Cell, result: Result): Omit<Reached, 'met'> {
  const names = [column, ...Object.keys(where)];
  const table = result.tables.find(({ columns }) => names.every((name) => columns.includes(name)));
  const rows = table?.rows.filter((row) =>
    Object.entries(where).every(([name, value]) => row[table.columns.indexOf(name)] === value),
  );
  if (table === undefined || rows === undefined || rows.length === 0) {
    throw new Error(`${goal.name}: the bench ${result.bench} has no such figure`);
  }
  const figure = (row: readonly string[], name: string): number | undefined => {
    const text = row[table.columns.indexOf(name)]?.replaceAll(',', '');
    return text === undefined || text === '' ? undefined : Number(text);
  };
  const candidates = rows.map((row) => {
    const [min, max] = [figure(row, 'min'), figure(row, 'max')];
    const range = min === undefined || max === undefined ? undefined : ([min, max] as const);
    return { value: figure(row, column) ?? Number.NaN, range };
  });
  const sign = 'atLeast' in goal.asked ? 1 : -1;
  const [worst] = candidates.sort((a, b) => sign * (a.value - b.value));
  if (worst === undefined || Number.isNaN(worst.value)) {
    throw new Error(`${goal.name}: the bench ${result.bench} has no number in ${column}`);
  }
  return worst;
}
