// The series of formulas: of each bucket and group, what a formula makes of the values of all series.

import type { Formula } from '../../read/formula.ts';
import type { Question } from '../../read/question.ts';
import type { AnsweredSeries, ValueGroup } from '../grouped-rows.ts';

/** `series` have the same groups, as far as they have events of them: one that lacks a group has nothing there. */
export function formulaSeries(
  { buckets }: Question,
  formulas: readonly Formula[],
  series: readonly AnsweredSeries[],
): AnsweredSeries[] {
  if (formulas.length === 0) return [];
  const byPlace = series.map(({ groups }) => new Map(groups.map((group) => [group.place, group])));
  const all = new Map(series.flatMap(({ groups }) => groups).map((group) => [group.place, group]));
  const ordered = [...all.values()].toSorted((one, other) => one.place - other.place);
  const cells = buckets.length === 1 ? [0] : buckets;
  const groupOf = (formula: Formula, { place, breakdown, isOthers }: ValueGroup): ValueGroup => {
    const parts = byPlace.map((groups) => groups.get(place)?.values);
    const values = cells.map((cell): [number, number | undefined] => [
      cell,
      formula(parts.map((one) => one?.get(cell) ?? 0)),
    ]);
    return { place, breakdown, isOthers, values: new Map(values) };
  };
  return formulas.map((formula, formulaIndex) => ({
    ...{ kind: '', eventIndex: 0, formulaIndex },
    groups: ordered.map((group) => groupOf(formula, group)),
  }));
}
