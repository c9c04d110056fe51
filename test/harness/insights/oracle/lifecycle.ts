// Lifecycle and stickiness: the buckets in which users were active.

import type { Question } from '../questions/question.ts';
import type { Part } from './part.ts';
import { matches } from './statement/conditions.ts';
import { incompleteFrom } from './statement/incomplete.ts';
import {
  bucketKey,
  bucketTables,
  isInRange,
  presentEvents,
  rangeMs,
} from './statement/selection.ts';
import type { Tables } from './tables.ts';

export async function lifecycleAnswer(
  tables: Tables,
  question: Question,
  untilMs: number,
): Promise<Part> {
  const [series] = question.events ?? [];
  const { from, to } = rangeMs(question);
  const rows = await tables.rows(`WITH ${presentEvents(question)}, ${bucketTables(question)},
    first_start AS (SELECT min(start) AS first_start FROM buckets),
    before_first AS (SELECT max(start) AS start, max_by(key, start) AS key FROM all_buckets, first_start
      WHERE start < first_start),
    numbered AS (SELECT n, key, start, stop FROM buckets
      UNION ALL SELECT 0, key, start, NULL FROM before_first),
    seen AS (SELECT usr, ts, ${bucketKey(question, 'ts')} AS key FROM ev
      WHERE usr IS NOT NULL AND ${matches(question, series?.event)} AND ts < ${to}),
    active AS (SELECT DISTINCT usr, n FROM seen JOIN numbered USING (key)
      WHERE (n = 0 OR ts >= ${from})),
    firsts AS (SELECT usr, min(ts) AS first_ts FROM ev WHERE usr IS NOT NULL GROUP BY usr),
    here AS (SELECT a.usr, a.n, first_ts >= start AND first_ts < stop AS is_new,
      EXISTS (SELECT 1 FROM active p WHERE p.usr = a.usr AND p.n = a.n - 1) AS was_active
      FROM active a JOIN numbered b ON b.n = a.n JOIN firsts f ON f.usr = a.usr WHERE a.n > 0),
    gone AS (SELECT p.n + 1 AS n, count(*) AS users FROM active p
      WHERE NOT EXISTS (SELECT 1 FROM active a WHERE a.usr = p.usr AND a.n = p.n + 1) GROUP BY p.n)
    SELECT b.start,
      (SELECT count(*) FROM here h WHERE h.n = b.n AND is_new) AS new,
      (SELECT count(*) FROM here h WHERE h.n = b.n AND NOT is_new AND was_active) AS returning,
      (SELECT count(*) FROM here h WHERE h.n = b.n AND NOT is_new AND NOT was_active) AS resurrecting,
      coalesce((SELECT users FROM gone g WHERE g.n = b.n), 0) AS dormant
    FROM buckets b ORDER BY b.n`);
  const points = (name: string): [number, number][] =>
    rows.map((row) => [Number(row['start']), Number(row[name])]);
  const result = {
    lifecycle: {
      newUsers: points('new'),
      returningUsers: points('returning'),
      resurrectingUsers: points('resurrecting'),
      dormantUsers: points('dormant'),
      incompleteFrom: await incompleteFrom(tables, question, untilMs),
    },
  };
  return { result, leftOut: {} };
}

export async function stickinessAnswer(
  tables: Tables,
  question: Question,
  untilMs: number,
): Promise<Part> {
  const [series] = question.events ?? [];
  const rows = await tables.rows(`WITH ${presentEvents(question)}, ${bucketTables(question)},
    counted AS (SELECT usr, count(DISTINCT ${bucketKey(question, 'ts')}) AS active FROM ev
      WHERE ${isInRange(question)} AND usr IS NOT NULL AND ${matches(question, series?.event)} GROUP BY usr)
    SELECT n, (SELECT count(*) FROM counted c WHERE c.active = b.n) AS users FROM buckets b ORDER BY n`);
  const points = rows.map(({ n, users }) => [Number(n), Number(users)]);
  const incomplete = await incompleteFrom(tables, question, untilMs);
  return { result: { stickiness: { points, incompleteFrom: incomplete } }, leftOut: {} };
}
