// How far the goals are reached. Values are read from the tables that the benches print, so that goals and tables
// cannot differ.

import type { Table } from './bench.ts';
import type { Cell, Goal } from './goal.ts';
import { goals } from './goals.ts';
import type { Result } from './results.ts';

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
