// Cells of a series that counts events by kind alone, from the table event_counts, which has their number for each
// quarter of an hour: a zone's hours and days are whole quarters. What lies before the first whole quarter of the
// range, and after the last, is counted event by event.

import type { Question } from '../question/question.ts';
import type { EventCondition } from './event-condition.ts';
import { bucketSql, readEventsSql } from './read-events.ts';

const quarterMs = 900_000;

/** SELECT of the cells, as ranked-groups.ts takes them; undefined where the table cannot tell. */
export function countedKindCellsSql(
  question: Question,
  condition: EventCondition,
  buckets: readonly number[],
): string | undefined {
  const { project, bindings, everyEvent, asOfMs, fromMs, toMs } = question;
  const firstMs = Math.ceil(fromMs / quarterMs) * quarterMs;
  const lastMs = Math.floor(toMs / quarterMs) * quarterMs;
  const isServed =
    everyEvent.kind === 'every' &&
    condition.kind !== 'filtered' &&
    asOfMs === undefined &&
    firstMs < lastMs &&
    buckets.slice(1).every((startMs) => startMs % quarterMs === 0);
  if (!isServed) return undefined;
  const quarter = (ms: number): string =>
    `toDateTime(${bindings.bind('Int64', ms / 1_000)}, 'UTC')`;
  const bucket = bucketSql(question, buckets);
  const whole = `SELECT ${bucket} AS bucket, events FROM (
    SELECT toDateTime64(quarter, 3, 'UTC') AS occur_time, events FROM event_counts
    WHERE project_id = ${project} AND ${condition.sql} AND quarter >= ${quarter(firstMs)} AND quarter < ${quarter(lastMs)})`;
  const edges = [
    { fromMs, toMs: firstMs },
    { fromMs: lastMs, toMs },
  ].filter((edge) => edge.fromMs < edge.toMs);
  const single = edges.map(
    (edge) =>
      `SELECT bucket, 1 AS events FROM (${readEventsSql(question, { condition, columns: { bucket }, ...edge })})`,
  );
  return `SELECT bucket, toFloat64(sum(events)) AS a, toFloat64(0) AS b, count() AS weight
    FROM (${[whole, ...single].join(' UNION ALL ')}) GROUP BY bucket`;
}
