// The statement of a question for series: the groups of each one, a total where it is asked for, and what is left out.

import type { Question } from '../../read/question.ts';
import {
  groupedRowsSql,
  readGroups,
  readLeftOut,
  type ValuesPlan,
  valuesOf,
} from '../grouped-rows.ts';
import { leftOutSql, maxReasons } from '../left-out.ts';
import { readSeries, type Series, seriesSql } from './series.ts';

/** The part of the statement beside the series, whose part is their place. */
const totalPart = -1;

/** Throws invalid_argument. */
export function planSeries(question: Question, withTotal: boolean): ValuesPlan {
  const series = readSeries(question);
  const { breakdowns, groupLimit, buckets } = question;
  const hasGroups = breakdowns.length > 0;
  const rowsOfSeries = hasGroups ? groupLimit + 1 : buckets.length;
  return {
    sql: seriesSqlOf(question, series, withTotal && hasGroups),
    maxRows: series.length * rowsOfSeries + maxReasons + buckets.length,
    read: (rows) => {
      const groups = series.map((_, place) => readGroups(question, rows, place));
      const [first] = series;
      const ungrouped = { ...question, breakdownKeys: [] };
      const [total] = hasGroups ? readGroups(ungrouped, rows, totalPart) : (groups[0] ?? []);
      return {
        series: series.map(({ kind, aggregation }, place) => ({
          kind,
          groups: (groups[place] ?? []).map((group) => valuesOf(group, aggregation.measure)),
        })),
        total: (first && total && valuesOf(total, first.aggregation.measure).values.get(0)) ?? 0,
        leftOut: readLeftOut(rows, groups.flat()),
      };
    },
  };
}

function seriesSqlOf(question: Question, series: readonly Series[], withTotal: boolean): string {
  const { breakdowns } = question;
  const rows = series.map((one, part) => seriesSql(question, one, breakdowns, part));
  const [first] = series;
  if (withTotal && first !== undefined) rows.push(seriesSql(question, first, [], totalPart));
  const counted = series.map(({ condition, aggregation }) => ({
    condition,
    countsUsers: aggregation.counts === 'users',
  }));
  return groupedRowsSql(rows, leftOutSql(question, counted));
}
