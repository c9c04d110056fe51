// Revenue: payments of each currency and group, bucket by bucket. Each number is of one currency alone.

import type { EventQuery, Question, RevenueMeasure } from '../questions/question.ts';
import type { Part } from './part.ts';
import { matches, numberOf } from './statement/conditions.ts';
import { exactMean, exactSum } from './statement/exact-sum.ts';
import { formulaValue } from './statement/formulas.ts';
import { groupOf, limitOf, valueOrder } from './statement/groups.ts';
import { incompleteFrom } from './statement/incomplete.ts';
import { bucketKey, bucketTables, isInRange, presentEvents } from './statement/selection.ts';
import type { Row, Tables } from './tables.ts';

const maxCurrencies = 20;

/** SQL of the payments of a series: `id`, `ts`, `usr`, the currency `c`, the group `g` and the number `v`. */
function paymentsSql(question: Question, { event, aggregationProperty = 'amount' }: EventQuery) {
  const number = numberOf(aggregationProperty);
  return `SELECT ts, usr, texts['currency'] AS c, ${groupOf(question)} AS g, ${number} AS v
    FROM ev WHERE ${isInRange(question)} AND ${matches(question, event)} AND ${number} IS NOT NULL`;
}

/**
 * The common tables `slots_of` (c, m, g, slot) of all series together, where m numbers the currencies and slot is the
 * group's place in its currency or one more than the limit, and `places`, one row for each slot.
 */
function groupTables(question: Question): string {
  const { events = [] } = question;
  const all = events.map((series) => paymentsSql(question, series)).join(' UNION ALL ');
  return `${presentEvents(question)}, ${bucketTables(question)},
    weighed AS (SELECT c, g, count(*) AS weight FROM (${all}) GROUP BY c, g),
    money AS (SELECT c, row_number() OVER (ORDER BY sum(weight) DESC, c NULLS FIRST) AS m, count(*) AS groups
      FROM weighed GROUP BY c),
    slots_of AS (SELECT w.c, m, g, groups, least(${limitOf(question) + 1},
        row_number() OVER (PARTITION BY m ORDER BY weight DESC, ${valueOrder(question, 'g')})) AS slot
      FROM weighed w JOIN money ON money.c IS NOT DISTINCT FROM w.c WHERE m <= ${maxCurrencies}),
    places AS (SELECT c, m, slot, any_value(groups) AS groups, first(g) AS g FROM slots_of GROUP BY c, m, slot)`;
}

/** One row for each place and bucket: the numbers of its payments, those of users, who paid, and who did anything. */
function rowsSql(question: Question, series: EventQuery): string {
  const group = groupOf(question);
  // Rows of a bucket count in it, and where the question is cumulative, in each later one.
  const within = (row: string): string => `${row}.at ${question.cumulative ? '<=' : '='} b.n`;
  return `WITH ${groupTables(question)},
    paid AS (SELECT m, slot, usr, v, o.n AS at FROM (${paymentsSql(question, series)}) p
      JOIN slots_of s ON s.c IS NOT DISTINCT FROM p.c AND s.g IS NOT DISTINCT FROM p.g
      JOIN buckets o ON o.key = ${bucketKey(question, 'p.ts')}),
    did AS (SELECT DISTINCT usr, ${group} AS g, ${bucketKey(question, 'ts')} AS key FROM ev
      WHERE ${isInRange(question)} AND ${matches(question, undefined)} AND usr IS NOT NULL),
    active AS (SELECT usr, money.m, coalesce(s.slot, ${limitOf(question) + 1}) AS slot, o.n AS at
      FROM did JOIN buckets o ON o.key = did.key CROSS JOIN money
      LEFT JOIN slots_of s ON s.m = money.m AND s.g IS NOT DISTINCT FROM did.g),
    payments AS (SELECT m, slot, b.n, list(v) AS sums, list(v) FILTER (WHERE usr IS NOT NULL) AS of_users,
      count(DISTINCT usr) AS payers FROM paid JOIN buckets b ON ${within('paid')} GROUP BY m, slot, b.n),
    actives AS (SELECT m, slot, b.n, count(DISTINCT usr) AS users
      FROM active JOIN buckets b ON ${within('active')} GROUP BY m, slot, b.n)
    SELECT p.c, p.m, p.slot, p.g, p.groups, b.start, sums, of_users, payers, users
    FROM places p CROSS JOIN buckets b
    LEFT JOIN payments ON payments.m = p.m AND payments.slot = p.slot AND payments.n = b.n
    LEFT JOIN actives ON actives.m = p.m AND actives.slot = p.slot AND actives.n = b.n
    ORDER BY p.m, p.slot, b.start`;
}

function numberOfRow(row: Row, measure: RevenueMeasure = 'TOTAL'): number {
  const numbers = (value: unknown): number[] => (Array.isArray(value) ? value.map(Number) : []);
  switch (measure) {
    case 'TOTAL':
      return exactSum(numbers(row['sums']));
    case 'PAYMENTS':
      return numbers(row['sums']).length;
    case 'PER_PAYING_USER':
      return exactMean(numbers(row['of_users']), Number(row['payers'] ?? 0));
    case 'PER_USER':
      return exactMean(numbers(row['of_users']), Number(row['users'] ?? 0));
    default:
      return measure satisfies never;
  }
}

interface Answered {
  head: Record<string, unknown>;
  points: [start: number, value: number | undefined][];
}

function headOf(question: Question, { c, g, slot }: Row): Record<string, unknown> {
  const { breakdowns = [] } = question;
  const isOthers = breakdowns.length > 0 && Number(slot) > limitOf(question);
  const values = !isOthers && Array.isArray(g) ? g : [];
  const named = breakdowns.flatMap((name, at) =>
    typeof values[at] === 'string' ? [[name, values[at]] as const] : [],
  );
  return {
    ...(typeof c === 'string' && { currency: c }),
    ...{ breakdown: Object.fromEntries(named), isOthers },
  };
}

function byPlace(rows: readonly Row[]): Row[][] {
  const places = new Map<string, Row[]>();
  for (const row of rows) {
    const place = `${row['m']} ${row['slot']}`;
    places.set(place, [...(places.get(place) ?? []), row]);
  }
  return [...places.values()];
}

export async function revenueAnswer(
  tables: Tables,
  question: Question,
  untilMs: number,
): Promise<Part> {
  const { events = [], formulas = [] } = question;
  const series: Answered[][] = [];
  let others = 0;
  for (const [eventIndex, query] of events.entries()) {
    const rows = await tables.rows(rowsSql(question, query));
    const places = byPlace(rows);
    others = places
      .filter(([row = {}]) => headOf(question, row)['isOthers'])
      .reduce((sum, [row]) => sum + Number(row?.['groups']) - limitOf(question), 0);
    series.push(
      places.map((ofPlace) => ({
        head: {
          eventKind: query.event?.kind ?? '',
          eventIndex,
          ...headOf(question, ofPlace[0] ?? {}),
        },
        points: ofPlace.map((row) => [Number(row['start']), numberOfRow(row, query.revenue)]),
      })),
    );
  }
  const made = formulas.map(({ expression }, formulaIndex) =>
    (series[0] ?? []).map(
      ({ head, points }, place): Answered => ({
        head: { ...head, eventKind: '', eventIndex: 0, formulaIndex },
        points: points.map(([start], at) => [
          start,
          formulaValue(
            expression,
            series.map((groups) => groups[place]?.points[at]?.[1] ?? 0),
          ),
        ]),
      }),
    ),
  );
  const incomplete = await incompleteFrom(tables, question, untilMs);
  const shown = [...series, ...made]
    .flat()
    .map(({ head, points }) => ({ ...head, points, incompleteFrom: incomplete }));
  return { result: { revenue: { series: shown } }, leftOut: { GROUPS_IN_OTHERS: others } };
}
