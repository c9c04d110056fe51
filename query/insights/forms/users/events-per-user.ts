// STICKINESS by events: users by the number of their events in the range. Sums of days of profiles tell it where the
// question is of events of every kind.

import { invalidArgument } from '../../../../platform/http/answers/invalid-argument.ts';
import type {
  EventsPerUser,
  InsightQuerySpec,
} from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { EventCondition } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { countedProfilesSql, ofUsersSql, streamsSql } from '../../sources/activity.ts';
import { noteEvents } from '../../sources/ladder.ts';
import {
  eventOrderSql,
  groupColumns,
  haveKeys,
  readEventsSql,
  withKeyGroups,
} from '../../sql/read-events.ts';
import { firstGroupsSql, groupColumnsSql } from './grouped-users.ts';

const maxBounds = 100;
const maxBound = 1_000_000;
const usualBounds = Array.from({ length: 20 }, (_, index) => index + 1);
const field = 'spec.eventsPerUser.bounds';

/** The least number of events of each point. Throws invalid_argument. */
export function readBounds({ bounds }: Pick<EventsPerUser, 'bounds'>): readonly number[] {
  if (bounds.length === 0) return usualBounds;
  if (bounds.length > maxBounds) throw invalidArgument(field, `takes at most ${maxBounds}`);
  if (bounds[0] !== 1) throw invalidArgument(`${field}[0]`, 'must be 1');
  const odd = bounds.findIndex((bound, place) => place > 0 && bound <= (bounds[place - 1] ?? 0));
  if (odd > 0) throw invalidArgument(`${field}[${odd}]`, 'must be greater than the one before');
  const last = bounds.length - 1;
  if ((bounds[last] ?? 0) > maxBound) {
    throw invalidArgument(`${field}[${last}]`, `must be at most ${maxBound}`);
  }
  return bounds;
}

/** What a point says of its numbers of events. */
export function shownBounds(
  bounds: readonly number[],
  place: number,
  { cumulative }: Pick<InsightQuerySpec, 'cumulative'>,
) {
  const next = bounds[place + 1];
  const hasEnd = next !== undefined && !cumulative;
  return { events: bounds[place] ?? 0, ...(hasEnd && { eventsTo: next - 1 }) };
}

/** SELECT of user_key, the columns of the groups, and bucket: the bound that the number of a user's events reaches. */
export function boundedUsersSql(
  question: Question,
  condition: EventCondition,
  bounds: readonly number[],
): string {
  const { bindings, breakdowns } = question;
  const list = bindings.bind('Array(Int64)', bounds.map(BigInt));
  const users = haveKeys(question, breakdowns)
    ? withKeyGroups(question, breakdowns, countedUsersSql(question, condition))
    : groupedUsersSql(question, condition);
  return `SELECT *, roundDown(toInt64(events), ${list}) AS bucket FROM (${users})`;
}

/** SELECT of user_key and events. */
function countedUsersSql(question: Question, condition: EventCondition): string {
  const profiles = countedProfilesSql(question, condition);
  return `SELECT user_key, sum(events) AS events FROM (${ofUsersSql(question, profiles, ['events'])})
    GROUP BY user_key ${streamsSql(profiles)}`;
}

/** The same with the groups of the first event. */
function groupedUsersSql(question: Question, condition: EventCondition): string {
  const { breakdowns: groups } = question;
  const names = groupColumns(groups.length);
  noteEvents(question, { count: 'users in order', of: condition, groups });
  const events = readEventsSql(question, { condition, groups, withUser: true });
  return `SELECT user_key, ${groupColumnsSql(names)}events FROM (
    SELECT user_key, count() AS events, ${firstGroupsSql(groups, eventOrderSql)} AS groups
    FROM (${events}) WHERE user_key != 0 GROUP BY user_key)`;
}
