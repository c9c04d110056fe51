// STICKINESS: users by the number of buckets in which they were active.

import { create } from '@bufbuild/protobuf';
import { StickinessResultSchema } from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { type EventCondition, onlyEvent } from '../../read/event-condition.ts';
import { incompleteFrom } from '../../read/incomplete.ts';
import type { Question } from '../../read/question.ts';
import { userBitsSql } from '../../sources/activity.ts';
import { bitColumns } from '../../sql/bucket-bits.ts';
import { added, rankedGroupsSql } from '../../sql/ranked-groups.ts';
import { groupColumn } from '../../sql/read-events.ts';
import {
  checkPoints,
  type Group,
  groupedRowsSql,
  groupsRowsSql,
  numberRowsSql,
  onlyPart,
  readGroups,
  readLeftOut,
} from '../grouped-rows.ts';
import { leftOutSql, maxReasons } from '../left-out.ts';
import type { Plan } from '../plan.ts';
import { groupedUsersSql } from './grouped-users.ts';

/** Throws invalid_argument. */
export function planStickiness(question: Question): Plan {
  const { buckets, breakdowns, spec } = question;
  checkPoints(question, buckets.length);
  const condition = onlyEvent(spec.events, question);
  const leftOut = leftOutSql(question, [{ condition, countsUsers: true }]);
  const pointsOf = (groups: readonly Group[]) => {
    const usersAt = (place: number): number =>
      groups.reduce((sum, { cells }) => sum + (cells.get(place)?.[0] ?? 0), 0);
    const numbers = buckets.map((_, index) => usersAt(index + 1));
    return numbers.map((users, index) => ({
      buckets: index + 1,
      value: spec.cumulative ? numbers.slice(index).reduce((sum, one) => sum + one, 0) : users,
    }));
  };
  return {
    sql: groupedRowsSql([rowsSql(question, condition)], leftOut),
    maxRows: Math.max(buckets.length, question.groupLimit + 1) + maxReasons,
    read: (rows, untilMs) => {
      const groups = readGroups(question, rows);
      const incomplete = incompleteFrom(question, untilMs);
      const series = groups.map(({ breakdown, isOthers, ...group }) => ({
        ...{ breakdown, isOthers, points: pointsOf([{ breakdown, isOthers, ...group }]) },
        ...incomplete,
      }));
      const value = create(StickinessResultSchema, {
        ...{ points: pointsOf(groups), ...incomplete },
        series: breakdowns.length === 0 ? [] : series,
      });
      return { result: { case: 'stickiness', value }, leftOut: readLeftOut(rows, groups) };
    },
  };
}

function rowsSql(question: Question, condition: EventCondition): string {
  const { buckets, breakdowns, groupLimit, fromMs, toMs, behind } = question;
  const activity = { condition, buckets, ranges: [{ fromMs, toMs }] };
  const count = bitColumns(buckets.length)
    .map((column) => `bitCount(${column})`)
    .join(' + ');
  if (breakdowns.length === 0) {
    const users = userBitsSql(question, activity);
    return numberRowsSql(
      `SELECT ${onlyPart} AS part, ${count} AS place, count() AS number FROM (${users}) GROUP BY place`,
    );
  }
  const by = [...breakdowns.map((_, index) => groupColumn(index)), 'bucket'].join(', ');
  const users = `SELECT *, toInt64(${count}) AS bucket FROM (${groupedUsersSql(question, activity)})`;
  const cells = {
    sql: `SELECT ${by}, toFloat64(count()) AS a, toFloat64(0) AS b, count() AS weight FROM (${users}) GROUP BY ${by}`,
    groups: breakdowns.length,
    limit: groupLimit,
    ...{ measure: added, behind },
  };
  return groupsRowsSql(onlyPart, rankedGroupsSql(cells));
}
