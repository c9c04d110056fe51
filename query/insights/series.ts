// The series of TRENDS and SEGMENTATION: one statement whose rows are the groups of each series, and the parts of their
// values bucket by bucket. trends.ts and segmentation.ts make messages of them.

import type { EventQuery } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { invalidArgument } from '../invalid-argument.ts';
import { type Aggregation, cellValue, readAggregation } from './events/aggregation.ts';
import { areAllCounted, countedEventsSql } from './events/counted-kinds.ts';
import { type EventCondition, eventCondition } from './events/event-condition.ts';
import { groupText } from './events/property-text.ts';
import { rankedGroupsSql } from './events/ranked-groups.ts';
import { bucketSql, eventOrderSql, groupColumn, readEventsSql } from './events/read-events.ts';
import { eventCellsSql } from './kept/event-cells.ts';
import type { Question } from './question/question.ts';
import { numberOf } from './rows.ts';
import { activeUserCellsSql } from './users/active-users.ts';

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

/** SELECT of a series' groups, as rankedGroupsSql answers them. */
export function seriesSql(
  question: Question,
  { condition, aggregation }: Series,
  buckets: readonly number[],
  groups: readonly string[],
): string {
  const names = groups.map((_, index) => groupColumn(index));
  const { measure } = aggregation;
  const summed =
    names.length === 0 ? summedCellsSql(question, condition, aggregation, buckets) : undefined;
  if (summed !== undefined) {
    return rankedGroupsSql({ sql: summed, groups: 0, limit: question.groupLimit, measure });
  }
  return rankedGroupsSql({
    sql:
      aggregation.counts === 'events'
        ? eventCellsSql(question, { condition, aggregation, groups, buckets })
        : userCellsSql(question, condition, aggregation, { buckets, groups }),
    groups: names.length,
    limit: question.groupLimit,
    measure,
  });
}

/** Whether the statement of a question's only series reads nothing but counts of events. */
export function isOfCounts(question: Question, { condition, aggregation }: Series): boolean {
  const { breakdowns, buckets } = question;
  const countsEvents = aggregation.counts === 'events' && aggregation.number === undefined;
  return countsEvents && breakdowns.length === 0 && areAllCounted(question, condition, buckets);
}

/** SELECT of (group_0, …, bucket, a, b, weight). A user belongs to the groups of their first event. */
function userCellsSql(
  question: Question,
  condition: EventCondition,
  { ofEvents, ofUsers }: Extract<Aggregation, { counts: 'users' }>,
  { buckets, groups }: { buckets: readonly number[]; groups: readonly string[] },
): string {
  const names = groups.map((_, index) => groupColumn(index));
  const by = [...names, 'bucket'].join(', ');
  const columns = { bucket: bucketSql(question, buckets) };
  const events = `SELECT * FROM (${readEventsSql(question, { condition, groups, columns, withUser: true })})
    WHERE user_key != 0`;
  const cells = (parts: { a: string; b: string }, from: string, weight: string): string =>
    `SELECT ${by}, ${parts.a} AS a, ${parts.b} AS b, ${weight} AS weight FROM (${from}) GROUP BY ${by}`;
  return names.length === 0
    ? cells(ofEvents, events, 'count()')
    : cells(ofUsers, firstTouchSql(events, names), 'countIf(is_first)');
}

/** Cells from a table of sums; undefined where none can tell. */
function summedCellsSql(
  question: Question,
  condition: EventCondition,
  aggregation: Aggregation,
  buckets: readonly number[],
): string | undefined {
  if (aggregation.counts === 'users') {
    return aggregation.measure.isRatio
      ? undefined
      : activeUserCellsSql(question, condition, buckets);
  }
  if (aggregation.number !== undefined) return undefined;
  const counted = countedEventsSql(question, condition, buckets, 'events');
  return counted === undefined
    ? undefined
    : `SELECT bucket, toFloat64(sum(events)) AS a, toFloat64(0) AS b, count() AS weight FROM (${counted}) GROUP BY bucket`;
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

/** Reads rows of (place, values, cells, folded) of one series, in the order of their places. */
export function readGroups(
  { breakdownKeys, groupLimit }: Question,
  { aggregation }: Measured,
  rows: readonly unknown[][],
): SeriesGroup[] {
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
