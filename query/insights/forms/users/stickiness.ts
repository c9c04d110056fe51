// STICKINESS: users by the number of buckets in which they were active, or by the number of their events.

import { create } from '@bufbuild/protobuf';
import { StickinessResultSchema } from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { type EventCondition, onlyEvent } from '../../read/event-condition.ts';
import { incompleteFrom, incompleteSince } from '../../read/incomplete.ts';
import type { Question } from '../../read/question.ts';
import { bitColumns } from '../../sql/bucket-bits.ts';
import { rankedUsersSql } from '../../sql/ranked-groups.ts';
import { checkPoints, type Group, planUsers } from '../grouped-rows.ts';
import type { Plan } from '../plan.ts';
import { boundedUsersSql, readBounds, shownBounds } from './events-per-user.ts';
import { groupedUsersSql } from './grouped-users.ts';

/** Throws invalid_argument. */
export function planStickiness(question: Question): Plan {
  const { breakdowns, spec } = question;
  const counted = countedOf(question);
  const { numbers } = counted;
  checkPoints(question, numbers.length);
  const condition = onlyEvent(spec.events, question);
  const pointsOf = (groups: readonly Group[]) => {
    const usersAt = (number: number): number =>
      groups.reduce((sum, { cells }) => sum + (cells.get(number)?.[0] ?? 0), 0);
    const users = numbers.map(usersAt);
    return users.map((own, index) => ({
      ...counted.shown(index),
      value: spec.cumulative ? users.slice(index).reduce((sum, one) => sum + one, 0) : own,
    }));
  };
  return planUsers(question, {
    ranked: rankedUsersSql(question, counted.usersSql(condition)),
    conditions: [condition],
    resultOf: (groups, untilMs) => {
      const incomplete = counted.incomplete(untilMs);
      const series = groups.map((group) => ({
        ...{ breakdown: group.breakdown, isOthers: group.isOthers, points: pointsOf([group]) },
        ...incomplete,
      }));
      const value = create(StickinessResultSchema, {
        ...{ points: pointsOf(groups), ...incomplete },
        series: breakdowns.length === 0 ? [] : series,
      });
      return { case: 'stickiness', value };
    },
  });
}

/** What users have a number of. */
interface Counted {
  /** Those of the points, ascending. */
  numbers: readonly number[];
  /** What the point with that place says of its number. */
  shown(place: number): { buckets: number } | { events: number; eventsTo?: number };
  /** SELECT of user_key, the columns of the groups, and bucket: the number. */
  usersSql(condition: EventCondition): string;
  incomplete(untilMs: number): ReturnType<typeof incompleteFrom>;
}

function countedOf(question: Question): Counted {
  const { buckets, fromMs, toMs, spec } = question;
  if (spec.eventsPerUser !== undefined) {
    const bounds = readBounds(spec.eventsPerUser);
    return {
      numbers: bounds,
      shown: (place) => shownBounds(bounds, place, spec),
      usersSql: (condition) => boundedUsersSql(question, condition, bounds),
      incomplete: (untilMs) => incompleteSince(untilMs < toMs ? fromMs : undefined),
    };
  }
  return {
    numbers: buckets.map((_, index) => index + 1),
    shown: (place) => ({ buckets: place + 1 }),
    usersSql: (condition) => activeUsersSql(question, condition),
    incomplete: (untilMs) => incompleteFrom(question, untilMs),
  };
}

function activeUsersSql(question: Question, condition: EventCondition): string {
  const { buckets, fromMs, toMs } = question;
  const users = groupedUsersSql(question, { condition, buckets, ranges: [{ fromMs, toMs }] });
  const counts = bitColumns(buckets.length).map((column) => `bitCount(${column})`);
  return `SELECT *, toInt64(${counts.join(' + ')}) AS bucket FROM (${users})`;
}
