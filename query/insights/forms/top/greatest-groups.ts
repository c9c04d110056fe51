// SQL for the groups with the greatest values, the first among them, and all others as one. Unlike the groups of a
// breakdown (sql/ranked-groups.ts), these are ranked by their values.

import type { RankedAggregation } from '../../sql/aggregation.ts';
import { finishedSql } from '../../sql/ranked-groups.ts';

export interface Greatest {
  aggregation: RankedAggregation;
  /** Groups that stay. */
  limit: number;
  /** Also answers the group of all others. */
  withOthers: boolean;
}

/** SELECT of groups by what their users make. `events` have the columns `name`, of their group, and user_key. */
export function usersOfGroupsSql(events: string, { aggregation, withOthers }: Greatest): string {
  if (!withOthers) return aggregation.cells('name', events);
  // The users of all other groups together are fewer than those of each added up.
  const users = 'toFloat64(finalizeAggregation(users))';
  const { a, b } = aggregation.measure.isRatio
    ? { a: 'toFloat64(events)', b: users }
    : { a: users, b: 'toFloat64(0)' };
  return `SELECT name, users, ${a} AS a, ${b} AS b FROM (
    SELECT name, count() AS events, uniqExactState(user_key) AS users FROM (${events}) GROUP BY name)`;
}

/**
 * Takes a SELECT of groups: name, a, b. Answers (place, name, value, groups, whole): `place` from 1 by value, then by
 * name; `groups` is the number of all groups, and `whole` the sum of their `a`. All groups beyond the limit are one row
 * with the place limit + 1, unless nobody asks for it or it is `whole` less the others: only then is `whole` told.
 */
export function greatestSql(groups: string, greatest: Greatest): string {
  const { limit } = greatest;
  if (greatest.withOthers && !othersAreTheRest(greatest)) return withOthersSql(groups, greatest);
  const whole = othersAreTheRest(greatest) ? 'sum(a)' : 'toFloat64(0)';
  // Windows over all groups would have them all in memory once more, and take a fifth of the question.
  return `SELECT place, one.2 AS name, -one.1 AS value, groups, whole FROM (
      SELECT groupArraySorted(${limit})((-${valueSql(greatest)}, name)) AS top, count() AS groups, ${whole} AS whole
      FROM (${groups}))
    ARRAY JOIN top AS one, arrayEnumerate(top) AS place`;
}

/** Events of different groups add up: the others need no pass of their own. Sums of doubles would not be exact. */
export function othersAreTheRest({ aggregation }: Pick<Greatest, 'aggregation'>): boolean {
  return aggregation.counts === 'events' && aggregation.number === undefined;
}

function withOthersSql(groups: string, greatest: Greatest): string {
  const { aggregation, limit } = greatest;
  const { combine, isRatio } = aggregation.measure;
  const countsUsers = aggregation.counts === 'users';
  const users = 'toFloat64(uniqExactMerge(users))';
  const together =
    aggregation.counts === 'events'
      ? { a: `${combine}(a)`, b: 'sum(b)' }
      : isRatio
        ? { a: 'sum(a)', b: users }
        : { a: users, b: 'sum(b)' };
  const columns = `name, a, b${countsUsers ? ', users' : ''}`;
  const ranked = `SELECT ${columns}, row_number() OVER (ORDER BY value DESC, name) AS rank, count() OVER () AS groups
    FROM (SELECT ${columns}, ${valueSql(greatest)} AS value FROM (${groups}))`;
  return `SELECT place, name, ${valueSql(greatest)} AS value, groups, toFloat64(0) AS whole FROM (
    SELECT place, name, groups, a, b FROM (
      SELECT least(rank, ${limit + 1}) AS place, any(ranked.name) AS name, any(ranked.groups) AS groups,
        ${together.a} AS a, ${together.b} AS b
      FROM (${ranked}) AS ranked GROUP BY place))`;
}

/** What cellValue makes of a group's parts. */
function valueSql({ aggregation: { measure } }: Greatest): string {
  if (measure.combine === 'sumMap') return finishedSql(measure);
  if (measure.isRatio) return 'if(b = 0, toFloat64(0), a / b)';
  return measure.combine === 'sum' ? 'a' : `if(b = 0, toFloat64(0), ${finishedSql(measure)})`;
}
