// Which chart an answer can have: its figures over its first time, or beside its names. Times are drawn on the clock
// that the statement has, which is UTC unless it says otherwise.

import { type Line, maxLines } from '../../charts/line.ts';
import type { Cell, RowsAnswer } from '../statement-client.ts';
import { cellText, isNumberType, isTextType, isTimeType } from './cells.ts';

export type AnswerChart =
  | { kind: 'lines'; labels: readonly string[]; lines: readonly Line[]; leftOut: number }
  | { kind: 'bars'; names: readonly string[]; figures: readonly BarFigures[]; leftOut: number }
  /** A sentence that says what a chart needs. */
  | { kind: 'none'; why: string };

export interface BarFigures {
  name: string;
  /** One for each name; NULL is 0. */
  values: readonly number[];
}

type Shown = Pick<RowsAnswer, 'columns' | 'rows'>;

const maxBars = 50;
const needsTime = 'Lines need a column that is a time: SELECT toDate(occur_time) AS day, count() …';
const needs =
  'A chart needs a column of numbers, and a time or a name beside it: SELECT toDate(occur_time) AS day, count() …';

/** `wants`: where a board says how it is drawn; else over time where there is one. */
export function chartOfAnswer({ columns, rows }: Shown, wants?: 'lines' | 'bars'): AnswerChart {
  const placesOf = (isOf: (type: string) => boolean): number[] =>
    columns.flatMap(({ type }, at) => (isOf(type) ? [at] : []));
  const [time] = placesOf(isTimeType);
  const texts = placesOf(isTextType);
  const numbers = placesOf(isNumberType);
  if (numbers.length === 0 || rows.length === 0) return { kind: 'none', why: needs };
  if (time !== undefined && wants === 'bars') {
    return besideNames({ columns, rows }, [time, ...texts], numbers);
  }
  if (time !== undefined) return overTime({ columns, rows }, time, texts, numbers);
  if (wants === 'lines') return { kind: 'none', why: needsTime };
  // Of numbers alone, the first one names the others: SELECT toHour(occur_time) AS hour, count() …
  const [first, ...others] = numbers;
  const names = texts.length > 0 ? texts : others.length > 0 && first !== undefined ? [first] : [];
  if (names.length === 0) return { kind: 'none', why: needs };
  return besideNames({ columns, rows }, names, texts.length > 0 ? numbers : others);
}

function besideNames({ columns, rows }: Shown, texts: number[], numbers: number[]): AnswerChart {
  const shown = rows.slice(0, maxBars);
  return {
    kind: 'bars',
    names: shown.map((row) => nameOf(row, texts)),
    figures: numbers.map((at) => ({
      name: columns[at]?.name ?? '',
      values: shown.map((row) => numberOf(row[at]) ?? 0),
    })),
    leftOut: rows.length - shown.length,
  };
}

function overTime(
  { columns, rows }: Shown,
  time: number,
  texts: number[],
  numbers: number[],
): AnswerChart {
  const labelled = rows.map((row) => ({ label: labelOf(row[time]), row }));
  if (labelled.some(({ label }) => label === undefined)) {
    return { kind: 'none', why: 'A chart over time needs a time in each row.' };
  }
  const labels = [...new Set(labelled.map(({ label }) => label ?? ''))].sort();
  const placeOf = new Map(labels.map((label, at) => [label, at]));
  const lines = new Map<string, (number | null)[]>();
  const isOneRowEach = labels.length === rows.length;
  for (const { label = '', row } of labelled) {
    const at = placeOf.get(label) ?? 0;
    const parts = isOneRowEach
      ? numbers.map((number): [string, number] => [columns[number]?.name ?? '', number])
      : [[nameOf(row, texts), numbers[0] ?? 0] as const];
    for (const [name, number] of parts) {
      const values = lines.get(name) ?? labels.map(() => null);
      lines.set(name, values);
      if (values[at] !== null) return { kind: 'none', why: 'Several rows have the same time.' };
      values[at] = numberOf(row[number]);
    }
  }
  const all = [...lines].map(([name, values]) => ({ name, values }));
  const greatest = isOneRowEach ? all : all.sort((one, other) => sumOf(other) - sumOf(one));
  const shown = greatest.slice(0, maxLines);
  return { kind: 'lines', labels, lines: shown, leftOut: all.length - shown.length };
}

function sumOf({ values }: Line): number {
  return values.reduce((sum: number, value) => sum + (value ?? 0), 0);
}

function nameOf(row: readonly Cell[], texts: number[]): string {
  return texts.map((at) => cellText(row[at] ?? null)).join(', ');
}

function numberOf(cell: Cell | undefined): number | null {
  if (cell === null || cell === undefined) return null;
  const value = Number(cell);
  return Number.isFinite(value) ? value : null;
}

/** As charts write buckets, with the clock's time as UTC; undefined for NULL and other forms of a time. */
function labelOf(cell: Cell | undefined): string | undefined {
  if (typeof cell !== 'string') return undefined;
  const found = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d(?:\.\d{1,3})?)\d*Z?)?$/.exec(cell);
  return found ? `${found[1]}T${found[2] ?? '00:00:00'}+00:00` : undefined;
}
