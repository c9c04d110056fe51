// Questions about persons: unique users, funnels, retention, lifecycle, stickiness and the most active. A person is
// all ids that were merged.

import { dayMs } from '../../../platform/clock.ts';
import { listOf, numberOf, pointRows, pointsOfSeries, secondsOf } from './answers.ts';
import { funnelQuestions } from './funnels/funnel-questions.ts';
import type { Layout } from './layout.ts';
import { type Asked, dayOf, type Question, within } from './question.ts';

const day = 'GRANULARITY_DAY';

/** The condition on the kind; every kind where it is ''. */
export const ofKind = (layout: Layout, kind: string): string =>
  kind === '' ? '1' : `${layout.kind} = '${kind}'`;

/** The FROM and WHERE of events that have a user. */
export function persons(
  layout: Layout,
  asked: Pick<Asked, 'fromMs' | 'toMs'>,
  condition = '1',
): string {
  return `FROM ${layout.fromPersons} WHERE ${within(layout, asked)} AND ${layout.hasUser} AND ${condition}`;
}

function uniqueUsers(name: string, kind: string): Question {
  const events = [{ event: { kind }, aggregation: 'AGGREGATION_TYPE_UNIQUE_USERS' }];
  return {
    ...{ name, daysAreKept: true, days: 30 },
    queries: [{ granularity: day, spec: { insightType: 'INSIGHT_TYPE_TRENDS', events } }],
    sql: (layout, asked) => `SELECT ${dayOf(layout, asked)} AS day, uniqExact(${layout.user})
      ${persons(layout, asked, ofKind(layout, kind))} GROUP BY day`,
    rowsOf: pointsOfSeries,
  };
}

function pricePerUser(
  name: string,
  aggregation: string,
  sql: (layout: Layout, day: string, from: string) => string,
): Question {
  const event = { kind: 'product_viewed' };
  const events = [{ event, aggregation, aggregationProperty: 'price' }];
  return {
    ...{ name, daysAreKept: false, days: 30 },
    queries: [{ granularity: day, spec: { insightType: 'INSIGHT_TYPE_TRENDS', events } }],
    sql: (layout, asked) =>
      sql(
        layout,
        `${dayOf(layout, asked)} AS day`,
        persons(layout, asked, ofKind(layout, event.kind)),
      ),
    rowsOf: pointsOfSeries,
  };
}

/** Plain sums of doubles, whose last digits depend on the order of the rows. */
const sumPerUser = pricePerUser(
  'sum of prices per user',
  'AGGREGATION_TYPE_SUM_PER_USER',
  (layout, day, from) => `SELECT ${day}, sum(${layout.double('price')}) / uniqExact(${layout.user})
    ${from} GROUP BY day`,
);

const meanPerUser = pricePerUser(
  'mean price per user',
  'AGGREGATION_TYPE_AVG_PER_USER',
  (layout, day, from) => `SELECT day, avg(mean) FROM (
      SELECT ${day}, ${layout.user} AS person, avg(${layout.double('price')}) AS mean ${from} GROUP BY day, person)
    GROUP BY day`,
);

const retentionOf = (name: string, kind: string): Question => ({
  ...{ name, daysAreKept: true, days: 56 },
  queries: [
    {
      granularity: 'GRANULARITY_WEEK',
      spec: { insightType: 'INSIGHT_TYPE_RETENTION', events: [{ event: { kind } }] },
    },
  ],
  sql: (layout, asked) => {
    const week = `toStartOfWeek(${layout.time}, 1, '${asked.timezone}')`;
    const seconds = (of: string): string =>
      `toUnixTimestamp(toDateTime(${of}, '${asked.timezone}'))`;
    return `SELECT ${seconds('arrayMin(weeks)')} AS cohort, ${seconds('arrayJoin(weeks)')} AS week, count()
      FROM (SELECT groupUniqArray(${week}) AS weeks ${persons(layout, asked, ofKind(layout, kind))} GROUP BY ${layout.user})
      GROUP BY cohort, week`;
  },
  rowsOf: (answers) =>
    answers.flatMap((answer) =>
      listOf(answer, 'retention', 'series').flatMap((series) =>
        listOf(series, 'cohorts').flatMap((cohort) =>
          pointRows(listOf(cohort, 'points'), secondsOf(cohort['cohort'])),
        ),
      ),
    ),
});

export const lifecycleStates = [
  'newUsers',
  'returningUsers',
  'resurrectingUsers',
  'dormantUsers',
] as const;

const lifecycleOf = (name: string, kind: string): Question => ({
  ...{ name, daysAreKept: true, days: 30 },
  queries: [
    {
      granularity: day,
      spec: { insightType: 'INSIGHT_TYPE_LIFECYCLE', events: [{ event: { kind } }] },
    },
  ],
  sql: (layout, asked) => {
    const zone = `'${asked.timezone}'`;
    const date = (ms: number): string => `toDate(fromUnixTimestamp64Milli(${ms}), ${zone})`;
    const [first, end] = [date(asked.fromMs), date(asked.toMs - 1)];
    const before = { fromMs: asked.fromMs - dayMs - 3_600_000, toMs: asked.toMs };
    const ever = { fromMs: 0, toMs: 4_000_000_000_000 };
    const state = `multiIf(d = birth, 'newUsers', has(days, d - 1), 'returningUsers', 'resurrectingUsers')`;
    return `SELECT state.1 AS name, toUnixTimestamp(toDateTime(state.2, ${zone})) AS day, count() FROM (
        SELECT arrayJoin(arrayConcat(
          arrayMap(d -> (${state}, d), arrayFilter(d -> d >= ${first}, days)),
          arrayMap(d -> ('dormantUsers', d + 1), arrayFilter(d -> d < ${end} AND NOT has(days, d + 1), days)))) AS state
        FROM (SELECT ${layout.user} AS person, arrayFilter(d -> d >= ${first} - 1, groupUniqArray(toDate(${layout.time}, ${zone}))) AS days
          ${persons(layout, before, ofKind(layout, kind))} GROUP BY person) AS active
        JOIN (SELECT ${layout.user} AS person, toDate(min(${layout.time}), ${zone}) AS birth ${persons(layout, ever)} GROUP BY person) AS born
          ON born.person = active.person)
      GROUP BY name, day`;
  },
  rowsOf: (answers) =>
    answers.flatMap((answer) =>
      lifecycleStates.flatMap((state) => pointRows(listOf(answer, 'lifecycle', state), state)),
    ),
});

const stickinessOf = (name: string, kind: string): Question => ({
  ...{ name, daysAreKept: true, days: 30 },
  queries: [
    {
      granularity: day,
      spec: { insightType: 'INSIGHT_TYPE_STICKINESS', events: [{ event: { kind } }] },
    },
  ],
  sql: (layout, asked) => `SELECT days, count() FROM (
      SELECT uniqExact(toDate(${layout.time}, '${asked.timezone}')) AS days ${persons(layout, asked, ofKind(layout, kind))}
      GROUP BY ${layout.user})
    GROUP BY days`,
  rowsOf: (answers) =>
    answers.flatMap((answer) =>
      listOf(answer, 'stickiness', 'points')
        .filter(({ value }) => Number(value ?? 0) !== 0)
        .map(({ buckets, value }) => [numberOf(buckets), numberOf(value)]),
    ),
});

const topUsers: Question = {
  name: 'top 10 users',
  ...{ daysAreKept: true, days: 30 },
  queries: [
    {
      granularity: day,
      spec: {
        insightType: 'INSIGHT_TYPE_TOP_K',
        topK: { dimension: 'DIMENSION_USER', limit: 10, omitOthers: true },
      },
    },
  ],
  sql: (layout, asked) => `SELECT ${layout.userText('person')}, events FROM (
      SELECT ${layout.user} AS person, count() AS events ${persons(layout, asked)}
      GROUP BY person ORDER BY events DESC LIMIT 10)`,
  rowsOf: (answers) =>
    answers.flatMap((answer) =>
      listOf(answer, 'topK', 'rows').map((row) => [
        String(row['dimensionValue']).slice(0, 16),
        numberOf(row['value']),
      ]),
    ),
};

export const personQuestions: readonly Question[] = [
  uniqueUsers('unique users of one kind', 'page_view'),
  uniqueUsers('unique users of all kinds', ''),
  ...[sumPerUser, meanPerUser],
  ...funnelQuestions,
  retentionOf('weekly retention, 8 weeks', ''),
  retentionOf('weekly retention of one kind', 'page_view'),
  lifecycleOf('lifecycle', ''),
  lifecycleOf('lifecycle of one kind', 'page_view'),
  stickinessOf('stickiness', ''),
  stickinessOf('stickiness of one kind', 'page_view'),
  topUsers,
];
