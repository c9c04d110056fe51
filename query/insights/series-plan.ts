// The statement of a question for series: the groups of each one, a total where it is asked for, and what is left out.

import { LeftOut_Reason } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { leftOutSql, readReason } from './left-out.ts';
import type { LeftOutCount } from './plan.ts';
import type { Question } from './question/question.ts';
import { readGroups, type Series, type SeriesGroup, seriesSql } from './series.ts';

/** The parts of the statement beside the series, whose part is their place. */
const totalPart = -1;
const leftOutPart = -2;

export function seriesPlanSql(
  question: Question,
  series: readonly Series[],
  { withTotal }: { withTotal: boolean },
): string {
  const { buckets, breakdowns } = question;
  const part = (place: number, sql: string): string =>
    `SELECT toInt32(${place}) AS part, place, values, cells, folded FROM (${sql})`;
  const parts = series.map((one, place) =>
    part(place, seriesSql(question, one, buckets, breakdowns)),
  );
  const [first] = series;
  if (withTotal && first !== undefined && breakdowns.length > 0) {
    parts.push(part(totalPart, seriesSql(question, first, buckets, [])));
  }
  const counted = series.map(({ condition, aggregation }) => ({
    condition,
    countsUsers: aggregation.counts === 'users',
  }));
  for (const sql of leftOutSql(question, counted)) {
    parts.push(
      `SELECT toInt32(${leftOutPart}) AS part, toUInt64(reason) AS place, emptyArrayString() AS values,
        CAST([], 'Array(Tuple(Int64, Float64, Float64))') AS cells, left_out AS folded FROM (${sql})`,
    );
  }
  return parts.join(' UNION ALL ');
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
  const of = (part: number): unknown[][] =>
    rows.filter((row) => Number(row[0]) === part).map((row) => row.slice(1));
  const groups = series.map((one, place) => readGroups(question, one, of(place)));
  const [first] = series;
  const leftOut = of(leftOutPart).map(([reason, , , count]) => ({
    reason: readReason(reason),
    count: Number(count),
  }));
  const folded = groups.flat().filter(({ isOthers }) => isOthers);
  leftOut.push({
    reason: LeftOut_Reason.GROUPS_IN_OTHERS,
    count: folded.reduce((sum, group) => sum + group.folded, 0),
  });
  const total = first && readGroups({ ...question, breakdownKeys: [] }, first, of(totalPart))[0];
  return { series: groups, total: total ?? groups[0]?.[0], leftOut };
}
