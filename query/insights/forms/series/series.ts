// The series of TRENDS and SEGMENTATION: one statement whose rows are the groups of each series, and the parts of their
// values bucket by bucket. series-plan.ts puts them together.

import { type EventQuery, Touch } from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { type EventCondition, eventCondition } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { eventCellsSql } from '../../sources/event-cells.ts';
import { noteEvents } from '../../sources/ladder.ts';
import { type Aggregation, readAggregation, usersCounted } from '../../sql/aggregation.ts';
import { rankedGroupsSql, sharedGroupRowsSql, shownParts } from '../../sql/ranked-groups.ts';
import {
  areOfPersons,
  bucketSql,
  eventOrderSql,
  groupColumns,
  haveKeys,
  readEventsSql,
} from '../../sql/read-events.ts';
import { checkSeries, groupsRowsSql } from '../grouped-rows.ts';
import { activeUserCellsSql, keyGroupCellsSql } from './active-users.ts';
import { addedUpSql } from './added-up.ts';
import { checkTouch, everyTouchCellsSql, everyTouchRanks } from './every-touch.ts';
import { userNumberCellsSql } from './user-numbers.ts';
import { type Window, windowUserCellsSql } from './window-users.ts';
import { checkWindows, windowOf } from './windows.ts';

export interface Series {
  /** As in the question; empty for every kind. */
  kind: string;
  condition: EventCondition;
  aggregation: Aggregation;
  /** What each bucket counts, where that is more than its own. */
  window: Window | undefined;
}

/** Throws invalid_argument for no or too many series, and for an answer with too many points. */
export function readSeries(question: Question): Series[] {
  checkSeries(question);
  checkWindows(question);
  checkTouch(question);
  return question.spec.events.map((event, index) =>
    readOne(question, event, `spec.events[${index}]`),
  );
}

function readOne(question: Question, series: EventQuery, path: string): Series {
  const { event, aggregation, aggregationProperty } = series;
  const paths = { type: `${path}.aggregation`, property: `${path}.aggregationProperty` };
  return {
    kind: event?.kind ?? '',
    condition: eventCondition(event, `${path}.event`, question),
    window: windowOf(question.spec, series),
    aggregation: readAggregation(aggregation, aggregationProperty, paths, question),
  };
}

/** SELECT of the rows of a series' groups, as grouped-rows.ts has them; `shared` as sharedGroupsSql answers them. */
export function seriesSql(
  question: Question,
  series: Series,
  groups: readonly string[],
  part: number,
  shared?: string,
): string {
  const { groupLimit, behind } = question;
  const { measure } = series.aggregation;
  const sql = cellsSql(question, series, groups);
  const isEvery = groups.length > 0 && isOfEveryTouch(question, series.aggregation);
  const ranks = isEvery
    ? everyTouchRanks(measure.isRatio)
    : { measure, shown: shownParts(measure) };
  const cells = { sql, groups: groups.length, limit: groupLimit, behind, ...ranks };
  const ranked = shared === undefined ? rankedGroupsSql(cells) : sharedGroupRowsSql(cells, shared);
  return groupsRowsSql(part, ranked);
}

/** SELECT of cells: the columns of the groups, bucket, a, b and, where there are groups, weight. */
export function cellsSql(
  question: Question,
  { condition, aggregation, window }: Series,
  groups: readonly string[],
): string {
  const { buckets } = question;
  const { measure } = aggregation;
  if (aggregation.counts === 'events') {
    const read = { condition, aggregation, groups, buckets };
    if (window !== undefined) return addedUpSql(question, eventCellsSql(question, read), measure);
    return eventCellsSql(question, read);
  }
  if (aggregation.of === 'numbers') {
    return userNumberCellsSql(question, condition, aggregation, groups);
  }
  if (groups.length === 0 && !measure.isRatio) {
    return window === undefined
      ? activeUserCellsSql(question, condition, buckets)
      : windowUserCellsSql(question, condition, window);
  }
  return groups.length > 0 && isOfEveryTouch(question, aggregation)
    ? everyTouchCellsSql(question, condition)
    : userCellsSql(question, condition, aggregation, groups);
}

/** SELECT of cells whose weight is the number of users of a group. */
export function userWeightsSql(question: Question, condition: EventCondition): string {
  if (isOfEveryTouch(question, usersCounted)) return everyTouchCellsSql(question, condition);
  return userCellsSql(question, condition, usersCounted, question.breakdowns);
}

/** A person has one group of a trait or a segment, so that the first is each. */
function isOfEveryTouch({ spec, breakdowns }: Question, { counts, ...more }: Aggregation): boolean {
  if (spec.touch !== Touch.EVERY || areOfPersons(breakdowns)) return false;
  return counts === 'users' && 'of' in more && more.of === 'events';
}

/**
 * SELECT of (group_0, …, bucket, a, b), and of weight where there are groups. A user belongs to the groups of their
 * first event.
 */
function userCellsSql(
  question: Question,
  condition: EventCondition,
  { cells, ofUsers, measure }: Extract<Aggregation, { of: 'events' }>,
  groups: readonly string[],
): string {
  if (!measure.isRatio && haveKeys(question, groups)) {
    return keyGroupCellsSql(question, condition, groups);
  }
  const names = groupColumns(groups.length);
  const by = [...names, 'bucket'].join(', ');
  const columns = { bucket: bucketSql(question, question.buckets) };
  noteEvents(question, { count: 'users', of: condition, groups, hasNumbers: measure.isRatio });
  const events = `SELECT * FROM (${readEventsSql(question, { condition, groups, columns, withUser: true })})
    WHERE user_key != 0`;
  if (names.length === 0) return cells(by, events);
  return `SELECT ${by}, ${ofUsers.a} AS a, ${ofUsers.b} AS b, countIf(is_first) AS weight
    FROM (${firstTouchSql(events, names)}) GROUP BY ${by}`;
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
