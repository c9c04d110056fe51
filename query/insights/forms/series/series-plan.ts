// The statement of a question for series: the groups of each one, a total where it is asked for, and what is left out.

import { Touch } from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { type Formula, readFormulas } from '../../read/formula.ts';
import type { Question } from '../../read/question.ts';
import {
  groupedRowsSql,
  readGroups,
  readLeftOut,
  type ValuesPlan,
  valuesOf,
} from '../grouped-rows.ts';
import { leftOutSql, maxReasons } from '../left-out.ts';
import { formulaSeries } from './formula-series.ts';
import { averagedSeries } from './moving-average.ts';
import { readSeries, type Series, seriesSql } from './series.ts';
import { addedSeriesSql, sharedGroupsSql } from './shared-groups.ts';

/** The part of the statement beside the series, whose part is their place. */
const totalPart = -1;
/** Added to the parts of a second statement, which answers means of any numbers where those of usual ones do not do. */
const generalParts = 1_000;

/** Throws invalid_argument. */
export function planSeries(question: Question, withTotal: boolean): ValuesPlan {
  const series = readSeries(question);
  const formulas = readFormulas(question.spec);
  const hasGroups = question.breakdowns.length > 0;
  const maxRows = series.length * (question.groupLimit + 1) + maxReasons + 1;
  const rowsOf = (of: readonly Series[], add = 0): string[] =>
    seriesRowsSql(question, of, formulas, withTotal && hasGroups && !question.behind, add);
  const counted = series.map(({ condition, aggregation }) => ({
    condition,
    countsUsers: aggregation.counts === 'users',
  }));
  return {
    sql: groupedRowsSql(rowsOf(series), leftOutSql(question, counted)),
    maxRows,
    lookUps: [
      (rows) =>
        rows.some(hasUnusual)
          ? { sql: groupedRowsSql(rowsOf(series.map(general), generalParts), []), maxRows }
          : undefined,
    ],
    read: (found) => {
      const again = found.filter(([part]) => Number(part) >= generalParts + totalPart);
      const rows = [
        ...(again.length === 0 ? found : found.filter(([part]) => Number(part) < totalPart)),
        ...again.map(([part, ...row]) => [Number(part) - generalParts, ...row]),
      ];
      const groups = series.map((_, place) => readGroups(question, rows, place));
      const [first] = series;
      const ungrouped = { ...question, breakdownKeys: [] };
      const [total] = hasGroups ? readGroups(ungrouped, rows, totalPart) : (groups[0] ?? []);
      const answered = series.map(({ kind, aggregation }, eventIndex) => ({
        ...{ kind, eventIndex },
        groups: (groups[eventIndex] ?? []).map((group) => valuesOf(group, aggregation.measure)),
      }));
      // The same groups are folded in all series that have them in common.
      const others = groups.flat().filter(({ isOthers }) => isOthers);
      const folded = formulas.length === 0 ? others : others.slice(0, 1);
      const shown = averagedSeries(question, answered);
      return {
        series: [...shown, ...formulaSeries(question, formulas, shown)],
        total: (first && total && valuesOf(total, first.aggregation.measure).values.get(0)) ?? 0,
        leftOut: readLeftOut(rows, folded),
      };
    },
  };
}

function seriesRowsSql(
  question: Question,
  series: readonly Series[],
  formulas: readonly Formula[],
  withTotal: boolean,
  add: number,
): string[] {
  const { breakdowns, spec } = question;
  const isShared = formulas.length > 0 && breakdowns.length > 0;
  const addUp = series.every(({ aggregation }) => aggregation.measure.combine === 'sum');
  const areAdded = isShared && addUp && spec.touch !== Touch.EVERY;
  const shared = isShared && !areAdded ? sharedGroupsSql(question, series) : undefined;
  const rows = areAdded
    ? [addedSeriesSql(question, series)]
    : series.map((one, part) => seriesSql(question, one, breakdowns, part + add, shared));
  const [first] = series;
  if (withTotal && first !== undefined) rows.push(seriesSql(question, first, [], totalPart + add));
  return rows;
}

/** Whether a mean of users' means was asked of numbers that are not usual (user-numbers.ts). */
function hasUnusual([, , , cells]: readonly unknown[]): boolean {
  return Array.isArray(cells) && cells.some(([, , b]) => b === 'nan');
}

function general(series: Series): Series {
  const { aggregation } = series;
  const isOfMeans = aggregation.counts === 'users' && aggregation.of === 'numbers';
  return isOfMeans ? { ...series, aggregation: { ...aggregation, isGeneral: true } } : series;
}
