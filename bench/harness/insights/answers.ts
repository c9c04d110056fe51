// Reads the JSON of an answer into rows, and compares rows of several sides.

import { isObject, type JsonObject } from '../../../platform/json.ts';
import { check } from '../../bench.ts';
import type { AnswerRow } from './question.ts';

/** The list of objects at `path`, field by field; a missing field is an empty list. */
export function listOf(answer: JsonObject, ...path: string[]): JsonObject[] {
  let value: unknown = answer;
  for (const name of path) value = isObject(value) ? value[name] : undefined;
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A number of an answer as text; absent is 0. */
export function numberOf(value: unknown): string {
  return String(Number(value ?? 0));
}

/** A moment of an answer as seconds since the epoch. */
export function secondsOf(value: unknown): string {
  return String(Date.parse(String(value)) / 1_000);
}

/** Rows of points that are not 0. */
export function pointRows(points: readonly JsonObject[], ...before: string[]): AnswerRow[] {
  return points
    .filter(({ value }) => Number(value ?? 0) !== 0)
    .map(({ time, value }) => [...before, secondsOf(time), numberOf(value)]);
}

/** Rows of the points of all series of TRENDS without breakdowns. */
export function pointsOfSeries(answers: readonly JsonObject[]): AnswerRow[] {
  return answers.flatMap((answer) =>
    listOf(answer, 'trends', 'series').flatMap((series) => pointRows(listOf(series, 'points'))),
  );
}

/** The values of the groups of a series. */
export function groupsOf(series: JsonObject): string[] {
  return Object.values(series['breakdown'] ?? {}).map(String);
}

/** Rows of the cells of all cohorts of RETENTION. */
export function cohortRows(answers: readonly JsonObject[]): AnswerRow[] {
  return answers.flatMap((answer) =>
    listOf(answer, 'retention', 'series').flatMap((series) =>
      listOf(series, 'cohorts').flatMap((cohort) =>
        pointRows(listOf(cohort, 'points'), ...groupsOf(series), secondsOf(cohort['cohort'])),
      ),
    ),
  );
}

const tolerance = 1e-9;

/** Throws with the first row that differs; floats may differ by a billionth. */
export function checkSame(
  name: string,
  ours: readonly AnswerRow[],
  theirs: readonly AnswerRow[],
): void {
  const sorted = (rows: readonly AnswerRow[]): AnswerRow[] =>
    [...rows].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const [left, right] = [sorted(ours), sorted(theirs)];
  check(left.length === right.length, `${name}: ${left.length} and ${right.length} rows`);
  for (const [index, row] of left.entries()) {
    const other = right[index] ?? [];
    const isSame = row.length === other.length && row.every((cell, at) => same(cell, other[at]));
    check(isSame, `${name}: [${row}] and [${other}]`);
  }
}

/** Fractions are left out of the order, because their last digits may differ. */
function keyOf(row: AnswerRow): string {
  return row.map((cell) => (/^-?\d+\.\d+(e-?\d+)?$/.test(cell) ? '~' : cell)).join('\0');
}

function same(left: string, right: string | undefined): boolean {
  if (left === right) return true;
  const [a, b] = [Number(left), Number(right)];
  return Math.abs(a - b) <= tolerance * Math.max(1, Math.abs(a), Math.abs(b));
}
