// Counts events by kind alone, from the table event_counts, which has their number for each
// quarter of an hour: a zone's hours and days are whole quarters. What lies before the first whole quarter of the
// range, and after the last, is counted event by event.

import type { EventCondition } from '../read/event-condition.ts';
import type { Question } from '../read/question.ts';
import { quarterMs } from '../read/time-buckets.ts';
import { bucketSql, readEventsSql } from '../sql/read-events.ts';
import { cutBy } from './cut.ts';
import { needOf, sourceOf } from './ladder.ts';

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
  const { project, bindings } = question;
  const count = column === 'events' ? 'events' : 'events left out';
  const source = sourceOf(question, needOf(question, condition, { count, buckets }));
  const cut = source === 'event_counts' ? cutBy(quarterMs, question) : undefined;
  if (cut === undefined) return undefined;
  const { whole: range, rest } = cut;
  question.notes.reads.push(range);
  const quarter = (ms: number): string =>
    `toDateTime(${bindings.bind('Int64', ms / 1_000)}, 'UTC')`;
  const ofQuarter = bucketSql(question, buckets, 'toInt64(toUnixTimestamp(quarter)) * 1000');
  const whole = `event_counts
    WHERE project_id = ${project} AND ${condition.sql} AND quarter >= ${quarter(range.fromMs)} AND quarter < ${quarter(range.toMs)}`;
  if (rest.length === 0) return { from: whole, bucket: ofQuarter, events: column };
  const columns = {
    bucket: bucketSql(question, buckets),
    kind: 'kind',
    events: column === 'events' ? 'toUInt64(1)' : 'toUInt64(cookieless)',
  };
  const single = rest.map(
    (edge) =>
      `SELECT bucket, kind, events FROM (${readEventsSql(question, { condition, columns, ...edge })})`,
  );
  const counted = `SELECT ${ofQuarter} AS bucket, kind, ${column} AS events FROM ${whole}`;
  return {
    from: `(${[counted, ...single].join(' UNION ALL ')})`,
    ...{ bucket: 'bucket', events: 'events' },
  };
}
