// Cells of events: the parts that an aggregation makes of each group's events in each bucket. Those of past days may be
// kept.

import { both, type EventCondition } from '../read/event-condition.ts';
import type { Question } from '../read/question.ts';
import type { Aggregation } from '../sql/aggregation.ts';
import { isOfWhole } from '../sql/ranked-groups.ts';
import {
  bucketSql,
  groupColumn,
  groupColumns,
  kindTextSql,
  oneBucketSql,
  readEventsSql,
} from '../sql/read-events.ts';
import { countedEventsSql } from './counted-kinds.ts';
import { keepCells, keptBucketSql, notKept, toKeep } from './day-cells.ts';
import { sourceOf } from './ladder.ts';

export interface EventCells {
  condition: EventCondition;
  aggregation: Extract<Aggregation, { counts: 'events' }>;
  /** Properties or traits by which events are grouped, or their kinds. */
  groups: readonly string[] | 'kinds';
  buckets: readonly number[];
}

/** SELECT of (group_0, …, bucket, a, b, weight): a cell may have several rows, which the measure combines. */
export function eventCellsSql(question: Question, cells: EventCells): string {
  const { condition, buckets, aggregation } = cells;
  const { number, measure } = aggregation;
  const groups = cells.groups === 'kinds' ? [] : cells.groups;
  const ofKind = cells.groups === 'kinds' ? { [groupColumn(0)]: kindTextSql } : {};
  const width = cells.groups === 'kinds' ? 1 : groups.length;
  const groupNames = groupColumns(width);
  const names = groupNames.map((name) => `${name}, `).join('');
  const source = sourceOf(question, {
    ...{ count: 'events', of: condition, groups, buckets, hasNumbers: number !== undefined },
    isWhole: isOfWhole(measure),
  });
  const bucket = bucketSql(question, buckets);
  if (source === 'event_counts') {
    const counted = countedEventsSql(question, condition, buckets, 'events');
    const kind = width === 0 ? '' : `${kindTextSql} AS ${names}`;
    return `SELECT ${kind}bucket, toFloat64(sum(events)) AS a, toFloat64(0) AS b, sum(events) AS weight
      FROM (${counted}) GROUP BY ${names}bucket`;
  }
  const grouped = (bucket: string, read: { condition: EventCondition; days?: string }): string => {
    const columns = { bucket, ...ofKind, ...(number !== undefined && { number }) };
    // By one column of few values the engine groups its codes, in half the time that it takes with a second key.
    const isOne = bucket === oneBucketSql && width > 0;
    const events = readEventsSql(question, { ...read, groups, columns });
    const sql = aggregation.cells(isOne ? groupNames.join(', ') : `${names}bucket`, events);
    return isOne ? `SELECT ${names}${bucket} AS bucket, a, b, weight FROM (${sql})` : sql;
  };
  if (source !== 'kept_cells') return grouped(bucket, { condition });
  const live = grouped(bucket, { condition: both(condition, notKept) });
  const ofDay = grouped(keptBucketSql, { condition, days: toKeep.days });
  const a = measure.combine === 'sumMap' ? 'sums' : 'a';
  const ofKept = bucketSql(question, buckets, 'moment_ms');
  const kept = keepCells(question, ofDay, { width, bucket: ofKept, more: ['weight'], a });
  return `${live} UNION ALL ${kept}`;
}
