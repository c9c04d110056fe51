// The persons behind a number of a question, by the ids that answers have: for each kind of point the plainest reading
// of the definition. Questions are of one kind of event by the day, and of another where they ask for two.

import { breakdownText, matches } from '../oracle/statement/conditions.ts';
import { text } from '../oracle/statement/literals.ts';
import {
  bucketKey,
  bucketTables,
  isInRange,
  presentEvents,
} from '../oracle/statement/selection.ts';
import type { Tables } from '../oracle/tables.ts';
import type { Question } from '../questions/question.ts';

export const lifecycleStates = ['NEW', 'RETURNING', 'RESURRECTING', 'DORMANT'] as const;

/** Buckets have their places from 1. */
export type PersonsPoint =
  | { of: 'bar'; bucket: number }
  | { of: 'step'; step: 1 | 2; droppedOff: boolean }
  | { of: 'cell'; bucket: number; returned?: number }
  | { of: 'state'; bucket: number; state: (typeof lifecycleStates)[number] }
  | { of: 'row'; property: string; value: string };

/** Ascending. */
export async function personsBehind(
  tables: Tables,
  question: Question,
  point: PersonsPoint,
): Promise<string[]> {
  const events = (question.events ?? []).map(({ event }) => event);
  const [first = question.topK?.scope, second = first] = events;
  const rows = await tables.rows(`WITH ${presentEvents(question)}, ${bucketTables(question)},
    day_before AS (SELECT 0 AS n, max_by(key, start) AS key FROM all_buckets
      WHERE start < (SELECT min(start) FROM buckets)),
    numbered AS (SELECT n, key FROM buckets UNION ALL SELECT n, key FROM day_before),
    seen AS (SELECT ev.*, numbered.n, CASE WHEN ${isInRange(question)} THEN n END AS inside FROM ev
      LEFT JOIN numbered ON key = ${bucketKey(question, 'ts')} WHERE usr IS NOT NULL),
    one AS (SELECT * FROM seen WHERE ${matches(question, first)}),
    other AS (SELECT * FROM seen WHERE ${matches(question, second)})
    SELECT DISTINCT person_id FROM (${personsSql(question, point)}) ORDER BY person_id`);
  return rows.map((row) => String(row['person_id']));
}

/** Over `one` and `other`, the events with the place of their bucket, `n`, and of those in the range, `inside`. */
function personsSql(question: Question, point: PersonsPoint): string {
  switch (point.of) {
    case 'bar':
      return `SELECT person_id FROM one WHERE inside = ${point.bucket}`;
    case 'step': {
      const windowMs = question.conversionWindowMs ?? 0;
      const entered = 'SELECT person_id FROM one WHERE inside IS NOT NULL';
      const converted = `SELECT one.person_id FROM one JOIN other ON other.usr = one.usr AND other.ts >= one.ts
        AND other.ts - one.ts <= ${windowMs} WHERE one.inside IS NOT NULL`;
      if (point.step === 2) return converted;
      return point.droppedOff ? `(${entered}) EXCEPT (${converted})` : entered;
    }
    case 'cell': {
      const starts = `SELECT usr, first((ts, id) ORDER BY ts, id) AS at, first(n ORDER BY ts, id) AS cohort FROM one
        WHERE inside IS NOT NULL GROUP BY usr`;
      const isBack = point.returned === undefined ? '' : `AND inside = ${point.returned}`;
      return `SELECT person_id FROM one JOIN (${starts}) s USING (usr)
        WHERE cohort = ${point.bucket} AND (ts, id) >= s.at ${isBack}`;
    }
    case 'state':
      return stateSql(point.state, point.bucket);
    case 'row':
      return `SELECT person_id FROM one WHERE inside IS NOT NULL AND ${breakdownText(question, point.property)} = ${text(point.value)}`;
    default:
      return point satisfies never;
  }
}

/** The bucket before the first one is looked at whole. */
function stateSql(state: (typeof lifecycleStates)[number], bucket: number): string {
  const active = (n: number): string =>
    `SELECT person_id FROM one WHERE n = ${n} AND (inside IS NOT NULL OR n = 0)`;
  const day = (column: string): string => `(SELECT ${column} FROM buckets WHERE n = ${bucket})`;
  const born = `SELECT any_value(person_id) AS person_id FROM ev WHERE usr IS NOT NULL GROUP BY usr
    HAVING min(ts) >= ${day('start')} AND min(ts) < ${day('stop')}`;
  switch (state) {
    case 'NEW':
      return `(${active(bucket)}) INTERSECT (${born})`;
    case 'RETURNING':
      return `(${active(bucket)}) INTERSECT (${active(bucket - 1)})`;
    case 'RESURRECTING':
      return `(${active(bucket)}) EXCEPT (${active(bucket - 1)}) EXCEPT (${born})`;
    case 'DORMANT':
      return `(${active(bucket - 1)}) EXCEPT (${active(bucket)})`;
    default:
      return state satisfies never;
  }
}
