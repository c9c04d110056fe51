// Retention: cohorts by the bucket of a user's first starting event, and who returned in it and in each later one.

import { dayMs } from '../../../../platform/clock.ts';
import type { Question } from '../questions/question.ts';
import type { Part } from './part.ts';
import { matches } from './statement/conditions.ts';
import { groupOf, othersCount, rankTables, readGroup } from './statement/groups.ts';
import { type Bucket, bucketsOf, incompleteFrom, knownMs } from './statement/incomplete.ts';
import {
  bucketKey,
  bucketTables,
  isInRange,
  presentEvents,
  rangeMs,
} from './statement/selection.ts';
import type { Row, Tables } from './tables.ts';
import { bySlot } from './trends.ts';

/** SQL over `users` of a starter: the number of the bucket in which an event returned. */
function returnSql({ retention }: Question): { join: string; bucket: string } {
  if (!retention?.rolling24h) return { join: 'JOIN buckets b ON b.key = u.key', bucket: 'b.n' };
  return { join: '', bucket: `c.n + (u.ts - c.start_ts) // ${dayMs}` };
}

export async function retentionAnswer(
  tables: Tables,
  question: Question,
  untilMs: number,
): Promise<Part> {
  const [start, back = start] = question.events ?? [];
  const isBroken = (question.breakdowns ?? []).length > 0;
  const { first = 'IN_RANGE', unbounded = false } = question.retention ?? {};
  const { from, to } = rangeMs(question);
  const { join, bucket } = returnSql(question);
  const isInTime = question.retention?.rolling24h ? `u.ts >= ${from}` : isInRange(question, 'u.ts');
  const rows = await tables.rows(`WITH ${presentEvents(question)}, ${bucketTables(question)},
    users AS (SELECT *, ${bucketKey(question, 'ts')} AS key, ${groupOf(question)} AS g
      FROM ev WHERE usr IS NOT NULL),
    starters AS (SELECT usr, first((ts, id) ORDER BY ts, id) AS at, min(ts) AS start_ts,
      first(key ORDER BY ts, id) AS key, first(g ORDER BY ts, id) AS g
      FROM users WHERE ${matches(question, start?.event)} AND ts < ${to} AND ${first === 'EVER' ? 'true' : `ts >= ${from}`}
      GROUP BY usr${first === 'RECURRING' ? ', key' : ''} HAVING min(ts) >= ${from}),
    ${rankTables(question, 'SELECT g, count(*) AS weight FROM starters GROUP BY g')},
    cohorts AS (SELECT s.usr, s.at, s.start_ts, slot, n FROM starters s
      JOIN slots_of o ON o.g = s.g JOIN buckets b ON b.key = s.key),
    returns AS (SELECT DISTINCT c.usr, c.slot, c.n AS cohort, ${bucket} AS bucket FROM cohorts c
      JOIN users u ON u.usr = c.usr ${join}
      WHERE ${isInTime} AND (u.ts, u.id) >= c.at AND ${bucket} <= (SELECT max(n) FROM buckets) AND ${matches(question, back?.event)}),
    places AS (${
      isBroken
        ? 'SELECT slot, first(g) AS g FROM slots_of GROUP BY slot'
        : 'SELECT 1 AS slot, []::VARCHAR[] AS g'
    })
    SELECT p.slot, p.g, c.n AS cohort, c.start AS cohort_start, b.start AS start,
      (SELECT count(*) FROM ranked) AS groups,
      (SELECT count(*) FROM cohorts x WHERE x.slot = p.slot AND x.n = c.n) AS size,
      (SELECT count(DISTINCT r.usr) FROM returns r WHERE r.slot = p.slot AND r.cohort = c.n
        AND r.bucket ${unbounded ? '>=' : '='} b.n) AS value
    FROM places p CROSS JOIN buckets c JOIN buckets b ON b.n >= c.n ORDER BY p.slot, c.n, b.n`);
  const buckets = await bucketsOf(tables, question);
  const isOver = overOf(question, buckets, knownMs(question, untilMs));
  const incomplete = await incompleteFrom(tables, question, untilMs);
  const series = bySlot(rows).map((slotRows) => ({
    ...readGroup(question, slotRows[0] ?? {}),
    ...withMeans(cohortsOf(slotRows), isOver),
    incompleteFrom: incomplete,
  }));
  const others = othersCount(question, rows[0]?.['groups'] ?? 0);
  return { result: { retention: { series } }, leftOut: { GROUPS_IN_OTHERS: others } };
}

interface Cohort {
  cohort: number;
  size: number;
  points: [number, number][];
}

function cohortsOf(rows: readonly Row[]): Cohort[] {
  const cohorts = new Map<unknown, Cohort>();
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

type IsOver = (cohort: number, place: number) => boolean;

/** Whether nobody of a cohort can come to be in a point any more. */
function overOf({ retention, ...question }: Question, buckets: Bucket[], known: number): IsOver {
  return (cohort, place) => {
    const later = retention?.unbounded ? buckets.length - 1 - cohort : place;
    if (!retention?.rolling24h) return (buckets[cohort + later]?.stop ?? 0) <= known;
    const lastStart = Math.min(buckets[cohort]?.stop ?? 0, rangeMs(question).to);
    return lastStart + (later + 1) * dayMs <= known;
  };
}

function withMeans(cohorts: readonly Cohort[], isOver: IsOver) {
  const means = cohorts.map((_, place) => {
    const over = cohorts.filter(
      ({ size, points }, cohort) => size > 0 && points[place] && isOver(cohort, place),
    );
    const [size, returned, shares] = over.reduce(
      ([sizes, all, parts], one) => {
        const back = one.points[place]?.[1] ?? 0;
        return [sizes + one.size, all + back, parts + back / one.size];
      },
      [0, 0, 0],
    );
    const some = over.length > 0;
    return {
      ...{ size, returned },
      share: some ? returned / size : undefined,
      meanOfShares: some ? shares / over.length : undefined,
    };
  });
  const shown = cohorts.map((one, cohort) => ({
    ...one,
    incompleteFrom: one.points.find((_, place) => !isOver(cohort, place))?.[0],
  }));
  return { cohorts: shown, means };
}
