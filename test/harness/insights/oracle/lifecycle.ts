// Lifecycle and stickiness: the buckets in which users were active.

import type { Question } from '../questions/question.ts';
import type { Part } from './part.ts';
import { matches } from './statement/conditions.ts';
import { groupOf, othersCount, rankTables, readGroup } from './statement/groups.ts';
import { incompleteFrom, knownMs } from './statement/incomplete.ts';
import {
  bucketKey,
  bucketTables,
  isInRange,
  presentEvents,
  rangeMs,
} from './statement/selection.ts';
import type { Row, Tables } from './tables.ts';
import { bySlot } from './trends.ts';

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
    seen AS (SELECT usr, ts, id, ${groupOf(question)} AS g, ${bucketKey(question, 'ts')} AS key FROM ev
      WHERE usr IS NOT NULL AND ${matches(question, series?.event)} AND ts < ${to}),
    looked_at AS (SELECT usr, n, g, ts, id FROM seen JOIN numbered USING (key) WHERE (n = 0 OR ts >= ${from})),
    touched AS (SELECT usr, first(g ORDER BY ts, id) AS g FROM looked_at GROUP BY usr),
    ${rankTables(question, 'SELECT g, count(*) AS weight FROM touched GROUP BY g')},
    active AS (SELECT DISTINCT l.usr, n, slot FROM looked_at l
      JOIN touched t ON t.usr = l.usr JOIN slots_of o ON o.g = t.g),
    firsts AS (SELECT usr, min(ts) AS first_ts FROM ev WHERE usr IS NOT NULL GROUP BY usr),
    here AS (SELECT a.usr, a.n, a.slot, first_ts >= start AND first_ts < stop AS is_new,
      EXISTS (SELECT 1 FROM active p WHERE p.usr = a.usr AND p.n = a.n - 1) AS was_active
      FROM active a JOIN numbered b ON b.n = a.n JOIN firsts f ON f.usr = a.usr WHERE a.n > 0),
    gone AS (SELECT p.n + 1 AS n, p.slot FROM active p
      WHERE NOT EXISTS (SELECT 1 FROM active a WHERE a.usr = p.usr AND a.n = p.n + 1)),
    places AS (SELECT slot, first(g) AS g FROM slots_of GROUP BY slot UNION ALL SELECT 0, []::VARCHAR[])
    SELECT p.slot, p.g, b.start, (SELECT count(*) FROM ranked) AS groups,
      (SELECT count(*) FROM here h WHERE h.n = b.n AND p.slot IN (0, h.slot) AND is_new) AS new,
      (SELECT count(*) FROM here h WHERE h.n = b.n AND p.slot IN (0, h.slot) AND NOT is_new AND was_active) AS returning,
      (SELECT count(*) FROM here h WHERE h.n = b.n AND p.slot IN (0, h.slot) AND NOT is_new AND NOT was_active) AS resurrecting,
      (SELECT count(*) FROM gone g WHERE g.n = b.n AND p.slot IN (0, g.slot)) AS dormant
    FROM places p CROSS JOIN buckets b ORDER BY p.slot, b.n`);
  const incomplete = await incompleteFrom(tables, question, untilMs);
  const shown = shownGroups(question, rows, (slotRows) => {
    const points = (name: string): [number, number][] =>
      slotRows.map((row) => [Number(row['start']), Number(row[name])]);
    return {
      newUsers: points('new'),
      returningUsers: points('returning'),
      resurrectingUsers: points('resurrecting'),
      dormantUsers: points('dormant'),
      incompleteFrom: incomplete,
    };
  });
  return { result: { lifecycle: shown.result }, leftOut: shown.leftOut };
}

/** Of rows by slot, in which 0 is all users together: what each is shown as, and how many groups are in the others. */
function shownGroups<T>(question: Question, rows: readonly Row[], shown: (rows: Row[]) => T) {
  const [whole = [], ...groups] = bySlot(rows);
  const isBroken = (question.breakdowns ?? []).length > 0;
  const series = (isBroken ? groups : []).map((slotRows) => ({
    ...readGroup(question, slotRows[0] ?? {}),
    ...shown(slotRows),
  }));
  const others = othersCount(question, rows[0]?.['groups'] ?? 0);
  return { result: { ...shown(whole), series }, leftOut: { GROUPS_IN_OTHERS: others } };
}

export async function stickinessAnswer(
  tables: Tables,
  question: Question,
  untilMs: number,
): Promise<Part> {
  if (question.eventsPerUser !== undefined) return eventsAnswer(tables, question, untilMs);
  const [series] = question.events ?? [];
  const rows = await tables.rows(`WITH ${presentEvents(question)}, ${bucketTables(question)},
    counted AS (SELECT usr, count(DISTINCT ${bucketKey(question, 'ts')}) AS active,
        first(${groupOf(question)} ORDER BY ts, id) AS g FROM ev
      WHERE ${isInRange(question)} AND usr IS NOT NULL AND ${matches(question, series?.event)} GROUP BY usr),
    ${rankTables(question, 'SELECT g, count(*) AS weight FROM counted GROUP BY g')},
    placed AS (SELECT active, slot FROM counted c JOIN slots_of o ON o.g = c.g),
    places AS (SELECT slot, first(g) AS g FROM slots_of GROUP BY slot UNION ALL SELECT 0, []::VARCHAR[])
    SELECT p.slot, p.g, n, (SELECT count(*) FROM ranked) AS groups, (SELECT count(*) FROM placed c
      WHERE c.active ${question.cumulative ? '>=' : '='} b.n AND p.slot IN (0, c.slot)) AS users
    FROM places p CROSS JOIN buckets b ORDER BY p.slot, n`);
  const incomplete = await incompleteFrom(tables, question, untilMs);
  const shown = shownGroups(question, rows, (slotRows) => ({
    points: slotRows.map(({ n, users }) => [Number(n), Number(users)]),
    incompleteFrom: incomplete,
  }));
  return { result: { stickiness: shown.result }, leftOut: shown.leftOut };
}

/** Users by the number of their events: each is a line of the points whose bounds hold it. */
async function eventsAnswer(tables: Tables, question: Question, untilMs: number): Promise<Part> {
  const [series] = question.events ?? [];
  const { bounds = Array.from({ length: 20 }, (_, index) => index + 1) } =
    question.eventsPerUser ?? {};
  const rows = await tables.rows(`WITH ${presentEvents(question)},
    counted AS (SELECT usr, count(*) AS events, first(${groupOf(question)} ORDER BY ts, id) AS g FROM ev
      WHERE ${isInRange(question)} AND usr IS NOT NULL AND ${matches(question, series?.event)} GROUP BY usr),
    ${rankTables(question, 'SELECT g, count(*) AS weight FROM counted GROUP BY g')},
    placed AS (SELECT events, slot FROM counted c JOIN slots_of o ON o.g = c.g),
    places AS (SELECT slot, first(g) AS g FROM slots_of GROUP BY slot UNION ALL SELECT 0, []::VARCHAR[])
    SELECT p.slot, p.g, (SELECT count(*) FROM ranked) AS groups,
      (SELECT list(events) FROM placed c WHERE p.slot IN (0, c.slot)) AS numbers
    FROM places p ORDER BY p.slot`);
  const { from, to } = rangeMs(question);
  const incomplete = knownMs(question, untilMs) < to ? from : undefined;
  const shown = shownGroups(question, rows, ([row]) => {
    const numbers = row?.['numbers'];
    const all = Array.isArray(numbers) ? numbers.map(Number) : [];
    const points = bounds.map((least, index) => {
      const next = bounds[index + 1];
      const isWithin = (events: number): boolean =>
        events >= least && (question.cumulative === true || next === undefined || events < next);
      const last = next === undefined || question.cumulative ? null : next - 1;
      return [least, last, all.filter(isWithin).length];
    });
    return { points, incompleteFrom: incomplete };
  });
  return { result: { stickiness: shown.result }, leftOut: shown.leftOut };
}
