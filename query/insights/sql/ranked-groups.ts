// SQL that ranks the groups of a breakdown, keeps the greatest and folds all others into one. It works on cells: what
// one group has in one bucket, in parts that can be added up, so that the group of all others is exact, too.

import type { Behind, Question } from '../read/question.ts';
import { nearestDoubleSql } from './exact-sum.ts';
import { exactTextSql } from './nearest-double.ts';
import { keyNumberSql, keyTextSql } from './persons.ts';
import { groupColumn, groupColumns } from './read-events.ts';

/** How a result's number is made of the parts `a` and `b` of its cells. */
export interface Measure {
  /**
   * How `a` of several cells become one: sums of exact-sum.ts by sumMap, lists of different values and states of a
   * percentile by the two last. `b` is always added up.
   */
  combine: 'sum' | 'min' | 'max' | 'sumMap' | 'groupUniqArrayArray' | Percentile;
  /** The number is a / b, not a. */
  isRatio: boolean;
}

type Percentile = `quantileExactMergeState(${string})`;

/** Whether numbers of parts of the range do not make that of the range. */
export function isOfWhole({ combine }: Measure): boolean {
  return combine === 'groupUniqArrayArray' || combine.startsWith('quantile');
}

/** Numbers that add up, and such numbers divided. */
export const added: Measure = { combine: 'sum', isRatio: false };
export const divided: Measure = { combine: 'sum', isRatio: true };

/** The part `a` of a cell as a Float64: sums and lists become one when nothing more is added to them. SQL. */
export function finishedSql({ combine, isRatio }: Measure): string {
  switch (combine) {
    case 'sum':
    case 'min':
    case 'max':
      return 'a';
    case 'sumMap':
      return isRatio ? nearestDoubleSql('a', 'b') : nearestDoubleSql('a');
    case 'groupUniqArrayArray':
      return 'toFloat64(length(a))';
    default:
      combine satisfies Percentile;
      return 'finalizeAggregation(a) + 0';
  }
}

/** The parts of a cell as a statement answers them: `a` as text, which readGroups reads. SQL. */
export function shownParts(measure: Measure): [string, string] {
  const { combine, isRatio } = measure;
  if (combine !== 'sumMap') return [`toString(${finishedSql(measure)})`, 'b'];
  return [isRatio ? exactTextSql('a', 'b') : exactTextSql('a'), 'b'];
}

export interface Cells {
  /** SELECT with the columns of the groups, bucket, a, b, and weight. What has several rows is added up. */
  sql: string;
  /** The number of the groups' columns. */
  groups: number;
  /** Groups that stay. */
  limit: number;
  measure: Measure;
  /** The columns of a cell's numbers, which are added up; a and b, as the measure says, unless given. */
  numbers?: readonly string[];
  /** The column of the weights. */
  weight?: string;
  /** What the weight of a group is of all its cells; their weights added up, unless given. */
  weigh?: string;
  /** What a cell shows of a and b; what the measure makes of them, unless given. */
  shown?: readonly string[];
  /** The persons behind some cells, in place of the groups. */
  behind?: Behind | undefined;
}

/** SQL of a group's values as a list of texts. */
export function groupValuesSql(groups: number): string {
  const names = groupColumns(groups).map((name) => `toString(${name})`);
  return `[${names.join(', ')}]`;
}

/**
 * Rows as rankedGroupsSql answers them, of groups that are ranked already. `shared` is SQL of one value: the lists of
 * the values of those that stay, the greatest first, and how many there are in all.
 */
export function sharedGroupRowsSql(cells: Cells, shared: string): string {
  const { sql, groups, limit, measure, shown = [finishedSql(measure), 'b'] } = cells;
  const values = groupValuesSql(groups);
  return `WITH ${shared} AS shared_groups
    SELECT place, any(shown) AS values, groupArray((bucket, ${shown.join(', ')})) AS cells,
      toUInt64(if(place > ${limit}, shared_groups.2 - ${limit}, 1)) AS folded
    FROM (
      SELECT if(rank = 0, ${limit + 1}, rank) AS place, bucket, any(if(rank = 0, [], list)) AS shown,
        ${measure.combine}(cell.a) AS a, sum(cell.b) AS b
      FROM (SELECT bucket, a, b, ${values} AS list, indexOf(shared_groups.1, list) AS rank FROM (${sql})) AS cell
      GROUP BY place, bucket
    ) GROUP BY place`;
}

/**
 * One row a group, in any order: `place` from 1 by weight, then by the group's values; `values` are its values; `cells`
 * an array of (bucket, a, b), or of all numbers; `folded` how many groups the row stands for. All groups beyond the
 * limit are one row with the place limit + 1. Without groups there is one row of place 1, which has no cells where
 * nothing matched.
 */
export function rankedGroupsSql(cells: Cells): string {
  const { sql, groups, limit, measure, numbers = ['a', 'b'], weight = 'weight', behind } = cells;
  const { weigh = `sum(${weight})`, shown = [finishedSql(measure), 'b'] } = cells;
  if (behind !== undefined) return personsBehindSql(cells, behind);
  if (groups === 0) {
    const combined = numbers.map(
      (name, place) => `${place === 0 ? measure.combine : 'sum'}(cell.${name}) AS ${name}`,
    );
    return `SELECT toUInt64(1) AS place, emptyArrayString() AS values, groupArray((bucket, ${shown.join(', ')})) AS cells,
      toUInt64(1) AS folded FROM (SELECT bucket, ${combined.join(', ')} FROM (${sql}) AS cell GROUP BY bucket)`;
  }
  const names = groupColumns(groups).join(', ');
  const isFolded = `rank > ${limit}`;
  // The list of a group that stays has different values already: nothing keeps lists of single days.
  const first =
    measure.combine === 'groupUniqArrayArray'
      ? `if(any(${isFolded}), groupUniqArrayArray(if(${isFolded}, cell.2, [])), any(cell.2))`
      : `${measure.combine}(cell.2)`;
  const summed = numbers.map(
    (name, place) => `${place === 0 ? first : `sum(cell.${place + 2})`} AS ${name}`,
  );
  return `SELECT place, any(shown) AS values, groupArray((bucket, ${shown.join(', ')})) AS cells, any(folded) AS folded FROM (
    SELECT least(rank, ${limit + 1}) AS place, bucket, any(if(${isFolded}, [], ${groupValuesSql(groups)})) AS shown,
      ${summed.join(', ')}, any(if(${isFolded}, total - ${limit}, 1)) AS folded
    FROM (
      SELECT ${names}, groupArray((bucket, ${numbers.join(', ')})) AS cells,
        row_number() OVER (ORDER BY ${weigh} DESC, ${names}) AS rank, count() OVER () AS total
      FROM (${sql}) GROUP BY ${names}
    ) ARRAY JOIN cells AS cell
    GROUP BY place, cell.1 AS bucket
  ) GROUP BY place`;
}

/** Over the users of a cell: what else it counts, and what it adds to the weight of its group. SQL. */
interface UserNumbers {
  b: string;
  weight: string;
}

/**
 * Rows as rankedGroupsSql answers them, of numbers of users. `users` has a row for each user and cell, with the columns
 * of the question's groups, and bucket. Behind a number the person is one of the groups, and each row a cell.
 */
export function rankedUsersSql(
  { breakdowns, groupLimit: limit, behind }: Question,
  users: string,
  { b, weight }: UserNumbers = { b: nothing, weight: 'count()' },
): string {
  const groups = breakdowns.length;
  const by = [...groupColumns(breakdowns.length), 'bucket'].join(', ');
  const sql =
    behind === undefined
      ? `SELECT ${by}, toFloat64(count()) AS a, ${b} AS b, ${weight} AS weight FROM (${users}) GROUP BY ${by}`
      : `SELECT ${by}, toFloat64(1) AS a, ${nothing} AS b FROM (${users})`;
  return rankedGroupsSql({ ...{ sql, groups, limit, behind }, measure: added });
}

const nothing = 'toFloat64(0)';

/** One row a person, in the form of rankedGroupsSql, ascending by their keys: the only value. */
function personsBehindSql({ sql, groups, measure }: Cells, behind: Behind): string {
  const person = groupColumn(groups - 1);
  const counts = measure.combine === 'sum' && !measure.isRatio ? 'a > 0' : 'b > 0';
  const within = (cells: readonly number[]): string =>
    `bucket IN (${cells.map((cell) => `toInt64(${cell})`).join(', ')})`;
  const { cells, without, group, afterKey, untilKey, maxPersons } = behind;
  const looked = within([...cells, ...without]);
  const isAfter = `${person} > ${keyNumberSql(afterKey)}`;
  const isBefore = untilKey === undefined ? [] : [`${person} <= ${keyNumberSql(untilKey)}`];
  const conditions = [counts, looked, isAfter, ...isBefore, ...group].join(' AND ');
  return `SELECT toUInt64(1) AS place, [concat('=', ${keyTextSql(person)})] AS values, [(toInt64(0), toFloat64(1), toFloat64(0))] AS cells,
      toUInt64(1) AS folded
    FROM (${sql}) WHERE ${conditions} GROUP BY ${person}
    ${without.length === 0 ? '' : `HAVING NOT max(${within(without)})`} ORDER BY ${person} LIMIT ${maxPersons}`;
}
