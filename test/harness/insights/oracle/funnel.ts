// Funnels. Every entry is followed alone: `reach` has, for each entry and step, all events with which it reached the
// step; in any order an entry has a list of the first times of each step.

import { dayMs } from '../../../../platform/clock.ts';
import type { FunnelQuery, Question } from '../questions/question.ts';
import type { Part } from './part.ts';
import { breakdownText, matches } from './statement/conditions.ts';
import { groupOf, othersCount, rankTables, readGroup } from './statement/groups.ts';
import { bucketKey, bucketTables, presentEvents, rangeMs } from './statement/selection.ts';
import type { Row, Tables } from './tables.ts';

const minuteMs = 60_000;

interface Funnel {
  count: number;
  /** The steps that are not optional, from 1: a level is a place among them. */
  path: number[];
  optional: number[];
  windowMs: number;
  query: FunnelQuery;
}

function funnelOf({ events = [], conversionWindowMs, funnel = {} }: Question): Funnel {
  const { length: count } = events;
  const { optionalSteps: optional = [] } = funnel;
  const path = numbers(1, count).filter((step) => !optional.includes(step));
  return { count, path, optional, windowMs: conversionWindowMs ?? dayMs, query: funnel };
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}

/** The events that are looked at, in order: usr, held, n, whether each is a step; x2 ends a chain after step 2. */
function eventTables(question: Question, { count, windowMs, query }: Funnel): string[] {
  const { from, to } = rangeMs(question);
  const { order, exclusions = [], holdProperty = '' } = query;
  const steps = (question.events ?? []).map(({ event }, index) => {
    const isEntry = order === 'ANY' || index > 0 ? '' : ` AND ts < ${to}`;
    return `(${matches(question, event)}${isEntry})`;
  });
  const excluded = exclusions.map(({ event }) => matches(question, event));
  const looked =
    order === 'STRICT' ? matches(question, {}) : `(${[...steps, ...excluded].join(' OR ')})`;
  const rank = [...steps, ...excluded].map(
    (one, index) => `WHEN ${one} THEN ${Math.min(index, count)}`,
  );
  const endsAfter = (step: number): string => {
    const ends = exclusions.flatMap(({ fromStep = 1, toStep = count }, index) =>
      step >= fromStep && step < toStep ? [excluded[index]] : [],
    );
    return `(${['false', ...ends].join(' OR ')})`;
  };
  const held =
    holdProperty === ''
      ? "''"
      : holdProperty === '$sessionId'
        ? 'session'
        : breakdownText(question, holdProperty);
  const flags = [
    ...steps.map((step, index) => `${step} AS is${index + 1}`),
    ...numbers(1, count).map((step) => `${endsAfter(step)} AS x${step}`),
  ];
  const own = 'PARTITION BY usr, held ORDER BY ts, place, id';
  const passed = numbers(1, count).flatMap((step) => [
    `count(*) FILTER (WHERE x${step}) OVER (${own} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS upto${step}`,
    `count(*) FILTER (WHERE x${step}) OVER (${own} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before${step}`,
  ]);
  const isEntry =
    order === 'ANY'
      ? `ts < ${to} AND (${numbers(1, count)
          .map((step) => `is${step}`)
          .join(' OR ')})`
      : 'is1';
  const first =
    query.reentry === 'FIRST'
      ? ' QUALIFY row_number() OVER (PARTITION BY usr, held ORDER BY n) = 1'
      : '';
  return [
    presentEvents(question),
    `looked AS (SELECT id, ts, usr, ${held} AS held, ${groupOf(question)} AS g, CASE ${rank.join(' ')} ELSE ${count + 1} END AS place,
      ${flags.join(', ')} FROM ev WHERE ts >= ${from} AND ts < ${to + windowMs} AND usr IS NOT NULL AND ${looked})`,
    `ordered AS (SELECT *, row_number() OVER (${own}) AS n, ${passed.join(', ')} FROM looked WHERE held IS NOT NULL)`,
    `all_entries AS (SELECT * FROM ordered WHERE ${isEntry})`,
    `entries AS (SELECT usr, held, n AS e, ts AS entered FROM all_entries${first})`,
  ];
}

/** `between` two events of a chain, after the step: nothing that ends it, and in a strict order nothing at all. */
function between(step: number, { query }: Funnel, one: string, other: string): string {
  const next = query.order === 'STRICT' ? `${other}.n = ${one}.n + 1` : `${other}.n > ${one}.n`;
  return `${next} AND ${other}.before${step} = ${one}.upto${step}`;
}

/** SELECT of the events with which an entry that reached the step `before` reaches another. */
function nextSql(funnel: Funnel, before: number, step: number): string {
  return `SELECT DISTINCT r.usr, r.held, r.e, r.entered, b.n FROM reach${before} r
      JOIN ordered a ON a.usr = r.usr AND a.held = r.held AND a.n = r.n
      JOIN ordered b ON b.usr = r.usr AND b.held = r.held AND b.is${step} AND b.ts - r.entered <= ${funnel.windowMs}
        AND ${between(before, funnel, 'a', 'b')}`;
}

/** `levels`: of each entry; `chains`: of each user and value, those that may be the user's. */
function inOrderTables(funnel: Funnel): string[] {
  const { path, optional } = funnel;
  const tables = ['reach1 AS (SELECT usr, held, e, entered, e AS n FROM entries)'];
  for (const [index, step] of path.slice(1).entries()) {
    tables.push(`reach${step} AS (${nextSql(funnel, path[index] ?? 1, step)})`);
  }
  for (const step of optional) {
    const before = path.filter((one) => one < step).at(-1) ?? 1;
    const after = path.find((one) => one > step) ?? step;
    tables.push(`reach${step} AS (${nextSql(funnel, before, step)})`);
    tables.push(`took${step} AS (SELECT DISTINCT usr FROM (${nextSql(funnel, step, after)}))`);
  }
  const reached = path.map((step, index) => `SELECT *, ${index + 1} AS step FROM reach${step}`);
  tables.push(
    `reach AS (${reached.join(' UNION ALL ')})`,
    'levels AS (SELECT usr, held, e, entered, max(step) AS level FROM reach GROUP BY ALL)',
    'furthest AS (SELECT usr, held, max(level) AS level FROM levels GROUP BY ALL)',
  );
  for (const level of numbers(1, path.length).reverse()) {
    const step = path[level - 1] ?? 1;
    const last = `SELECT r.usr, r.held, min(r.n) AS n FROM reach${step} r
      JOIN furthest f ON f.usr = r.usr AND f.held = r.held AND f.level = ${level} GROUP BY ALL`;
    const earlier = `SELECT r.usr, r.held, max(r.n) AS n FROM reach${step} r
      JOIN ordered o ON o.usr = r.usr AND o.held = r.held AND o.n = r.n
      JOIN at${level + 1} a ON a.usr = r.usr AND a.held = r.held AND ${between(step, funnel, 'o', 'a')} GROUP BY ALL`;
    const chosen = level === path.length ? last : `${last} UNION ALL ${earlier}`;
    tables.push(`at${level} AS (SELECT o.* FROM (${chosen}) c
      JOIN ordered o ON o.usr = c.usr AND o.held = c.held AND o.n = c.n)`);
  }
  const at = numbers(1, path.length).map(
    (step) => `SELECT usr, held, ${step} AS step, ts FROM at${step}`,
  );
  return [
    ...tables,
    `chains AS (SELECT usr, held, list(ts ORDER BY step) AS chain FROM (${at.join(' UNION ALL ')}) GROUP BY ALL)`,
  ];
}

function anyOrderTables({ count, windowMs }: Funnel): string[] {
  const times = numbers(1, count).map((step) => `min(o.ts) FILTER (WHERE o.is${step})`);
  return [
    `ended AS (SELECT r.*, (SELECT min(o.n) FROM ordered o WHERE o.usr = r.usr AND o.held = r.held AND o.n > r.e AND o.x1) AS last FROM entries r)`,
    `chains AS (SELECT r.usr, r.held, r.e, r.entered, list_sort(list_filter([${times.join(', ')}], lambda t: t IS NOT NULL)) AS chain
      FROM ended r JOIN ordered o ON o.usr = r.usr AND o.held = r.held AND o.n >= r.e
        AND o.ts - r.entered <= ${windowMs} AND (r.last IS NULL OR o.n <= r.last) GROUP BY ALL)`,
    'levels AS (SELECT usr, held, e, entered, len(chain) AS level FROM chains)',
  ];
}

/** `slotted`: each user's group; `best`: the one chain that tells the times. */
function funnelTables(question: Question): string {
  const funnel = funnelOf(question);
  return [
    ...eventTables(question, funnel),
    ...(funnel.query.order === 'ANY' ? anyOrderTables(funnel) : inOrderTables(funnel)),
    `best AS (SELECT usr, chain FROM chains
      QUALIFY row_number() OVER (PARTITION BY usr ORDER BY len(chain) DESC, chain[-1], list_reverse(chain) DESC) = 1)`,
    'owners AS (SELECT usr, first(g ORDER BY ts, id) AS g FROM all_entries GROUP BY usr)',
    rankTables(question, 'SELECT g, count(*) AS weight FROM owners GROUP BY g'),
    'slotted AS (SELECT usr, o.g, slot FROM owners o JOIN slots_of s ON s.g = o.g)',
  ].join(', ');
}

/** The first moment of which entries may still convert; undefined where all windows are over. */
function openFrom(question: Question, { windowMs }: Funnel): number | undefined {
  const { from, to } = rangeMs(question);
  const nowMs = Math.floor(Date.now() / minuteMs) * minuteMs;
  const openMs = Math.max(from, Math.min(question.asOfMs ?? nowMs, nowMs) - windowMs);
  return openMs < to ? openMs : undefined;
}

/** SQL over one row a user: the users of each step, and those who may go on. */
function totals({ path: { length: count } }: Funnel): string {
  const steps = numbers(1, count).map((step) => `count(*) FILTER (WHERE level >= ${step})`);
  return `[${steps.join(', ')}] AS totals, count(*) FILTER (WHERE level < ${count} AND is_open) AS open`;
}

export async function funnelAnswer(tables: Tables, question: Question): Promise<Part> {
  const funnel = funnelOf(question);
  const openMs = openFrom(question, funnel);
  const isOpen = `coalesce(max(entered) >= ${openMs ?? 'NULL'}, false) AS is_open`;
  const users = await tables.rows(`WITH ${funnelTables(question)}
    SELECT slot, first(s.g) AS g, (SELECT count(*) FROM ranked) AS groups, ${totals(funnel)}
    FROM slotted s JOIN (SELECT usr, max(level) AS level, ${isOpen} FROM levels GROUP BY usr) l ON l.usr = s.usr
    GROUP BY slot ORDER BY slot`);
  const times = question.includeStepTiming ? await stepTimes(tables, question) : [];
  const buckets = funnel.query.overTime ? await bucketRows(tables, question, isOpen) : [];
  const took = await tookRows(tables, question, funnel);
  const isBroken = (question.breakdowns ?? []).length > 0;
  const empty: Row = { slot: 1, g: [] };
  const rows = users.length === 0 && !isBroken ? [empty] : users;
  const series = rows.map((row) => ({
    ...readGroup(question, row),
    open: Number(row['open'] ?? 0),
    isIncomplete: openMs !== undefined,
    steps: (question.events ?? []).map(({ event }, index) => {
      const eventKind = event?.kind ?? '';
      const level = funnel.path.indexOf(index + 1) + 1;
      if (level === 0) {
        const own = took.find(({ slot, step }) => slot === row['slot'] && step === index + 1);
        return { eventKind, isOptional: true, total: Number(own?.['users'] ?? 0) };
      }
      const ofStep = times
        .filter(({ slot, step }) => slot === row['slot'] && Number(step) === level)
        .map(({ ms }) => Number(ms));
      const total = listOf(row['totals'])[level - 1] ?? 0;
      const hasTiming = question.includeStepTiming && level > 1;
      return { eventKind, total, ...(hasTiming && { timing: timing(ofStep) }) };
    }),
    buckets: buckets
      .filter(({ slot }) => slot === null || slot === row['slot'])
      .map((bucket) => [Number(bucket['start']), listOf(bucket['totals']), Number(bucket['open'])]),
  }));
  const others = othersCount(question, users[0]?.['groups'] ?? 0);
  return { result: { funnel: { series } }, leftOut: { GROUPS_IN_OTHERS: others } };
}

const listOf = (value: unknown): number[] => (Array.isArray(value) ? value.map(Number) : []);

/** Of each bucket and group; `slot` is null where there are no groups. */
async function bucketRows(tables: Tables, question: Question, isOpen: string): Promise<Row[]> {
  const funnel = funnelOf(question);
  return tables.rows(`WITH ${funnelTables(question)}, ${bucketTables(question)},
    entered AS (SELECT s.slot, l.usr, b.n, max(level) AS level, ${isOpen} FROM levels l
      JOIN slotted s ON s.usr = l.usr JOIN buckets b ON b.key = ${bucketKey(question, 'l.entered')} GROUP BY ALL),
    grid AS (SELECT b.n, b.start, s.slot FROM buckets b LEFT JOIN (SELECT DISTINCT slot FROM slotted) s ON true)
    SELECT g.n, g.start, g.slot, ${totals(funnel)} FROM grid g LEFT JOIN entered e ON e.n = g.n AND e.slot = g.slot
    GROUP BY ALL ORDER BY g.n`);
}

/** Of each group and optional step that somebody took. */
async function tookRows(tables: Tables, question: Question, { optional }: Funnel): Promise<Row[]> {
  if (optional.length === 0) return [];
  const users = optional.map((step) => `SELECT usr, ${step}::INTEGER AS step FROM took${step}`);
  return tables.rows(`WITH ${funnelTables(question)}
    SELECT slot, step, count(*) AS users FROM (${users.join(' UNION ALL ')}) t
    JOIN slotted s ON s.usr = t.usr GROUP BY slot, step`);
}

async function stepTimes(tables: Tables, question: Question): Promise<Row[]> {
  return tables.rows(`WITH ${funnelTables(question)}
    SELECT slot, step, chain[step] - chain[step - 1] AS ms FROM (SELECT usr, chain, unnest(range(2, len(chain) + 1)) AS step FROM best) b
    JOIN slotted s ON s.usr = b.usr ORDER BY ms`);
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
