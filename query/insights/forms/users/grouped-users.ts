// SQL for users with the groups of their first event and the buckets in which they were active. Groups by a trait or a
// segment follow from the user: their buckets may come from a table. Any other group is a property of the first event,
// and is read from rows of events. Without groups they are the users of sources/activity.ts.

import { both, type EventCondition } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { type Activity, userBitsSql } from '../../sources/activity.ts';
import { noteEvents } from '../../sources/ladder.ts';
import { bitColumns, placeBits } from '../../sql/bucket-bits.ts';
import { bucketPlaceSql } from '../../sql/bucket-place.ts';
import { byPerson, personGroupSql } from '../../sql/persons.ts';
import {
  areOfPersons,
  eventOrderSql,
  groupColumns,
  haveKeys,
  readEventsSql,
  withinRanges,
  withKeyGroups,
} from '../../sql/read-events.ts';

/** SELECT of user_key, bitColumns and the columns of the groups, if any: those of the first event of all ranges. */
export function groupedUsersSql(question: Question, activity: Activity): string {
  const { breakdowns } = question;
  const { buckets } = activity;
  const columns = bitColumns(buckets.length);
  const names = groupColumns(breakdowns.length);
  if (names.length === 0) return userBitsSql(question, activity);
  if (haveKeys(question, breakdowns)) {
    return withKeyGroups(question, breakdowns, userBitsSql(question, activity));
  }
  const bits = placeBits(buckets.length, (bit) => `groupBitOr(${bit})`);
  return `SELECT user_key, ${groupColumnsSql(names)}${columns.join(', ')} FROM (
    SELECT user_key, ${bits}, ${firstGroupsSql(breakdowns, eventOrderSql)} AS groups
    FROM (${placedEventsSql(question, activity)}) WHERE user_key != 0 GROUP BY user_key)`;
}

/** SELECT of the place of an event's bucket, its user and its groups. */
function placedEventsSql(question: Question, { condition, buckets, ranges }: Activity): string {
  const [first, ...others] = ranges;
  const last = others.at(-1) ?? first;
  const range = { fromMs: first?.fromMs ?? 0, toMs: last?.toMs ?? 0 };
  const { breakdowns: groups, bindings } = question;
  noteEvents(question, { count: 'users in order', of: condition, groups, range });
  const within: EventCondition =
    others.length === 0 ? condition : both(condition, withinRanges(ranges, bindings));
  const columns = { place: bucketPlaceSql(question, buckets) };
  return readEventsSql(question, { condition: within, groups, columns, withUser: true, ...range });
}

/**
 * Over events that are grouped by their user_key: the groups of the user's first one that meets `condition`, as one
 * value, to be named `groups`.
 */
export function firstGroupsSql(
  groups: readonly string[],
  order: string,
  condition = 'true',
): string {
  const values = `tuple(${groupColumns(groups.length).join(', ')})`;
  if (areOfPersons(groups)) {
    const isPerson = groups.every((group) => group === byPerson);
    return isPerson ? `tuple(${personGroupSql})` : `any(${values})`;
  }
  return condition === 'true'
    ? `argMin(${values}, ${order})`
    : `argMinIf(${values}, ${order}, ${condition})`;
}

/** Over rows with such `groups` and their `first_order`: those of the first one. */
export function firstOfGroupsSql(groups: readonly string[], of: string): string {
  return areOfPersons(groups) ? `any(${of}.groups)` : `argMin(${of}.groups, ${of}.first_order)`;
}

/** The columns of the groups from the column `groups`, each with a comma behind it. */
export function groupColumnsSql(names: readonly string[]): string {
  return names.map((name, index) => `groups.${index + 1} AS ${name}, `).join('');
}
