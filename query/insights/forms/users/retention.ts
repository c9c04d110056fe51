// RETENTION: users by the bucket of their first starting event, and the buckets in which they returned.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { invalidArgument } from '../../../../platform/http/answers/invalid-argument.ts';
import { RetentionResultSchema } from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { type EventCondition, eventCondition } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { bitColumns, placesSql } from '../../sql/bucket-bits.ts';
import { added, rankedGroupsSql } from '../../sql/ranked-groups.ts';
import { groupColumn } from '../../sql/read-events.ts';
import {
  checkPoints,
  type Group,
  groupedRowsSql,
  groupsRowsSql,
  maxGroupedRows,
  onlyPart,
  readGroups,
  readLeftOut,
} from '../grouped-rows.ts';
import { leftOutSql } from '../left-out.ts';
import type { Plan } from '../plan.ts';
import { returningUsersSql, sameEventUsersSql } from './returning-users.ts';

/** Throws invalid_argument. */
export function planRetention(question: Question): Plan {
  const count = question.buckets.length;
  checkPoints(question, (count * (count + 1)) / 2);
  const [start, back] = readEvents(question);
  const users =
    back === undefined
      ? sameEventUsersSql(question, start)
      : returningUsersSql(question, start, back);
  const counted = (back === undefined ? [start] : [start, back]).map((condition) => ({
    ...{ condition, countsUsers: true },
  }));
  return {
    sql: groupedRowsSql(
      [groupsRowsSql(onlyPart, cohortsSql(question, users))],
      leftOutSql(question, counted),
    ),
    maxRows: maxGroupedRows(question),
    read: (rows) => {
      const groups = readGroups(question, rows);
      const value = create(RetentionResultSchema, {
        series: groups.map((group) => ({
          breakdown: group.breakdown,
          isOthers: group.isOthers,
          cohorts: cohortsOf(question.buckets, group),
        })),
      });
      return { result: { case: 'retention', value }, leftOut: readLeftOut(rows, groups) };
    },
  };
}

/** One event is both: then there is no second. */
function readEvents(question: Question): [EventCondition, EventCondition | undefined] {
  const { events } = question.spec;
  const [first, second] = events;
  if (first === undefined || events.length > 2) {
    throw invalidArgument('spec.events', 'must have one or two entries');
  }
  return [
    eventCondition(first.event, 'spec.events[0].event', question),
    second && eventCondition(second.event, 'spec.events[1].event', question),
  ];
}

/** `users` is a SELECT of cohort, the place of a bucket, bitColumns and the columns of the groups. */
function cohortsSql(question: Question, users: string): string {
  const count = question.buckets.length;
  const names = question.breakdowns.map((_, index) => groupColumn(index));
  const columns = bitColumns(count);
  const alike = [...names, 'cohort', ...columns].join(', ');
  const cells = `arrayConcat([${sizeCell('cohort')}], arrayMap(place -> ${pointCell('cohort', 'place', count)}, ${placesSql(columns)}))`;
  return rankedGroupsSql({
    sql: `SELECT ${[...names, 'bucket'].join(', ')}, toFloat64(sum(users)) AS a, toFloat64(0) AS b, sumIf(users, bucket < 0) AS weight
      FROM (SELECT ${alike}, count() AS users FROM (${users}) GROUP BY ${alike})
      ARRAY JOIN ${cells} AS bucket GROUP BY ${[...names, 'bucket'].join(', ')}`,
    groups: names.length,
    limit: question.groupLimit,
    measure: added,
    behind: question.behind,
  });
}

/** The cell of a cohort's users, or of those of them who returned in a bucket. Places of buckets. */
export function cellOfCohort(cohort: number, returned: number | undefined, count: number): number {
  return returned === undefined ? -1 - cohort : cohort * count + returned;
}

/** The number of the cell that has a cohort's size: below 0, where that of a point is not. */
function sizeCell(cohort: string): string {
  return `-1 - toInt64(${cohort})`;
}

function pointCell(cohort: string, place: string, count: number): string {
  return `toInt64(${cohort}) * ${count} + toInt64(${place})`;
}

function cohortsOf(buckets: readonly number[], { cells }: Group) {
  return buckets.map((cohortMs, cohort) => ({
    cohort: new Date(cohortMs).toISOString(),
    cohortSize: cells.get(-1 - cohort)?.[0] ?? 0,
    points: buckets.slice(cohort).map((startMs, later) => ({
      time: timestampFromMs(startMs),
      value: cells.get(cohort * buckets.length + cohort + later)?.[0] ?? 0,
    })),
  }));
}
