// Members of FUNNEL and USER_FLOW: what ends or begins a chain, and where ways begin, end and whose they are.

import { dayMs } from '../../../../platform/clock.ts';
import type { JsonObject } from '../../../../platform/json.ts';
import { listOf, numberOf } from '../answers.ts';
import {
  countedSteps,
  fromSteps,
  funnelOf,
  milliseconds,
  reachedIn,
  steps,
} from '../funnels/funnel-questions.ts';
import type { Layout } from '../layout.ts';
import { persons } from '../person-questions.ts';
import { type Asked, type Question, within } from '../question.ts';

const [view, cart, purchase] = steps;
const until = ({ toMs }: Asked): string => `fromUnixTimestamp64Milli(${toMs})`;
const windowed = ({ fromMs, toMs }: Asked): Pick<Asked, 'fromMs' | 'toMs'> => ({
  fromMs,
  toMs: toMs + dayMs,
});

/** All events of a user in order, of whom three follow one another directly. A week: each event is kept. */
const strict = funnelOf(
  'funnel of 3 steps in strict order, 7 days',
  { order: 'ORDER_STRICT' },
  {
    days: 7,
    sql: (layout, asked) => {
      const step = `multiIf(${layout.kind} = '${view}', 1, ${layout.kind} = '${cart}', 2, ${layout.kind} = '${purchase}', 3, 4)`;
      const place = `arrayMap(mark -> mark % 8, marks)`;
      const next = (by: number): string => `arrayShiftLeft(marks, ${by}, toUInt64(0))`;
      const level = `if(one % 8 != 1 OR intDiv(one, 8) >= ${asked.toMs}, 0,
        if(two % 8 != 2 OR intDiv(two, 8) - intDiv(one, 8) > ${dayMs}, 1,
          if(three % 8 != 3 OR intDiv(three, 8) - intDiv(one, 8) > ${dayMs}, 2, 3)))`;
      return countedSteps(`SELECT arrayMax(arrayMap((one, two, three) -> ${level}, marks, ${next(1)}, ${next(2)})) AS reached
        FROM (SELECT arraySort(groupArray(${milliseconds(layout)} * 8 + ${step})) AS marks
          ${persons(layout, windowed(asked))} GROUP BY ${layout.user} HAVING has(${place}, 1))`);
    },
  },
);

/** Who searches between two steps goes no further with this entry. */
const excluding = funnelOf(
  'funnel of 3 steps with an exclusion',
  { exclusions: [{ event: { kind: 'search' } }] },
  {
    sql: (layout, asked) => {
      const times = (kind: string, more = ''): string =>
        `groupArrayIf(${milliseconds(layout)}, ${layout.kind} = '${kind}'${more})`;
      const first = (list: string, from: string): string =>
        `arrayMin(arrayFilter(ms -> ms >= ${from} AND ms <= entry + ${dayMs} AND (ended = 0 OR ms <= ended), ${list}))`;
      const looked = `${layout.kind} IN ('search', ${steps.map((kind) => `'${kind}'`).join(', ')})`;
      return countedSteps(`SELECT person, max(multiIf(added = 0, 1, bought = 0, 2, 3)) AS reached FROM (
          SELECT person, entry, arrayMin(arrayFilter(ms -> ms >= entry, searches)) AS ended,
            ${first('carts', 'entry')} AS added, ${first('purchases', 'added')} AS bought
          FROM (SELECT ${layout.user} AS person, ${times(view, ` AND ${layout.time} < ${until(asked)}`)} AS entries,
            ${times(cart)} AS carts, ${times(purchase)} AS purchases, ${times('search')} AS searches
            ${persons(layout, windowed(asked), looked)} GROUP BY person)
          ARRAY JOIN entries AS entry)
        GROUP BY person`);
    },
  },
);

/** All steps with one plan; events without one count for nothing. */
const holding = funnelOf(
  'funnel of 3 steps with one plan',
  { holdProperty: 'plan' },
  {
    sql: (layout, asked) =>
      countedSteps(`SELECT person, max(level) AS reached FROM (
        SELECT ${layout.user} AS person, ${layout.custom('plan')} AS plan, ${reachedIn(layout, asked, steps)} AS level
        ${fromSteps(layout, asked)} AND plan != '' GROUP BY person, plan) GROUP BY person`),
  },
);

/** The chain of the first view of a product alone. */
const firstEntry = funnelOf(
  'funnel of 3 steps from the first entry',
  { reentry: 'REENTRY_FIRST' },
  {
    sql: (layout, asked) => {
      const times = (kind: string): string =>
        `groupArrayIf(${milliseconds(layout)}, ${layout.kind} = '${kind}')`;
      const first = (list: string, from: string): string =>
        `arrayMin(arrayFilter(ms -> ms >= ${from} AND ms <= entry + ${dayMs}, ${list}))`;
      return countedSteps(`SELECT person, ${first('carts', 'entry')} AS added, ${first('purchases', 'added')} AS bought,
          multiIf(added = 0, 1, bought = 0, 2, 3) AS reached
        FROM (SELECT ${layout.user} AS person, ${times(cart)} AS carts, ${times(purchase)} AS purchases,
            minIf(${milliseconds(layout)}, ${layout.kind} = '${view}') AS entry
          ${fromSteps(layout, asked)} GROUP BY person HAVING entry > 0 AND entry < ${asked.toMs})`);
    },
  },
);

const several = funnelOf(
  'funnel of 3 steps, two kinds in the last',
  {},
  {
    queries: [
      {
        granularity: 'GRANULARITY_DAY',
        spec: {
          ...{ insightType: 'INSIGHT_TYPE_FUNNEL', conversionWindow: '86400s' },
          events: [
            { event: { kind: view } },
            { event: { kind: cart } },
            { event: { kinds: [purchase, 'share'] } },
          ],
        },
      },
    ],
    sql: (layout, asked) =>
      countedSteps(`SELECT windowFunnel(${dayMs})(${milliseconds(layout)}, ${layout.kind} = '${view}' AND ${layout.time} < ${until(asked)},
          ${layout.kind} = '${cart}', ${layout.kind} IN ('${purchase}', 'share')) AS reached
        ${persons(layout, windowed(asked), `${layout.kind} IN ('${view}', '${cart}', '${purchase}', 'share')`)} GROUP BY ${layout.user}`),
  },
);

/** Of the browser of each user's first entry. */
const byBrowser = funnelOf(
  'funnel of 3 steps by browser',
  {},
  {
    queries: [
      {
        granularity: 'GRANULARITY_DAY',
        spec: {
          ...{ insightType: 'INSIGHT_TYPE_FUNNEL', conversionWindow: '86400s' },
          events: steps.map((kind) => ({ event: { kind } })),
          breakdowns: [{ property: '$browser' }],
        },
      },
    ],
    sql: (layout, asked) => `SELECT value, step, countIf(reached >= step) FROM (
        SELECT argMinIf(${layout.browser}, (${layout.time}, ${layout.eventId}),
            ${layout.kind} = '${view}' AND ${layout.time} < ${until(asked)}) AS value,
          ${reachedIn(layout, asked, steps)} AS reached ${fromSteps(layout, asked)} GROUP BY ${layout.user} HAVING reached > 0)
      ARRAY JOIN [1, 2, 3] AS step GROUP BY value, step`,
    rowsOf: (answers) =>
      answers.flatMap((answer) =>
        listOf(answer, 'funnel', 'series').flatMap((series) =>
          listOf(series, 'steps').map((step, index) => [
            ...Object.values(series['breakdown'] ?? {}).map(String),
            ...[String(index + 1), numberOf(step['total'])],
          ]),
        ),
      ),
  },
);

const hops = 5;
/** All events of a way are in memory at once. */
const days = 7;

function flow(
  name: string,
  more: JsonObject,
  parts: Pick<Question, 'sql'> & { groupBy?: string },
): Question {
  const { sql, groupBy = 'GROUP_BY_SESSION' } = parts;
  const userFlow = {
    nodeKind: 'NODE_KIND_EVENT_KIND',
    groupBy,
    maxHops: hops,
    maxNodes: 50,
    maxLinks: 500,
  };
  return {
    ...{ name, sql, days, daysAreKept: false },
    queries: [
      {
        granularity: 'GRANULARITY_DAY',
        spec: { insightType: 'INSIGHT_TYPE_USER_FLOW', userFlow, ...more },
      },
    ],
    rowsOf: (answers) =>
      answers.flatMap((answer) =>
        listOf(answer, 'userFlow', 'links').map(({ source, target, value }) => [
          ...[String(source), String(target)],
          numberOf(value),
        ]),
      ),
  };
}

/** `ways` is SQL whose column `steps` lists the kinds of a way; `first` is the place of the first of them. */
const links = (
  ways: string,
  first = '0',
): string => `SELECT concat(toString(at - 1 + ${first}), ':', steps[at]) AS source,
    concat(toString(at + ${first}), ':', steps[at + 1]) AS target, count() AS number
  FROM (${ways}) ARRAY JOIN arrayEnumerate(arrayPopBack(steps)) AS at
  GROUP BY source, target ORDER BY number DESC, source, target LIMIT 500`;

/** The kinds of a way in order: by time, then by their text. */
const kindsInOrder = (layout: Layout): string =>
  `arrayMap(one -> one.2, arraySort(groupArray((${layout.time}, toString(${layout.kind}))))) AS kinds`;

/** A way begins with the first event that is sought; equal kinds that follow one another are one. */
const fromEvent = flow(
  'paths from an event, 7 days',
  { flow: { from: { kind: view } } },
  {
    sql: (layout, asked) =>
      links(`SELECT arraySlice(arrayCompact(arraySlice(kinds, indexOf(kinds, '${view}'))), 1, ${hops + 1}) AS steps
      FROM (SELECT ${kindsInOrder(layout)} FROM ${layout.from} WHERE ${within(layout, asked)} GROUP BY ${layout.session})
      WHERE has(kinds, '${view}')`),
  },
);

const toEvent = flow(
  'paths to an event, 7 days',
  { flow: { to: { kind: purchase } } },
  {
    sql: (layout, asked) =>
      links(
        `SELECT arraySlice(arrayCompact(arraySlice(kinds, 1, indexOf(kinds, '${purchase}'))), -${hops + 1}) AS steps
      FROM (SELECT ${kindsInOrder(layout)} FROM ${layout.from} WHERE ${within(layout, asked)} GROUP BY ${layout.session})
      WHERE has(kinds, '${purchase}')`,
        `${hops + 1} - length(steps)`,
      ),
  },
);

const ofUsers = flow(
  'paths of users across visits, 7 days',
  {},
  {
    groupBy: 'GROUP_BY_USER',
    sql: (layout, asked) =>
      links(`SELECT arraySlice(arrayCompact(kinds), 1, ${hops + 1}) AS steps
        FROM (SELECT ${kindsInOrder(layout)} ${persons(layout, asked)} GROUP BY ${layout.user})`),
  },
);

export const wayMembers: readonly Question[] = [
  ...[strict, excluding, holding, firstEntry, several, byBrowser],
  ...[fromEvent, toEvent, ofUsers],
];
