// Rows of FUNNEL and RETENTION: the groups of the users, each with its cells, and what the answer leaves out.

import { LeftOut_Reason } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { type Counted, leftOutSql, readReason } from '../left-out.ts';
import type { LeftOutCount } from '../plan.ts';
import type { Question } from '../question/question.ts';
import { numberOf } from '../rows.ts';
import { breakdownOf } from '../series.ts';

const groupPart = 0;
const leftOutPart = -1;

/** `groups` is a SELECT as rankedGroupsSql answers it. */
export function groupedPlanSql(
  question: Question,
  groups: string,
  counted: readonly Counted[],
): string {
  const leftOut = leftOutSql(question, counted).map(
    (sql) =>
      `SELECT toInt32(${leftOutPart}) AS part, toUInt64(reason) AS place, emptyArrayString() AS values,
        CAST([], 'Array(Tuple(Int64, Float64, Float64))') AS cells, toUInt64(left_out) AS folded FROM (${sql})`,
  );
  const rows = `SELECT toInt32(${groupPart}) AS part, place, values, cells, folded FROM (${groups})`;
  return [rows, ...leftOut].join(' UNION ALL ');
}

/** The most rows of groupedPlanSql. */
export function maxGroupedRows({ groupLimit }: Question, counted: readonly Counted[]): number {
  return groupLimit + 1 + 3 * counted.length;
}

export interface UserGroup {
  breakdown: Record<string, string>;
  isOthers: boolean;
  /** By the number that the statement gives each. */
  cells: ReadonlyMap<number, { a: number; b: number }>;
}

/** The greatest group first; one without cells for a question without breakdowns that nobody answers to. */
export function readUserGroups(
  question: Question,
  rows: readonly unknown[][],
): { groups: UserGroup[]; leftOut: LeftOutCount[] } {
  const { breakdowns, breakdownKeys, groupLimit } = question;
  const of = (part: number): unknown[][] => rows.filter((row) => Number(row[0]) === part);
  const found = of(groupPart).toSorted(([, one], [, other]) => Number(one) - Number(other));
  const isOthers = (place: unknown): boolean => Number(place) > groupLimit;
  const groups = found.map(([, place, values, cells]) => ({
    isOthers: isOthers(place),
    breakdown: isOthers(place) ? {} : breakdownOf(breakdownKeys, values),
    cells: readCells(cells),
  }));
  if (groups.length === 0 && breakdowns.length === 0) {
    groups.push({ isOthers: false, breakdown: {}, cells: new Map() });
  }
  const leftOut = of(leftOutPart).map(([, reason, , , count]) => ({
    reason: readReason(reason),
    count: Number(count),
  }));
  const folded = found.filter(([, place]) => isOthers(place)).map((row) => Number(row[4]));
  leftOut.push({
    reason: LeftOut_Reason.GROUPS_IN_OTHERS,
    count: folded.reduce((sum, count) => sum + count, 0),
  });
  return { groups, leftOut };
}

function readCells(cells: unknown): UserGroup['cells'] {
  const read = new Map<number, { a: number; b: number }>();
  for (const [number, a, b] of Array.isArray(cells) ? cells : []) {
    read.set(Number(number), { a: numberOf(a), b: numberOf(b) });
  }
  return read;
}
