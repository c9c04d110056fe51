// Retention: cohorts by the bucket of a user's first starting event, and who returned in it and in each later one.

import type { Question } from '../questions/question.ts';
import type { Part } from './part.ts';
import { matches } from './statement/conditions.ts';
import { groupOf, othersCount, rankTables, readGroup } from './statement/groups.ts';
import { bucketKey, bucketTables, isInRange, presentEvents } from './statement/selection.ts';
import type { Row, Tables } from './tables.ts';
import { bySlot } from './trends.ts';

export async function retentionAnswer(tables: Tables, question: Question): Promise<Part> {
  const [start, back = start] = question.events ?? [];
  const isBroken = (question.breakdowns ?? []).length > 0;
  const rows = await tables.rows(`WITH ${presentEvents(question)}, ${bucketTables(question)},
    users AS (SELECT *, ${bucketKey(question, 'ts')} AS key, ${groupOf(question)} AS g
      FROM ev WHERE ${isInRange(question)} AND usr IS NOT NULL),
    starters AS (SELECT usr, first((ts, id) ORDER BY ts, id) AS at, first(key ORDER BY ts, id) AS key,
      first(g ORDER BY ts, id) AS g FROM users WHERE ${matches(question, start?.event)} GROUP BY usr),
    ${rankTables(question, 'SELECT g, count(*) AS weight FROM starters GROUP BY g')},
    cohorts AS (SELECT s.usr, s.at, slot, n FROM starters s
      JOIN slots_of o ON o.g = s.g JOIN buckets b ON b.key = s.key),
    returns AS (SELECT DISTINCT c.usr, c.slot, c.n AS cohort, b.n AS bucket FROM cohorts c
      JOIN users u ON u.usr = c.usr JOIN buckets b ON b.key = u.key
      WHERE (u.ts, u.id) >= c.at AND ${matches(question, back?.event)}),
    places AS (${
      isBroken
        ? 'SELECT slot, first(g) AS g FROM slots_of GROUP BY slot'
        : 'SELECT 1 AS slot, []::VARCHAR[] AS g'
    })
    SELECT p.slot, p.g, c.n AS cohort, c.start AS cohort_start, b.start AS start,
      (SELECT count(*) FROM ranked) AS groups,
      (SELECT count(*) FROM cohorts x WHERE x.slot = p.slot AND x.n = c.n) AS size,
      (SELECT count(*) FROM returns r WHERE r.slot = p.slot AND r.cohort = c.n AND r.bucket = b.n) AS value
    FROM places p CROSS JOIN buckets c JOIN buckets b ON b.n >= c.n ORDER BY p.slot, c.n, b.n`);
  const series = bySlot(rows).map((slotRows) => ({
    ...readGroup(question, slotRows[0] ?? {}),
    cohorts: cohortsOf(slotRows),
  }));
  const others = othersCount(question, rows[0]?.['groups'] ?? 0);
  return { result: { retention: { series } }, leftOut: { GROUPS_IN_OTHERS: others } };
}

function cohortsOf(rows: readonly Row[]): Record<string, unknown>[] {
  const cohorts = new Map<unknown, { cohort: number; size: number; points: [number, number][] }>();
  for (const { cohort, cohort_start: cohortStart, size, start, value } of rows) {
    const known = cohorts.get(cohort) ?? {
      cohort: Number(cohortStart),
      size: Number(size),
      points: [],
    };
    known.points.push([Number(start), Number(value)]);
    cohorts.set(cohort, known);
  }
  return [...cohorts.values()];
}
