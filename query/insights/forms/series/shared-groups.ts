// The groups that all series of a question with formulas have in common: a formula divides value by value, so each
// series answers the same groups and folds the same others.

import type { Question } from '../../read/question.ts';
import { eventCellsSql } from '../../sources/event-cells.ts';
import { eventsCounted } from '../../sql/aggregation.ts';
import { added, groupValuesSql, rankedGroupsSql } from '../../sql/ranked-groups.ts';
import { groupColumns } from '../../sql/read-events.ts';
import { cellsSql, type Series, userWeightsSql } from './series.ts';

/**
 * SQL of one value, which the engine finds once for a statement: the groups that stay, the greatest first, and how many
 * there are. The weight of a group is the sum of its weights in all series.
 */
export function sharedGroupsSql(question: Question, series: readonly Series[]): string {
  const { breakdowns, fromMs, groupLimit } = question;
  const whole = { ...question, buckets: [fromMs] };
  const counted = { aggregation: eventsCounted, groups: breakdowns, buckets: whole.buckets };
  const weights = series.map(({ condition, aggregation }) => {
    const cells =
      aggregation.counts === 'users'
        ? userWeightsSql(whole, condition)
        : eventCellsSql(whole, { ...counted, condition });
    return `SELECT ${groupValuesSql(breakdowns.length)} AS values, toFloat64(weight) AS weight FROM (${cells})`;
  });
  const ranked = `SELECT values, sum(weight) AS weight FROM (${weights.join(' UNION ALL ')}) GROUP BY values`;
  return `(SELECT (groupArray(values), any(total)) FROM (
    SELECT values, count() OVER () AS total FROM (${ranked}) ORDER BY weight DESC, values LIMIT ${groupLimit}))`;
}

/** The rows of all series, where their numbers add up: the groups are ranked by the cells that they have. */
export function addedSeriesSql(question: Question, series: readonly Series[]): string {
  const { breakdowns, groupLimit: limit } = question;
  const names = [...groupColumns(breakdowns.length), 'a', 'b'].join(', ');
  const cells = series.map((one, part) => {
    const own = `(toInt32(${part}), bucket) AS bucket, toFloat64(weight) AS weight`;
    return `SELECT ${names}, ${own} FROM (${cellsSql(question, one, breakdowns)})`;
  });
  const sql = cells.join(' UNION ALL ');
  const ranked = rankedGroupsSql({ sql, groups: breakdowns.length, limit, measure: added });
  return `SELECT cell.1.1 AS part, place, values, groupArray((cell.1.2, toString(cell.2), cell.3)) AS own, any(folded)
    FROM (${ranked}) ARRAY JOIN cells AS cell GROUP BY part, place, values`;
}
