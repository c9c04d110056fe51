// The statement of a question for series: the groups of each one, a total where it is asked for, and what is left out.

import type { Question } from '../../read/question.ts';
import { groupedRowsSql, readLeftOut, rowsOfPart } from '../grouped-rows.ts';
import { leftOutSql, maxReasons } from '../left-out.ts';
import type { LeftOutCount, Plan } from '../plan.ts';
import { type JointSeries, jointSeries } from './joint-series.ts';
import { isOfCounts, readGroups, type Series, type SeriesGroup, seriesSql } from './series.ts';

/** The part of the statement beside the series, whose part is their place. */
const totalPart = -1;

export function planSeries(
  question: Question,
  series: readonly Series[],
  { withTotal }: { withTotal: boolean },
): SeriesPlan {
  const joint = jointSeries(question);
  if (joint !== undefined) {
    const { parts, leftOutPart, ...statement } = joint;
    const read = (rows: readonly unknown[][]) => readSeriesRows(question, series, rows, joint);
    return { ...statement, read };
  }
  return {
    sql: seriesSqlOf(question, series, withTotal),
    maxRows: maxRowsOf(question, series),
    isCheap: series.length === 1 && series.every((one) => isOfCounts(question, one)),
    read: (rows) => readSeriesRows(question, series, rows),
  };
}

/** Of the groups and that of all others, or of the buckets without groups; of the total; and of what is left out. */
function maxRowsOf(
  { breakdowns, groupLimit, buckets }: Question,
  series: readonly Series[],
): number {
  const groups = breakdowns.length === 0 ? buckets.length : groupLimit + 1;
  return series.length * groups + maxReasons + buckets.length;
}

function seriesSqlOf(question: Question, series: readonly Series[], withTotal: boolean): string {
  const { breakdowns } = question;
  const rows = series.map((one, part) => seriesSql(question, one, breakdowns, part));
  const [first] = series;
  if (withTotal && first !== undefined && breakdowns.length > 0) {
    rows.push(seriesSql(question, first, [], totalPart));
  }
  const counted = series.map(({ condition, aggregation }) => ({
    condition,
    countsUsers: aggregation.counts === 'users',
  }));
  return groupedRowsSql(rows, leftOutSql(question, counted));
}

export interface SeriesPlan extends Omit<Plan, 'read'> {
  read(rows: readonly unknown[][]): SeriesAnswer;
}

interface SeriesAnswer {
  /** In the order of the question. */
  series: SeriesGroup[][];
  /** Of the first series without its breakdowns. */
  total: SeriesGroup | undefined;
  leftOut: LeftOutCount[];
}

function readSeriesRows(
  question: Question,
  series: readonly Series[],
  rows: readonly unknown[][],
  joint?: Pick<JointSeries, 'parts' | 'leftOutPart'>,
): SeriesAnswer {
  const groups = series.map((one, place) =>
    readGroups(question, one, rowsOfPart(rows, joint?.parts[place] ?? place)),
  );
  const [first] = series;
  const ungrouped = { ...question, breakdownKeys: [] };
  const [total] =
    first && question.breakdowns.length > 0
      ? readGroups(ungrouped, first, rowsOfPart(rows, totalPart))
      : (groups[0] ?? []);
  return {
    series: groups,
    total,
    leftOut: readLeftOut(rows, groups.flat(), joint?.leftOutPart),
  };
}
