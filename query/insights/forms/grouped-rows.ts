// The rows of statements that answer groups: (part, place, values, cells, folded). The groups of each part are as
// rankedGroupsSql answers them; one part more has what the answer leaves out.

import { LeftOut_Reason } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { CountedEvents } from '../sources/counted-kinds.ts';
import { readReason } from './left-out.ts';
import type { LeftOutCount } from './plan.ts';

/** SQL. */
const noCells = `CAST([], 'Array(Tuple(Int64, Float64, Float64))')`;

/** No part of groups has this number. */
export const leftOutPart = -2;

interface GroupsPart {
  part: number;
  /** SELECT as rankedGroupsSql answers it. */
  sql: string;
}

/** `rows` are SELECTs of the parts' rows, `leftOut` is leftOutSql's. */
export function groupedRowsSql(rows: readonly string[], leftOut: readonly string[]): string {
  return [...rows, ...leftOut.map((sql) => leftOutRowsSql(sql, leftOutPart))].join(' UNION ALL ');
}

export function groupsRowsSql({ part, sql }: GroupsPart): string {
  return `SELECT toInt32(${part}) AS part, place, values, cells, folded FROM (${sql})`;
}

/** Cells that have no groups. SQL. */
interface UngroupedCells {
  /** The rest of a SELECT from FROM on, GROUP BY included. */
  from: string;
  /** Over its rows: the parts of a cell. */
  bucket: string;
  a: string;
  b: string;
}

/** Rows of one group, each with one cell: one SELECT is planned sooner than one within another. */
export function cellRowsSql(part: number, { from, bucket, a, b }: UngroupedCells): string {
  return `SELECT toInt32(${part}) AS part, toUInt64(1) AS place, emptyArrayString() AS values,
    [(${bucket}, ${a}, ${b})] AS cells, toUInt64(1) AS folded FROM ${from}`;
}

/** The same, of counts of events. */
export function countRowsSql(part: number, { from, bucket, events }: CountedEvents): string {
  return cellRowsSql(part, {
    from: `${from} GROUP BY ${bucket}`,
    ...{ bucket, a: `toFloat64(sum(${events}))`, b: 'toFloat64(0)' },
  });
}

/** `sql` is one of leftOutSql. */
export function leftOutRowsSql(sql: string, part: number): string {
  return `SELECT toInt32(${part}) AS part, toUInt64(reason) AS place, emptyArrayString() AS values,
    ${noCells} AS cells, toUInt64(left_out) AS folded FROM (${sql})`;
}

/** The rows of one part, as (place, values, cells, folded). */
export function rowsOfPart(rows: readonly unknown[][], part: number): unknown[][] {
  return rows.filter((row) => Number(row[0]) === part).map((row) => row.slice(1));
}

/** What the answer leaves out, the groups that became others included. */
export function readLeftOut(
  rows: readonly unknown[][],
  groups: readonly { isOthers: boolean; folded: number }[],
  part = leftOutPart,
): LeftOutCount[] {
  const counts = rowsOfPart(rows, part).map(([reason, , , count]) => ({
    reason: readReason(reason),
    count: Number(count),
  }));
  const others = groups.filter(({ isOthers }) => isOthers);
  const folded = others.reduce((sum, group) => sum + group.folded, 0);
  return [...counts, { reason: LeftOut_Reason.GROUPS_IN_OTHERS, count: folded }];
}
