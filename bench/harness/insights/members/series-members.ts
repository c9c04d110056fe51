// Members of TRENDS and REVENUE: formulas, several kinds in one series, users added up or of the days before, each
// touch, the period before, and numbers of properties.

import { dayMs } from '../../../../platform/clock.ts';
import type { JsonObject } from '../../../../platform/json.ts';
import { listOf, pointRows } from '../answers.ts';
import type { Layout } from '../layout.ts';
import { ofKind, persons } from '../person-questions.ts';
import { type AnswerRow, type Asked, dayOf, type Question, within } from '../question.ts';

const days = 30;
const aggregation = 'AGGREGATION_TYPE_UNIQUE_USERS';
const view = 'page_view';

/** The points of each series, after its place and its groups. */
function placedPoints(answer: JsonObject): AnswerRow[] {
  return listOf(answer, 'trends', 'series').flatMap((series, place) =>
    pointRows(
      listOf(series, 'points'),
      ...Object.values(series['breakdown'] ?? {}).map(String),
      ...('breakdown' in series ? [] : [String(place)]),
    ),
  );
}

function trends(
  name: string,
  spec: JsonObject,
  sql: Question['sql'],
  more: Partial<Pick<Question, 'rowsOf' | 'daysAreKept'>> = {},
): Question {
  return {
    ...{ name, days, sql, daysAreKept: true },
    queries: [
      {
        granularity: 'GRANULARITY_DAY',
        spec: { insightType: 'INSIGHT_TYPE_TRENDS', ...spec },
      },
    ],
    rowsOf: (answers) => answers.flatMap(placedPoints),
    ...more,
  };
}

const usersOf = (kind: string): JsonObject => ({ event: { kind }, aggregation });
const someKinds = ['purchase', 'add_to_cart', 'product_viewed'];
const isOneOf = (layout: Layout, kinds: readonly string[]): string =>
  `${layout.kind} IN (${kinds.map((kind) => `'${kind}'`).join(', ')})`;

const formula = trends(
  'A / B of two series of users',
  { events: [usersOf('purchase'), usersOf(view)], formulas: [{ expression: 'A / B * 100' }] },
  (layout, asked) => `SELECT place, day, value FROM (
      SELECT ${dayOf(layout, asked)} AS day, toFloat64(uniqExactIf(${layout.user}, ${layout.kind} = 'purchase')) AS x,
        toFloat64(uniqExactIf(${layout.user}, ${layout.kind} = '${view}')) AS y
      ${persons(layout, asked, isOneOf(layout, ['purchase', view]))} GROUP BY day)
    ARRAY JOIN [0, 1, 2] AS place, [x, y, x / y * 100] AS value WHERE isFinite(value) AND value != 0`,
);

const kinds = trends(
  'users of three kinds',
  { events: [{ event: { kinds: someKinds }, aggregation }] },
  (layout, asked) => `SELECT 0, ${dayOf(layout, asked)} AS day, uniqExact(${layout.user})
    ${persons(layout, asked, isOneOf(layout, someKinds))} GROUP BY day`,
);

/** Each user on the first day that they did it, added up. */
const cumulative = trends(
  'cumulative users',
  { events: [usersOf(view)], cumulative: true },
  (layout, asked) => `SELECT 0, day, sum(users) OVER (ORDER BY day) FROM (
      SELECT day, count() AS users FROM (
        SELECT min(${dayOf(layout, asked)}) AS day ${persons(layout, asked, ofKind(layout, view))} GROUP BY ${layout.user})
      GROUP BY day)`,
);

const windowDays = 7;

/**
 * A user and day counts on so many days: of fewer events, so that plain SQL has the memory. The days before the range
 * are not the question's, so that none is kept.
 */
const rolling = trends(
  'rolling users of 7 days',
  { events: [usersOf('product_viewed')], rollingDays: windowDays },
  (layout, asked) => {
    const zone = `'${asked.timezone}'`;
    const date = (ms: number): string => `toDate(fromUnixTimestamp64Milli(${ms}), ${zone})`;
    // A day of the zone may have 25 hours.
    const range = { fromMs: asked.fromMs - windowDays * dayMs, toMs: asked.toMs };
    return `SELECT 0, toUnixTimestamp(toDateTime(counted, ${zone})), uniqExact(person) FROM (
        SELECT DISTINCT toDate(${layout.time}, ${zone}) AS day, ${layout.user} AS person ${persons(layout, range, ofKind(layout, 'product_viewed'))})
      ARRAY JOIN arrayMap(later -> day + later, range(${windowDays})) AS counted
      WHERE counted >= ${date(asked.fromMs)} AND counted <= ${date(asked.toMs - 1)} GROUP BY counted`;
  },
  { daysAreKept: false },
);

/** No day of groups is kept: which groups a user touches is asked of each event. */
const everyTouch = trends(
  'users of every touch by browser',
  {
    events: [usersOf(view)],
    breakdowns: [{ property: '$browser' }],
    touch: 'TOUCH_EVERY',
  },
  (
    layout,
    asked,
  ) => `SELECT ${layout.browser} AS value, ${dayOf(layout, asked)} AS day, uniqExact(${layout.user})
    ${persons(layout, asked, ofKind(layout, view))} GROUP BY value, day`,
  { daysAreKept: false },
);

/** Of the first event's browser. */
const firstTouch = trends(
  'users by browser',
  { events: [usersOf('purchase')], breakdowns: [{ property: '$browser' }] },
  (layout, asked) => `SELECT value, day, count() FROM (
      SELECT groupUniqArray(${dayOf(layout, asked)}) AS days,
        argMin(${layout.browser}, (${layout.time}, ${layout.eventId})) AS value
      ${persons(layout, asked, ofKind(layout, 'purchase'))} GROUP BY ${layout.user})
    ARRAY JOIN days AS day GROUP BY value, day`,
  { daysAreKept: false },
);

const price = { aggregationProperty: 'price' };

/** Exact to the last digit, where plain SQL adds doubles up as they come. */
const sum = trends(
  'sum of prices',
  {
    events: [{ event: { kind: 'product_viewed' }, aggregation: 'AGGREGATION_TYPE_SUM', ...price }],
  },
  (layout, asked) => `SELECT 0, ${dayOf(layout, asked)} AS day, sum(${layout.double('price')})
    FROM ${layout.from} WHERE ${within(layout, asked)} AND ${ofKind(layout, 'product_viewed')} GROUP BY day`,
);

/** Lists of values are not kept. */
const differentPaths = trends(
  'distinct paths',
  {
    events: [
      {
        event: { kind: view },
        ...{ aggregation: 'AGGREGATION_TYPE_DISTINCT_VALUES', aggregationProperty: '$pathname' },
      },
    ],
  },
  (layout, asked) => `SELECT 0, ${dayOf(layout, asked)} AS day, uniqExact(${layout.pathname})
    FROM ${layout.from} WHERE ${within(layout, asked)} AND ${ofKind(layout, view)} GROUP BY day`,
  { daysAreKept: false },
);

const eventsPerUser = trends(
  'events per user',
  { events: [{ event: { kind: view }, aggregation: 'AGGREGATION_TYPE_PER_USER_AVG' }] },
  (layout, asked) => `SELECT 0, ${dayOf(layout, asked)} AS day, count() / uniqExact(${layout.user})
    ${persons(layout, asked, ofKind(layout, view))} GROUP BY day`,
  { daysAreKept: false },
);

const addedUp = trends(
  'cumulative events',
  { events: [{ event: { kind: view }, aggregation: 'AGGREGATION_TYPE_TOTAL' }], cumulative: true },
  (layout, asked) => `SELECT 0, day, sum(events) OVER (ORDER BY day) FROM (
      SELECT ${dayOf(layout, asked)} AS day, count() AS events FROM ${layout.from}
      WHERE ${within(layout, asked)} AND ${ofKind(layout, view)} GROUP BY day)`,
);

const groupedFormula = trends(
  'A / B of two series of events, by browser',
  {
    events: ['purchase', view].map((kind) => ({
      event: { kind },
      aggregation: 'AGGREGATION_TYPE_TOTAL',
    })),
    formulas: [{ expression: 'A / B * 100' }],
    breakdowns: [{ property: '$browser' }],
  },
  (layout, asked) => `SELECT browser, day, value FROM (
      SELECT ${layout.browser} AS browser, ${dayOf(layout, asked)} AS day,
        toFloat64(countIf(${layout.kind} = 'purchase')) AS x, toFloat64(countIf(${layout.kind} = '${view}')) AS y
      FROM ${layout.from} WHERE ${within(layout, asked)} AND ${isOneOf(layout, ['purchase', view])} GROUP BY browser, day)
    ARRAY JOIN [x, y, x / y * 100] AS value WHERE isFinite(value) AND value != 0`,
);

/** Of the payments of users. */
const perPayingUser: Question = {
  ...{ name: 'revenue per paying user', daysAreKept: false, days },
  queries: [
    {
      granularity: 'GRANULARITY_DAY',
      spec: {
        insightType: 'INSIGHT_TYPE_REVENUE',
        events: [{ event: { kind: 'purchase' }, revenue: 'REVENUE_MEASURE_PER_PAYING_USER' }],
      },
    },
  ],
  sql: (
    layout,
    asked,
  ) => `SELECT ${layout.custom('currency')} AS currency, ${dayOf(layout, asked)} AS day,
      sum(${layout.double('amount')}) / uniqExact(${layout.user})
    ${persons(layout, asked, ofKind(layout, 'purchase'))} GROUP BY currency, day`,
  rowsOf: (answers) =>
    answers.flatMap((answer) =>
      listOf(answer, 'revenue', 'series').flatMap((series) =>
        pointRows(listOf(series, 'points'), String(series['currency'] ?? '')),
      ),
    ),
};

const dayUsers = (layout: Layout, asked: Asked): string =>
  `${dayOf(layout, asked)} AS day, uniqExact(${layout.user}) ${persons(layout, asked, ofKind(layout, view))} GROUP BY day`;

/** Two plain statements in one. */
const compared = trends(
  'users of a range and of the period before',
  { events: [usersOf(view)], compare: 'COMPARE_PREVIOUS_PERIOD' },
  (layout, asked) => {
    const before = { ...asked, fromMs: 2 * asked.fromMs - asked.toMs, toMs: asked.fromMs };
    return `SELECT 'now', ${dayUsers(layout, asked)} UNION ALL SELECT 'before', ${dayUsers(layout, before)}`;
  },
  {
    rowsOf: (answers) =>
      answers.flatMap((answer) =>
        [answer, answer['previous']].flatMap((one, place) =>
          listOf({ one }, 'one', 'trends', 'series').flatMap((series) =>
            pointRows(listOf(series, 'points'), ['now', 'before'][place] ?? ''),
          ),
        ),
      ),
  },
);

export const seriesMembers: readonly Question[] = [
  ...[formula, kinds, cumulative, rolling],
  ...[everyTouch, firstTouch, compared],
  ...[sum, differentPaths, eventsPerUser, addedUp, groupedFormula, perPayingUser],
];
