// The series of TRENDS and SEGMENTATION: one statement whose rows are the groups of each series, and the parts of their
// values bucket by bucket. trends.ts and segmentation.ts make messages of them.

import { invalidArgument } from '../../../../platform/http/answers/invalid-argument.ts';
import type { EventQuery } from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { type EventCondition, eventCondition } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { numberOf } from '../../read/rows.ts';
import { areAllCounted, type CountedEvents, countedEvents } from '../../sources/counted-kinds.ts';
import { eventCellsSql } from '../../sources/event-cells.ts';
import { needOf, sourceOf } from '../../sources/ladder.ts';
import { type Aggregation, cellValue, readAggregation } from '../../sql/aggregation.ts';
import { groupText } from '../../sql/property-text.ts';
import { finishedSql, rankedGroupsSql } from '../../sql/ranked-groups.ts';
import { bucketSql, eventOrderSql, groupColumn, readEventsSql } from '../../sql/read-events.ts';
import { cellRowsSql, countRowsSql, groupsRowsSql } from '../grouped-rows.ts';
import { activeUserCellsSql } from './active-users.ts';

const maxSeries = 10;
/** The most points of an answer, of all its series and groups. */
const maxPoints = 100_000;

export interface Series {
  /** As in the question; empty for every kind. */
  kind: string;
  condition: EventCondition;
  aggregation: Aggregation;
}

/** What reading the answer of a series asks of it. */
export interface Measured {
  aggregation: Pick<Aggregation, 'measure'>;
}

/** Throws invalid_argument for no or too many series, and for an answer with too many points. */
export function readSeries(question: Question): Series[] {
  const { events } = question.spec;
  if (events.length === 0) throw invalidArgument('spec.events', 'must not be empty');
  if (events.length > maxSeries) throw invalidArgument('spec.events', `takes at most ${maxSeries}`);
  checkPoints(question, events.length * question.buckets.length);
  return events.map((event, index) => readOne(question, event, `spec.events[${index}]`));
}

/** `points` are those of one group of each series. */
export function checkPoints({ breakdowns, groupLimit }: Question, points: number): void {
  if (points * (breakdowns.length === 0 ? 1 : groupLimit + 1) > maxPoints) {
    const rule = `would have more than ${maxPoints} points: ask for fewer buckets, events or groups`;
    throw invalidArgument('timeRange', rule);
  }
}

function readOne(question: Question, series: EventQuery, path: string): Series {
  const { event, aggregation, aggregationProperty } = series;
  const paths = { type: `${path}.aggregation`, property: `${path}.aggregationProperty` };
  return {
    kind: event?.kind ?? '',
    condition: eventCondition(event, `${path}.event`, question),
    aggregation: readAggregation(aggregation, aggregationProperty, paths, question.bindings),
  };
}

/** SELECT of the rows of a series' groups, as grouped-rows.ts has them. */
export function seriesSql(
  question: Question,
  { condition, aggregation }: Series,
  groups: readonly string[],
  part: number,
): string {
  const { buckets, groupLimit } = question;
  const hasGroups = groups.length > 0;
  const counted = hasGroups ? undefined : countedSeries(question, condition, aggregation);
  if (counted !== undefined) return countRowsSql(part, counted);
  const known = hasGroups ? undefined : activeUsersSql(question, condition, aggregation);
  const sql =
    known ??
    (aggregation.counts === 'events'
      ? eventCellsSql(question, { condition, aggregation, groups, buckets })
      : userCellsSql(question, condition, aggregation, groups));
  const { measure } = aggregation;
  if (!hasGroups) {
    const cells = { from: `(${sql})`, bucket: 'bucket', a: finishedSql(measure), b: 'b' };
    return cellRowsSql(part, cells);
  }
  const ranked = rankedGroupsSql({ sql, groups: groups.length, limit: groupLimit, measure });
  return groupsRowsSql({ part, sql: ranked });
}

/** Whether the statement of a question's only series reads nothing but counts of events. */
export function isOfCounts(question: Question, { condition, aggregation }: Series): boolean {
  const { breakdowns, buckets } = question;
  const countsEvents = aggregation.counts === 'events' && aggregation.number === undefined;
  return countsEvents && breakdowns.length === 0 && areAllCounted(question, condition, buckets);
}

/**
 * SELECT of (group_0, …, bucket, a, b), and of weight where there are groups. A user belongs to the groups of their
 * first event.
 */
function userCellsSql(
  question: Question,
  condition: EventCondition,
  { cells, ofUsers, measure }: Extract<Aggregation, { counts: 'users' }>,
  groups: readonly string[],
): string {
  const names = groups.map((_, index) => groupColumn(index));
  const by = [...names, 'bucket'].join(', ');
  const columns = { bucket: bucketSql(question, question.buckets) };
  const hasNumbers = measure.isRatio;
  sourceOf(question, needOf(question, condition, { count: 'users', groups, hasNumbers }));
  const events = `SELECT * FROM (${readEventsSql(question, { condition, groups, columns, withUser: true })})
    WHERE user_key != 0`;
  if (names.length === 0) return cells(by, events);
  return `SELECT ${by}, ${ofUsers.a} AS a, ${ofUsers.b} AS b, countIf(is_first) AS weight
    FROM (${firstTouchSql(events, names)}) GROUP BY ${by}`;
}

/** Undefined where the table of sums cannot tell. */
function countedSeries(
  question: Question,
  condition: EventCondition,
  aggregation: Aggregation,
): CountedEvents | undefined {
  return aggregation.counts === 'events' && aggregation.number === undefined
    ? countedEvents(question, condition, question.buckets, 'events')
    : undefined;
}

/** Cells of users, by the days on which they were active; undefined where these cannot tell. */
function activeUsersSql(
  question: Question,
  condition: EventCondition,
  { counts, measure }: Aggregation,
): string | undefined {
  return counts === 'users' && !measure.isRatio
    ? activeUserCellsSql(question, condition, question.buckets)
    : undefined;
}

/** One row for each user and bucket: the groups of the user's first event, and whether it lies in this bucket. */
function firstTouchSql(events: string, names: readonly string[]): string {
  // A single group is no tuple: aggregates compare and keep tuples slowly.
  const [single = ''] = names;
  const values = names.length === 1 ? single : `tuple(${names.join(', ')})`;
  const groups = names.map((name, index) =>
    names.length === 1 ? `touched AS ${name}` : `touched.${index + 1} AS ${name}`,
  );
  return `SELECT ${groups.join(', ')}, cell.1 AS bucket, cell.2 AS events, bucket = first_bucket AS is_first FROM (
    SELECT groupArray((bucket, events)) AS cells, argMin(bucket, first) AS first_bucket, argMin(groups, first) AS touched FROM (
      SELECT user_key, bucket, count() AS events, min(${eventOrderSql}) AS first, argMin(${values}, ${eventOrderSql}) AS groups
      FROM (${events}) GROUP BY user_key, bucket
    ) GROUP BY user_key
  ) ARRAY JOIN cells AS cell`;
}

/** A group of a series, as it was answered. */
export interface SeriesGroup {
  breakdown: Record<string, string>;
  isOthers: boolean;
  /** From the start of a bucket to its number; buckets without events are missing. */
  values: ReadonlyMap<number, number>;
  /** Groups that the row stands for. */
  folded: number;
}

/**
 * Reads rows of (place, values, cells, folded) of one series, in the order of their places. Without breakdowns there is
 * one group, of any number of rows.
 */
export function readGroups(
  { breakdownKeys, groupLimit }: Question,
  { aggregation }: Measured,
  rows: readonly unknown[][],
): SeriesGroup[] {
  if (breakdownKeys.length === 0) {
    const cells = rows.flatMap(([, , cells]) => (Array.isArray(cells) ? cells : []));
    return [{ isOthers: false, breakdown: {}, values: readCells(aggregation, cells), folded: 1 }];
  }
  return rows
    .toSorted(([one], [other]) => Number(one) - Number(other))
    .map(([place, values, cells, folded]) => {
      const isOthers = Number(place) > groupLimit;
      return {
        isOthers,
        breakdown: isOthers ? {} : breakdownOf(breakdownKeys, values),
        values: readCells(aggregation, cells),
        folded: Number(folded),
      };
    });
}

function readCells({ measure }: Measured['aggregation'], cells: unknown): Map<number, number> {
  const values = new Map<number, number>();
  if (!Array.isArray(cells)) return values;
  for (const [bucket, a, b] of cells) {
    values.set(Number(bucket), cellValue(measure, numberOf(a), numberOf(b)));
  }
  return values;
}

/** The values of a group by their properties' keys; a lacking value has no entry. */
export function breakdownOf(keys: readonly string[], values: unknown): Record<string, string> {
  const entries = (Array.isArray(values) ? values : []).flatMap((value, index) => {
    const text = groupText(value);
    return text === undefined ? [] : [[keys[index] ?? '', text]];
  });
  return Object.fromEntries(entries);
}
