// The rows of statements that answer groups: (part, place, values, cells, folded). The groups of each part are as
// rankedGroupsSql answers them; one part more has what the answer leaves out.

import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import { LeftOut_Reason } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { EventCondition } from '../read/event-condition.ts';
import type { Question } from '../read/question.ts';
import { numberOf } from '../read/rows.ts';
import { cellValue } from '../sql/aggregation.ts';
import { isExactText, readExactText } from '../sql/nearest-double.ts';
import { groupText } from '../sql/property-text.ts';
import type { Measure } from '../sql/ranked-groups.ts';
import { leftOutOf, leftOutSql, maxReasons } from './left-out.ts';
import type { Answer, LeftOutCount, Plan } from './plan.ts';

/** The part of a statement that answers one list of groups. */
export const onlyPart = 0;
/** The most points of an answer, of all its series and groups. */
const maxPoints = 100_000;
/** No part of groups has this number. */
const leftOutPart = -2;

/** `rows` are SELECTs of the parts' rows, `leftOut` is leftOutSql's. */
export function groupedRowsSql(rows: readonly string[], leftOut: readonly string[]): string {
  const counts = leftOut.map(
    (
      sql,
    ) => `SELECT toInt32(${leftOutPart}) AS part, toUInt64(reason) AS place, emptyArrayString() AS values,
      [] AS cells, toUInt64(left_out) AS folded FROM (${sql})`,
  );
  return [...rows, ...counts].join(' UNION ALL ');
}

/** `sql` is a SELECT as rankedGroupsSql answers it. */
export function groupsRowsSql(part: number, sql: string): string {
  return `SELECT toInt32(${part}) AS part, place, values, cells, folded FROM (${sql})`;
}

export interface Group {
  /** From 1; one more than the limit of groups for all others. */
  place: number;
  breakdown: Record<string, string>;
  isOthers: boolean;
  /** Groups that the row stands for. */
  folded: number;
  /** The numbers of each cell, by the start of its bucket or the number that the statement gives it. */
  cells: ReadonlyMap<number, readonly number[]>;
}

/** The groups of a part, in the order of their places. Without breakdowns there is one group, of one row or of none. */
export function readGroups(
  { breakdownKeys, groupLimit }: Pick<Question, 'breakdownKeys' | 'groupLimit'>,
  rows: readonly unknown[][],
  part = onlyPart,
): Group[] {
  const own = rows.filter((row) => Number(row[0]) === part);
  if (breakdownKeys.length === 0) {
    const [, , , cells] = own[0] ?? [];
    return [
      { place: 1, isOthers: false, breakdown: {}, folded: 1, cells: new Map(readCells(cells)) },
    ];
  }
  return own
    .toSorted(([, one], [, other]) => Number(one) - Number(other))
    .map(([, place, values, cells, folded]) => {
      const isOthers = Number(place) > groupLimit;
      return {
        place: Number(place),
        isOthers,
        breakdown: isOthers ? {} : breakdownOf(breakdownKeys, values),
        folded: Number(folded),
        cells: new Map(readCells(cells)),
      };
    });
}

function readCells(cells: unknown): [number, number[]][] {
  if (!Array.isArray(cells)) return [];
  return cells.map(([bucket, ...numbers]) => [Number(bucket), numbers.map(partOf)]);
}

function partOf(value: unknown): number {
  return isExactText(value) ? readExactText(value) : numberOf(value);
}

/** The values of a group by their properties' keys; a lacking value has no entry. */
function breakdownOf(keys: readonly string[], values: unknown): Record<string, string> {
  const entries = (Array.isArray(values) ? values : []).flatMap((value, index) => {
    const text = groupText(value);
    return text === undefined ? [] : [[keys[index] ?? '', text]];
  });
  return Object.fromEntries(entries);
}

/** A group of a series. */
export interface ValueGroup extends Pick<Group, 'place' | 'breakdown' | 'isOthers'> {
  /** From the start of a bucket to its number, undefined where it has none; buckets without events are missing. */
  values: ReadonlyMap<number, number | undefined>;
}

export interface AnsweredSeries {
  kind: string;
  /** In the question's events. */
  eventIndex: number;
  /** Of a formula, in the question's formulas. */
  formulaIndex?: number;
  groups: ValueGroup[];
}

export interface Values {
  /** In the order of the question, formulas last. */
  series: readonly AnsweredSeries[];
  /** Of the first series over the whole range, without its breakdowns. */
  total: number;
  leftOut: LeftOutCount[];
}

/** What answers numbers of groups in buckets, whatever is counted. */
export interface ValuesPlan extends Omit<Plan, 'read'> {
  /** When all is known of a bucket that ends at `endMs`: at that moment, unless given. */
  overMs?: (endMs: number) => number;
  read(rows: readonly unknown[][]): Values;
}

/** `partsOf` gives the two parts of a number from those of its cell. */
export function valuesOf(
  { cells, ...group }: Group,
  measure: Measure,
  partsOf: (numbers: readonly number[]) => readonly number[] = (numbers) => numbers,
): ValueGroup {
  const values = [...cells].map(([bucket, numbers]): [number, number] => {
    const [a = 0, b = 0] = partsOf(numbers);
    return [bucket, cellValue(measure, a, b)];
  });
  return { ...group, values: new Map(values) };
}

/** What the answer leaves out, the groups that became others included. */
export function readLeftOut(rows: readonly unknown[][], groups: readonly Group[]): LeftOutCount[] {
  const others = groups.filter(({ isOthers }) => isOthers);
  const count = others.reduce((sum, { folded }) => sum + folded, 0);
  return [...leftOutOf(rows, leftOutPart), { reason: LeftOut_Reason.GROUPS_IN_OTHERS, count }];
}

/** What a form makes of users that one list of groups has. */
export interface OfUsers {
  /** SQL, as rankedGroupsSql answers it. */
  ranked: string;
  /** The events that it asks for. */
  conditions: readonly EventCondition[];
  resultOf(groups: readonly Group[], untilMs: number): Answer['result'];
}

/** The plan of such a form. */
export function planUsers(question: Question, { ranked, conditions, resultOf }: OfUsers): Plan {
  const counted = conditions.map((condition) => ({ condition, countsUsers: true }));
  return {
    sql: groupedRowsSql([groupsRowsSql(onlyPart, ranked)], leftOutSql(question, counted)),
    maxRows: question.groupLimit + 1 + maxReasons,
    read: (rows, untilMs) => {
      const groups = readGroups(question, rows);
      return { result: resultOf(groups, untilMs), leftOut: readLeftOut(rows, groups) };
    },
  };
}

const maxSeries = 10;

/**
 * Throws invalid_argument for no or too many series, and for an answer with too many points; `groups` is how many each
 * series has besides those of its breakdowns.
 */
export function checkSeries(question: Question, groups = 1): void {
  const { events, formulas } = question.spec;
  if (events.length === 0) throw invalidArgument('spec.events', 'must not be empty');
  if (events.length > maxSeries) throw invalidArgument('spec.events', `takes at most ${maxSeries}`);
  checkPoints(question, (events.length + formulas.length) * groups * question.buckets.length);
}

/** `points` are those of one group of each series. */
export function checkPoints({ breakdowns, groupLimit, behind }: Question, points: number): void {
  if (behind !== undefined) return;
  if (points * (breakdowns.length === 0 ? 1 : groupLimit + 1) > maxPoints) {
    const rule = `would have more than ${maxPoints} points: ask for fewer buckets, events or groups`;
    throw invalidArgument('timeRange', rule);
  }
}
