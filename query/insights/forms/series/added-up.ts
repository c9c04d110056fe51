// Cells of events, and sums, that are added up from the beginning of the range to the end of each bucket.

import type { Question } from '../../read/question.ts';
import type { Measure } from '../../sql/ranked-groups.ts';

/** SELECT of (bucket, a, b, weight) of one without groups: each cell counts in its bucket and in all later ones. */
export function addedUpSql(
  { buckets, bindings }: Question,
  cells: string,
  { combine }: Measure,
): string {
  if (buckets.length === 1) return cells;
  const starts = bindings.bind('Array(Int64)', buckets.map(BigInt));
  const later = `arrayJoin(arrayFilter(start -> start >= earlier, ${starts}))`;
  return `SELECT later AS bucket, ${combine}(cell.a) AS a, sum(cell.b) AS b, sum(cell.weight) AS weight
    FROM (SELECT a, b, weight, ${later} AS later FROM (SELECT bucket AS earlier, a, b, weight FROM (${cells}))) AS cell
    GROUP BY later`;
}
