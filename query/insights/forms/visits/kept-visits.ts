// Cells of visits. Those of past days may be kept: a visit depends on the day on which it begins, on the day before it
// and on the day after it.

import type { Question } from '../../read/question.ts';
import { keepCells } from '../../sources/day-cells.ts';
import { keepsDays, type Need } from '../../sources/ladder.ts';
import { bucketSql, groupColumn } from '../../sql/read-events.ts';
import { type VisitDays, visitDays, visitDaysToKeep } from './visit-days.ts';

/** The cells of the question's range. `cells` is SQL of the columns of so many groups, and cellColumns of Int64. */
export function withKeptVisits(
  question: Question,
  need: Need,
  width: number,
  cells: (days: VisitDays) => string,
): string {
  if (!keepsDays(question, need)) return cells(visitDays(question, { unkept: false }));
  const names = Array.from({ length: width }, (_, index) => `${groupColumn(index)}, `).join('');
  // A group may have several rows: its visits may end with events of several kinds.
  const ofDays = `SELECT ${names}bucket, toFloat64(sum(visits)) AS a, toFloat64(sum(duration_ms)) AS b,
      toFloat64(sum(bounces)) AS c, toFloat64(sum(events)) AS d
    FROM (${cells(visitDaysToKeep)}) GROUP BY ${names}bucket`;
  const bucket = bucketSql(question, question.buckets);
  const kept = keepCells(question, ofDays, { width, bucket, reachDays: 1 });
  return `${cells(visitDays(question, { unkept: true }))}
    UNION ALL SELECT ${names}bucket, toInt64(a) AS visits, toInt64(b) AS duration_ms, toInt64(c) AS bounces, toInt64(d) AS events
    FROM (${kept})`;
}
