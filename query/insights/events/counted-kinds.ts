// Counts events by kind alone, from the table event_counts, which has their number for each
// quarter of an hour: a zone's hours and days are whole quarters. What lies before the first whole quarter of the
// range, and after the last, is counted event by event.

import type { Question } from '../question/question.ts';
import { quarterMs } from '../question/time-buckets.ts';
import type { EventCondition } from './event-condition.ts';
import { bucketSql, readEventsSql } from './read-events.ts';

/** Numbers of events, several of each bucket and kind. SQL. */
export interface CountedEvents {
  /** What follows FROM. Its rows have the column kind. */
  from: string;
  /** Over its rows: the start of the bucket, and the events. */
  bucket: string;
  events: string;
}

/**
 * Undefined where the table cannot tell. `column`: every event, or those of cookieless visitors. Where the range is
 * whole quarters, the rows are the table's own: a SELECT within another takes the engine half a millisecond to plan.
 */
export function countedEvents(
  question: Question,
  condition: EventCondition,
  buckets: readonly number[],
  column: 'events' | 'cookieless_events',
): CountedEvents | undefined {
  const { project, bindings, fromMs, toMs } = question;
  const range = countedRange(question, condition, buckets);
  if (range === undefined) return undefined;
  const { firstMs, lastMs } = range;
  const quarter = (ms: number): string =>
    `toDateTime(${bindings.bind('Int64', ms / 1_000)}, 'UTC')`;
  const ofQuarter = bucketSql(question, buckets, 'toInt64(toUnixTimestamp(quarter)) * 1000');
  const whole = `event_counts
    WHERE project_id = ${project} AND ${condition.sql} AND quarter >= ${quarter(firstMs)} AND quarter < ${quarter(lastMs)}`;
  const edges = [
    { fromMs, toMs: firstMs },
    { fromMs: lastMs, toMs },
  ].filter((edge) => edge.fromMs < edge.toMs);
  if (edges.length === 0) return { from: whole, bucket: ofQuarter, events: column };
  const columns = {
    bucket: bucketSql(question, buckets),
    kind: 'kind',
    events: column === 'events' ? 'toUInt64(1)' : 'toUInt64(cookieless)',
  };
  const single = edges.map(
    (edge) =>
      `SELECT bucket, kind, events FROM (${readEventsSql(question, { condition, columns, ...edge })})`,
  );
  const counted = `SELECT ${ofQuarter} AS bucket, kind, ${column} AS events FROM ${whole}`;
  return {
    from: `(${[counted, ...single].join(' UNION ALL ')})`,
    ...{ bucket: 'bucket', events: 'events' },
  };
}

/** Whether the table alone tells. */
export function areAllCounted(
  question: Question,
  condition: EventCondition,
  buckets: readonly number[],
): boolean {
  const counted = countedRange(question, condition, buckets);
  return counted?.firstMs === question.fromMs && counted.lastMs === question.toMs;
}

/** The whole quarters of the range; undefined where the table cannot tell. */
function countedRange(
  { everyEvent, asOfMs, fromMs, toMs }: Question,
  condition: EventCondition,
  buckets: readonly number[],
): { firstMs: number; lastMs: number } | undefined {
  const firstMs = Math.ceil(fromMs / quarterMs) * quarterMs;
  const lastMs = Math.floor(toMs / quarterMs) * quarterMs;
  const isServed =
    everyEvent.kind === 'every' &&
    condition.kind !== 'filtered' &&
    asOfMs === undefined &&
    firstMs < lastMs &&
    buckets.slice(1).every((startMs) => startMs % quarterMs === 0);
  return isServed ? { firstMs, lastMs } : undefined;
}
