// Cells of events, and sums, that are added up from the beginning of the range to the end of each bucket.

import type { Question } from '../../read/question.ts';
import type { Measure } from '../../sql/ranked-groups.ts';

/** SELECT of (bucket, a, b, weight) of one without groups: each cell counts in its bucket and in all later ones. */
export function addedUpSql(question: Question, cells: string, { combine }: Measure): string {
  if (question.buckets.length === 1) return cells;
  const later = laterBucketsSql(question);
  return `SELECT later AS bucket, ${combine}(cell.a) AS a, sum(cell.b) AS b, sum(cell.weight) AS weight
    FROM (SELECT a, b, weight, ${later} AS later FROM (SELECT bucket AS earlier, a, b, weight FROM (${cells}))) AS cell
    GROUP BY later`;
}

/** SQL over `earlier`, the start of a bucket: a row for it and for each later one. */
export function laterBucketsSql({ buckets, bindings }: Question): string {
  const starts = bindings.bind('Array(Int64)', buckets.map(BigInt));
  return `arrayJoin(arrayFilter(start -> start >= earlier, ${starts}))`;
}
