// Questions about funnels: in order, in any order, in one visit, and over time. Entries lie in the range, and later
// steps may follow it within the window.

import { dayMs } from '../../../../platform/clock.ts';
import type { JsonObject } from '../../../../platform/json.ts';
import { listOf, numberOf, secondsOf } from '../answers.ts';
import type { Layout } from '../layout.ts';
import { type AnswerRow, type Asked, type Question, within } from '../question.ts';

export const steps = ['product_viewed', 'add_to_cart', 'purchase'] as const;

export const milliseconds = (layout: Layout): string =>
  `toUInt64(toUnixTimestamp64Milli(toDateTime64(${layout.time}, 3)))`;

/** The FROM and WHERE of all steps, in the range and a window longer. */
export function fromSteps(layout: Layout, { fromMs, toMs }: Asked): string {
  const isStep = steps.map((kind) => `${layout.kind} = '${kind}'`).join(' OR ');
  return `FROM ${layout.fromPersons} WHERE ${within(layout, { fromMs, toMs: toMs + dayMs })} AND ${layout.hasUser} AND (${isStep})`;
}

/** How far the steps were reached in this order, by an entry in the range. */
export function reachedIn(layout: Layout, { toMs }: Asked, order: readonly string[]): string {
  const isStep = order.map((kind, index) => {
    const isEntry = index > 0 ? '' : ` AND ${layout.time} < fromUnixTimestamp64Milli(${toMs})`;
    return `${layout.kind} = '${kind}'${isEntry}`;
  });
  return `windowFunnel(${dayMs})(${milliseconds(layout)}, ${isStep.join(', ')})`;
}

/** `users` has `reached` of each. */
export const countedSteps = (
  users: string,
): string => `SELECT step, countIf(reached >= step) FROM (${users})
  ARRAY JOIN [1, 2, 3] AS step GROUP BY step`;

export function funnelOf(
  name: string,
  funnel: JsonObject,
  parts: Pick<Question, 'sql'> & Partial<Pick<Question, 'rowsOf' | 'days' | 'queries'>>,
): Question {
  const spec = {
    ...{ insightType: 'INSIGHT_TYPE_FUNNEL', conversionWindow: '86400s', funnel },
    events: steps.map((kind) => ({ event: { kind } })),
  };
  return {
    ...{ name, daysAreKept: false, days: 30 },
    queries: [{ granularity: 'GRANULARITY_DAY', spec }],
    rowsOf: stepRows,
    ...parts,
  };
}

function stepRows(answers: readonly JsonObject[]): AnswerRow[] {
  return answers.flatMap((answer) =>
    listOf(answer, 'funnel', 'series').flatMap((series) =>
      listOf(series, 'steps').map((step, index) => [String(index + 1), numberOf(step['total'])]),
    ),
  );
}

/** SELECT of each person, and of how far the steps were reached. */
export function reachedSql(layout: Layout, asked: Asked): string {
  return `SELECT ${layout.user} AS person, ${reachedIn(layout, asked, steps)} AS reached
    ${fromSteps(layout, asked)} GROUP BY person`;
}

const inOrder = funnelOf(
  'funnel of 3 steps',
  {},
  { sql: (layout, asked) => countedSteps(reachedSql(layout, asked)) },
);

const [one, two, three] = steps;
const everyOrder = [
  ...[
    [one, two, three],
    [one, three, two],
    [two, one, three],
  ],
  ...[
    [two, three, one],
    [three, one, two],
    [three, two, one],
  ],
];

/** The same in any order: the furthest of every order of the steps. */
export function anyOrderReached(layout: Layout, asked: Asked): string {
  const reached = everyOrder.map((order) => reachedIn(layout, asked, order));
  return `SELECT ${layout.user} AS person, greatest(${reached.join(', ')}) AS reached
    ${fromSteps(layout, asked)} GROUP BY person HAVING reached > 0`;
}

const anyOrder = funnelOf(
  'funnel of 3 steps in any order',
  { order: 'ORDER_ANY' },
  { sql: (layout, asked) => countedSteps(anyOrderReached(layout, asked)) },
);

/** The same within one visit. */
export function visitReached(layout: Layout, asked: Asked): string {
  return `SELECT person, max(reached) AS reached FROM (
      SELECT ${layout.user} AS person, ${reachedIn(layout, asked, steps)} AS reached ${fromSteps(layout, asked)} GROUP BY person, ${layout.session})
    GROUP BY person`;
}

const inOneVisit = funnelOf(
  'funnel of 3 steps in one visit',
  { holdProperty: '$sessionId' },
  { sql: (layout, asked) => countedSteps(visitReached(layout, asked)) },
);

/** Of each entry the first later steps. */
const overTime = funnelOf(
  'funnel of 3 steps, by the day',
  { overTime: true },
  {
    sql: (layout, asked) => {
      const [entries, carts, purchases] = steps.map((kind, index) => {
        const isEntry =
          index > 0 ? '' : ` AND ${layout.time} < fromUnixTimestamp64Milli(${asked.toMs})`;
        return `groupArrayIf(${milliseconds(layout)}, ${layout.kind} = '${kind}'${isEntry})`;
      });
      return `SELECT toUnixTimestamp(toDateTime(day, '${asked.timezone}')), step, countIf(reached >= step) AS users FROM (
        SELECT person, toDate(fromUnixTimestamp64Milli(toInt64(entry)), '${asked.timezone}') AS day, max(level) AS reached FROM (
          SELECT person, entry, arrayMin(arrayFilter(ms -> ms >= entry AND ms <= entry + ${dayMs}, carts)) AS cart,
            arrayMin(arrayFilter(ms -> ms >= cart AND ms <= entry + ${dayMs}, purchases)) AS bought,
            multiIf(cart = 0, 1, bought = 0, 2, 3) AS level
          FROM (SELECT ${layout.user} AS person, ${entries} AS entries, ${carts} AS carts, ${purchases} AS purchases
            ${fromSteps(layout, asked)} GROUP BY person) ARRAY JOIN entries AS entry)
        GROUP BY person, day)
      ARRAY JOIN [1, 2, 3] AS step GROUP BY day, step HAVING users > 0`;
    },
    rowsOf: (answers) =>
      answers.flatMap((answer) =>
        listOf(answer, 'funnel', 'series').flatMap((series) =>
          listOf(series, 'buckets').flatMap((bucket) =>
            numbersOf(bucket['totals']).flatMap((users, step) =>
              users === 0 ? [] : [[secondsOf(bucket['time']), String(step + 1), numberOf(users)]],
            ),
          ),
        ),
      ),
  },
);

function numbersOf(value: unknown): number[] {
  return Array.isArray(value) ? value.map(Number) : [];
}

export const funnelQuestions: readonly Question[] = [inOrder, anyOrder, inOneVisit, overTime];
