// The statement of a question for series: the groups of each one, a total where it is asked for, and what is left out.

import { groupedRowsSql, readLeftOut, rowsOfPart } from './grouped-rows.ts';
import { leftOutSql } from './left-out.ts';
import type { LeftOutCount } from './plan.ts';
import type { Question } from './question/question.ts';
import { readGroups, type Series, type SeriesGroup, seriesSql } from './series.ts';

/** The part of the statement beside the series, whose part is their place. */
const totalPart = -1;

export function seriesPlanSql(
  question: Question,
  series: readonly Series[],
  { withTotal }: { withTotal: boolean },
): string {
  const { buckets, breakdowns } = question;
  const parts = series.map((one, part) => ({
    part,
    sql: seriesSql(question, one, buckets, breakdowns),
  }));
  const [first] = series;
  if (withTotal && first !== undefined && breakdowns.length > 0) {
    parts.push({ part: totalPart, sql: seriesSql(question, first, buckets, []) });
  }
  const counted = series.map(({ condition, aggregation }) => ({
    condition,
    countsUsers: aggregation.counts === 'users',
  }));
  return groupedRowsSql(parts, leftOutSql(question, counted));
}

interface SeriesAnswer {
  /** In the order of the question. */
  series: SeriesGroup[][];
  /** Of the first series without its breakdowns. */
  total: SeriesGroup | undefined;
  leftOut: LeftOutCount[];
}

export function readSeriesRows(
  question: Question,
  series: readonly Series[],
  rows: readonly unknown[][],
): SeriesAnswer {
  const groups = series.map((one, part) => readGroups(question, one, rowsOfPart(rows, part)));
  const [first] = series;
  const ungrouped = { ...question, breakdownKeys: [] };
  const total = first && readGroups(ungrouped, first, rowsOfPart(rows, totalPart))[0];
  return {
    series: groups,
    total: total ?? groups[0]?.[0],
    leftOut: readLeftOut(rows, groups.flat()),
  };
}
