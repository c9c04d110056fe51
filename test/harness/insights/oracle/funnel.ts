// Funnels. An event's `began` for a step is the latest first step of all chains that end with it; a chain reaches the
// step where `began` is within the conversion window.

import { dayMs } from '../../../../platform/clock.ts';
import type { Question } from '../questions/question.ts';
import type { Part } from './part.ts';
import { matches } from './statement/conditions.ts';
import { groupOf, othersCount, rankTables, readGroup } from './statement/groups.ts';
import { isInRange, presentEvents } from './statement/selection.ts';
import type { Row, Tables } from './tables.ts';
import { bySlot } from './trends.ts';

/** The common tables up to `slotted`: each user's group, and `times`: when each user was at each step. */
function funnelTables(question: Question): string {
  const steps = (question.events ?? []).map(({ event }) => matches(question, event));
  const window = question.conversionWindowMs ?? dayMs;
  const firstMatch = steps.map((step, index) => `WHEN ${step} THEN ${index + 1}`).join(' ');
  const parts = [
    presentEvents(question),
    `steps_of AS (SELECT id, ts, usr, ${groupOf(question)} AS g, CASE ${firstMatch} END AS first_step,
      ${steps.map((step, index) => `${step} AS is${index + 1}`).join(', ')}
      FROM ev WHERE ${isInRange(question)} AND usr IS NOT NULL AND (${steps.join(' OR ')}))`,
    `ordered AS (SELECT *, row_number() OVER (PARTITION BY usr ORDER BY ts, first_step, id) AS n FROM steps_of)`,
    `chain1 AS (SELECT *, CASE WHEN is1 THEN ts END AS began1 FROM ordered)`,
  ];
  for (let step = 2; step <= steps.length; step++) {
    parts.push(`chain${step} AS (SELECT *, CASE WHEN is${step} THEN max(began${step - 1}) OVER (
      PARTITION BY usr ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) END AS began${step}
      FROM chain${step - 1})`);
  }
  const reached = steps.map((_, index) => {
    const step = index + 1;
    return `SELECT usr, ${step} AS step, n, ts FROM chain${steps.length}
      WHERE began${step} IS NOT NULL AND ts - began${step} <= ${window}`;
  });
  parts.push(`reached AS (${reached.join(' UNION ALL ')})`);
  parts.push('furthest AS (SELECT usr, max(step) AS furthest FROM reached GROUP BY usr)');
  return [...parts, ...timeTables(steps.length), ...groupTables(question)].join(', ');
}

/** From the furthest step back: the earliest event of the furthest, and the latest before of each other step. */
function timeTables(steps: number): string[] {
  const tables: string[] = [];
  for (let step = steps; step >= 1; step--) {
    const last = `SELECT r.usr, min(r.n) AS n FROM reached r JOIN furthest f ON f.usr = r.usr
      WHERE r.step = ${step} AND f.furthest = ${step} GROUP BY r.usr`;
    const before = `SELECT r.usr, max(r.n) AS n FROM reached r JOIN at${step + 1} a ON a.usr = r.usr
      WHERE r.step = ${step} AND r.n < a.n GROUP BY r.usr`;
    const chosen = step === steps ? last : `${last} UNION ALL ${before}`;
    tables.push(`at${step} AS (SELECT c.usr, c.n, o.ts FROM (${chosen}) c
      JOIN ordered o ON o.usr = c.usr AND o.n = c.n)`);
  }
  return tables;
}

function groupTables(question: Question): string[] {
  return [
    'owners AS (SELECT usr, first(g ORDER BY ts, id) AS g FROM ordered WHERE is1 GROUP BY usr)',
    rankTables(question, 'SELECT g, count(*) AS weight FROM owners GROUP BY g'),
    'slotted AS (SELECT usr, o.g, slot FROM owners o JOIN slots_of s ON s.g = o.g)',
  ];
}

export async function funnelAnswer(tables: Tables, question: Question): Promise<Part> {
  const count = (question.events ?? []).length;
  const isBroken = (question.breakdowns ?? []).length > 0;
  const users = await tables.rows(`WITH ${funnelTables(question)}
    SELECT slot, first(s.g) AS g, (SELECT count(*) FROM ranked) AS groups,
      ${Array.from({ length: count }, (_, index) => `count(*) FILTER (WHERE furthest >= ${index + 1}) AS total${index + 1}`).join(', ')}
    FROM slotted s JOIN furthest f ON f.usr = s.usr GROUP BY slot ORDER BY slot`);
  const times = question.includeStepTiming ? await stepTimes(tables, question, count) : [];
  const empty: Row = { slot: 1, g: [] };
  const rows = users.length === 0 && !isBroken ? [empty] : users;
  const series = rows.map((row) => ({
    ...readGroup(question, row),
    steps: (question.events ?? []).map(({ event }, index) => ({
      eventKind: event?.kind ?? '',
      total: Number(row[`total${index + 1}`] ?? 0),
      ...(question.includeStepTiming &&
        index > 0 && {
          timing: timing(
            times
              .filter(({ slot, step }) => slot === row['slot'] && Number(step) === index + 1)
              .map(({ ms }) => Number(ms)),
          ),
        }),
    })),
  }));
  const others = othersCount(question, users[0]?.['groups'] ?? 0);
  return { result: { funnel: { series } }, leftOut: { GROUPS_IN_OTHERS: others } };
}

async function stepTimes(tables: Tables, question: Question, count: number): Promise<Row[]> {
  const steps = Array.from(
    { length: count - 1 },
    (_, index) => `SELECT slot, ${index + 2} AS step, b.ts - a.ts AS ms FROM at${index + 1} a
      JOIN at${index + 2} b ON b.usr = a.usr JOIN slotted s ON s.usr = a.usr`,
  );
  const rows = await tables.rows(
    `WITH ${funnelTables(question)} ${steps.join(' UNION ALL ')} ORDER BY ms`,
  );
  return bySlot(rows).flat();
}

const secondMs = 1_000;
const bounds = [10, 60, 600, 3_600, 21_600, 86_400, 604_800, 2_592_000].map((s) => s * secondMs);

/** `times` in ascending order. */
function timing(times: readonly number[]): Record<string, unknown> {
  const sum = times.reduce((total, ms) => total + ms, 0);
  const notExceededBy = (part: number): number =>
    times.find((_, index) => (index + 1) * 100 >= part * times.length) ?? 0;
  const lower = [-1, ...bounds];
  return {
    avg: times.length === 0 ? 0 : sum / times.length,
    median: notExceededBy(50),
    p95: notExceededBy(95),
    distribution: [...bounds, undefined].map((upper, index) => ({
      upperBound: upper ?? null,
      count: times.filter((ms) => ms > (lower[index] ?? 0) && ms <= (upper ?? Infinity)).length,
    })),
  };
}
