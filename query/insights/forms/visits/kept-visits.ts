// Cells of visits. Those of past days may be kept: a visit depends on the day on which it begins, on the day before it
// and on the day after it.

import type { Question } from '../../read/question.ts';
import { hasDays } from '../../sources/cut.ts';
import { keepCellsSql, keptCellsSql, keyOf } from '../../sources/day-cells.ts';
import { bucketSql, groupColumn } from '../../sql/read-events.ts';
import { unkeptVisitDays, type VisitDays, visitDays, visitDaysToKeep } from './visit-days.ts';

/** SQL of cells: (part, group_0, …, bucket, visits, duration_ms, bounces, events), the numbers of type Int64. */
interface Cells {
  /** The number of the groups' columns. */
  width: number;
  sql(days: VisitDays): string;
}

interface JointCells extends Cells {
  /** Each part alone, with the number 0. */
  series: readonly Cells[];
}

/** The cells of the question's range. Nothing but events may decide them. */
export function withKeptVisits(question: Question, cells: JointCells): string {
  if (!hasDays(question)) return cells.sql(visitDays(question));
  const keys = cells.series.map(({ sql }) => keyOf(question, sql(visitDaysToKeep)));
  const list = `['${keys.join(`', '`)}']`;
  const widths = `[${cells.series.map(({ width }) => width).join(', ')}]`;
  const columns = Array.from({ length: cells.width }, (_, index) => groupColumn(index));
  const texts = `[${columns.map((name) => `toString(${name})`).join(', ')}]`;
  const groups =
    cells.width === 0 ? 'emptyArrayString()' : `arraySlice(${texts}, 1, ${widths}[part + 1])`;
  question.dayCells.push({
    keys,
    reachDays: 1,
    // A part may have several rows of a group: its visits may end with events of several kinds.
    keep: keepCellsSql(`SELECT ${list}[part + 1] AS series, bucket, ${groups} AS groups, toFloat64(sum(visits)) AS a,
        toFloat64(sum(duration_ms)) AS b, toFloat64(sum(bounces)) AS c, toFloat64(sum(events)) AS d
      FROM (${cells.sql(visitDaysToKeep)}) GROUP BY series, bucket, groups`),
  });
  const names = columns.map((name, index) => `groups[${index + 1}] AS ${name}, `).join('');
  return `${cells.sql(unkeptVisitDays(question))}
    UNION ALL SELECT toInt32(indexOf(${list}, series)) - 1 AS part, ${names}${bucketSql(question, question.buckets)} AS bucket,
      toInt64(a) AS visits, toInt64(b) AS duration_ms, toInt64(c) AS bounces, toInt64(d) AS events
    FROM (${keptCellsSql(question, keys)})`;
}
