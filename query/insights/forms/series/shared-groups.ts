// The groups that all series of a question with formulas have in common: a formula divides value by value, so each
// series answers the same groups and folds the same others.

import type { Question } from '../../read/question.ts';
import { eventCellsSql } from '../../sources/event-cells.ts';
import { eventsCounted } from '../../sql/aggregation.ts';
import { groupValuesSql } from '../../sql/ranked-groups.ts';
import { type Series, userWeightsSql } from './series.ts';

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
