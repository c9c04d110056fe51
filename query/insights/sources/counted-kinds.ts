// Counts events by kind alone, from the table event_counts, which has their number for each
// quarter of an hour: a zone's hours and days are whole quarters. What lies before the first whole quarter of the
// range, and after the last, is counted event by event.

import type { EventCondition } from '../read/event-condition.ts';
import type { Question } from '../read/question.ts';
import { quarterMs } from '../read/time-buckets.ts';
import { bucketSql, readEventsSql } from '../sql/read-events.ts';
import { cutBy } from './cut.ts';

/**
 * SELECT of (bucket, kind, events), several rows of each bucket and kind. `column`: every event, or those of cookieless
 * visitors.
 */
export function countedEventsSql(
  question: Question,
  condition: EventCondition,
  buckets: readonly number[],
  column: 'events' | 'cookieless_events',
): string {
  const { project, bindings } = question;
  const { whole, rest } = cutBy(quarterMs, question);
  question.notes.reads.push(whole);
  const quarter = (ms: number): string =>
    `toDateTime(${bindings.bind('Int64', ms / 1_000)}, 'UTC')`;
  const bucket = bucketSql(question, buckets, 'toInt64(toUnixTimestamp(quarter)) * 1000');
  const counted = `SELECT ${bucket} AS bucket, kind, ${column} AS events FROM event_counts
    WHERE project_id = ${project} AND ${condition.sql} AND quarter >= ${quarter(whole.fromMs)} AND quarter < ${quarter(whole.toMs)}`;
  const events = column === 'events' ? 'toUInt64(1)' : 'toUInt64(cookieless)';
  const columns = { bucket: bucketSql(question, buckets), kind: 'kind', events };
  const single = rest.map((edge) => readEventsSql(question, { condition, columns, ...edge }));
  const singly = single.map((sql) => `SELECT bucket, kind, events FROM (${sql})`);
  return [counted, ...singly].join(' UNION ALL ');
}
