// The statement of a question for series: the groups of each one, a total where it is asked for, and what is left out.

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
import { readSeries, type Series, seriesSql } from './series.ts';
import { sharedGroupsSql } from './shared-groups.ts';

/** The part of the statement beside the series, whose part is their place. */
const totalPart = -1;

/** Throws invalid_argument. */
export function planSeries(question: Question, withTotal: boolean): ValuesPlan {
  const series = readSeries(question);
  const formulas = readFormulas(question.spec);
  const { breakdowns, groupLimit, buckets } = question;
  const hasGroups = breakdowns.length > 0;
  const rowsOfSeries = hasGroups ? groupLimit + 1 : buckets.length;
  return {
    sql: seriesSqlOf(question, series, formulas, withTotal && hasGroups && !question.behind),
    maxRows: series.length * rowsOfSeries + maxReasons + buckets.length,
    read: (rows) => {
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
      return {
        series: [...answered, ...formulaSeries(question, formulas, answered)],
        total: (first && total && valuesOf(total, first.aggregation.measure).values.get(0)) ?? 0,
        leftOut: readLeftOut(rows, folded),
      };
    },
  };
}

function seriesSqlOf(
  question: Question,
  series: readonly Series[],
  formulas: readonly Formula[],
  withTotal: boolean,
): string {
  const { breakdowns } = question;
  const isShared = formulas.length > 0 && breakdowns.length > 0;
  const shared = isShared ? sharedGroupsSql(question, series) : undefined;
  const rows = series.map((one, part) => seriesSql(question, one, breakdowns, part, shared));
  const [first] = series;
  if (withTotal && first !== undefined) rows.push(seriesSql(question, first, [], totalPart));
  const counted = series.map(({ condition, aggregation }) => ({
    condition,
    countsUsers: aggregation.counts === 'users',
  }));
  return groupedRowsSql(rows, leftOutSql(question, counted));
}
