// Cells of events: the parts that an aggregation makes of each group's events in each bucket. Those of past days may be
// kept.

import { both, type EventCondition } from '../read/event-condition.ts';
import type { Question } from '../read/question.ts';
import type { Aggregation } from '../sql/aggregation.ts';
import { bucketSql, groupColumn, oneBucketSql, readEventsSql } from '../sql/read-events.ts';
import { daysToKeep, keepCells, keptBucketSql, notKept } from './day-cells.ts';
import { needOf, sourceOf } from './ladder.ts';

export interface EventCells {
  condition: EventCondition;
  aggregation: Extract<Aggregation, { counts: 'events' }>;
  /** Properties or traits by which events are grouped. */
  groups: readonly string[];
  /** Other columns of groups, by name. */
  columns?: Readonly<Record<string, string>>;
  buckets: readonly number[];
}

/** SELECT of (group_0, …, bucket, a, b, weight). */
export function eventCellsSql(question: Question, cells: EventCells): string {
  const { condition, groups, columns = {}, buckets, aggregation } = cells;
  const { number, measure } = aggregation;
  const keys = [...groups, ...Object.keys(columns)];
  const width = keys.length;
  const groupNames = Array.from({ length: width }, (_, index) => groupColumn(index));
  const names = groupNames.map((name) => `${name}, `).join('');
  const grouped = (bucket: string, read: { condition: EventCondition; days?: string }): string => {
    const columnsRead = { bucket, ...columns, ...(number !== undefined && { number }) };
    // By one column of few values the engine groups its codes, in half the time that it takes with a second key.
    const isOne = bucket === oneBucketSql && width > 0;
    const events = readEventsSql(question, { ...read, groups, columns: columnsRead });
    const sql = aggregation.cells(isOne ? groupNames.join(', ') : `${names}bucket`, events);
    return `SELECT ${names}${isOne ? `${bucket} AS bucket` : 'bucket'}, a, b, c, toFloat64(0) AS d FROM (${sql})`;
  };
  const bucket = bucketSql(question, buckets);
  const hasNumbers = number !== undefined;
  const isWhole =
    measure.combine === 'groupArrayArray' || measure.combine === 'groupUniqArrayArray';
  const counted = { count: 'events', groups: keys, hasNumbers, isWhole } as const;
  const need = needOf(question, condition, counted);
  if (sourceOf(question, need) !== 'kept_cells') {
    return `SELECT ${names}bucket, a, b, c AS weight FROM (${grouped(bucket, { condition })})`;
  }
  const live = grouped(bucket, { condition: both(condition, notKept) });
  const ofDay = grouped(keptBucketSql, { condition, days: daysToKeep });
  const a = measure.combine === 'sumMap' ? 'sums' : 'a';
  const kept = keepCells(question, ofDay, { width, bucket, a });
  return `SELECT ${names}bucket, ${measure.combine}(cell.a) AS a, sum(cell.b) AS b, sum(cell.c) AS weight
    FROM (${live} UNION ALL ${kept}) AS cell GROUP BY ${names}bucket`;
}
