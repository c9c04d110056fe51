// Rows of FUNNEL and RETENTION: the groups of the users, each with its cells, and what the answer leaves out.

import type { Question } from '../../read/question.ts';
import { numberOf } from '../../read/rows.ts';
import { groupedRowsSql, groupsRowsSql, readLeftOut, rowsOfPart } from '../grouped-rows.ts';
import { type Counted, leftOutSql, maxReasons } from '../left-out.ts';
import type { LeftOutCount } from '../plan.ts';
import { breakdownOf } from '../series/series.ts';

const groupPart = 0;

/** `groups` is a SELECT as rankedGroupsSql answers it. */
export function groupedPlanSql(
  question: Question,
  groups: string,
  counted: readonly Counted[],
): string {
  const rows = groupsRowsSql({ part: groupPart, sql: groups });
  return groupedRowsSql([rows], leftOutSql(question, counted));
}

/** The most rows of groupedPlanSql. */
export function maxGroupedRows({ groupLimit }: Question): number {
  return groupLimit + 1 + maxReasons;
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
  const found = rowsOfPart(rows, groupPart).toSorted(
    ([one], [other]) => Number(one) - Number(other),
  );
  const groups = found.map(([place, values, cells, folded]) => {
    const isOthers = Number(place) > groupLimit;
    return {
      isOthers,
      breakdown: isOthers ? {} : breakdownOf(breakdownKeys, values),
      cells: readCells(cells),
      folded: Number(folded),
    };
  });
  const leftOut = readLeftOut(rows, groups);
  if (groups.length === 0 && breakdowns.length === 0) {
    groups.push({ isOthers: false, breakdown: {}, cells: new Map(), folded: 1 });
  }
  return { groups, leftOut };
}

function readCells(cells: unknown): UserGroup['cells'] {
  const read = new Map<number, { a: number; b: number }>();
  for (const [number, a, b] of Array.isArray(cells) ? cells : []) {
    read.set(Number(number), { a: numberOf(a), b: numberOf(b) });
  }
  return read;
}
