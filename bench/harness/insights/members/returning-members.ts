// Members of RETENTION, LIFECYCLE and STICKINESS: who is in a cohort, what a return is, and their breakdowns.

import { dayMs } from '../../../../platform/clock.ts';
import type { JsonObject } from '../../../../platform/json.ts';
import { cohortRows, groupsOf, listOf, numberOf, pointRows } from '../answers.ts';
import type { Layout } from '../layout.ts';
import { lifecycleStates, ofKind, persons } from '../person-questions.ts';
import type { Asked, Question } from '../question.ts';

const view = 'page_view';
/** Of breakdowns: a twentieth of the events, whose users' first ones fit into the memory of a question. */
const seen = 'product_viewed';
const breakdowns = [{ property: '$browser' }];
const byBrowser = ({ browser, time, eventId }: Layout): string =>
  `argMin(${browser}, (${time}, ${eventId})) AS value`;

const week = (layout: Layout, { timezone }: Asked): string =>
  `toStartOfWeek(${layout.time}, 1, '${timezone}')`;
const seconds = (date: string, { timezone }: Asked): string =>
  `toUnixTimestamp(toDateTime(${date}, '${timezone}'))`;
const moment = (ms: number): string => `fromUnixTimestamp64Milli(${ms})`;

function weekly(name: string, more: JsonObject, sql: Question['sql']): Question {
  const hasGroups = 'breakdowns' in more;
  const events = [{ event: { kind: hasGroups ? seen : view } }];
  const spec = { insightType: 'INSIGHT_TYPE_RETENTION', events };
  return {
    ...{ name, sql, daysAreKept: !hasGroups, days: 56 },
    queries: [{ granularity: 'GRANULARITY_WEEK', spec: { ...spec, ...more } }],
    rowsOf: cohortRows,
  };
}

const weeksOf = (layout: Layout, asked: Asked): string =>
  `groupUniqArray(${week(layout, asked)}) AS weeks`;

const firstEver = weekly(
  'retention by first event ever',
  { retention: { first: 'FIRST_EVER' } },
  (layout, asked) => {
    const users = persons(layout, { fromMs: 0, toMs: asked.toMs }, ofKind(layout, view));
    return `SELECT ${seconds('arrayMin(weeks)', asked)} AS cohort, ${seconds('arrayJoin(weeks)', asked)} AS later, count()
      FROM (SELECT ${weeksOf(layout, asked)} ${users} GROUP BY ${layout.user} HAVING min(${layout.time}) >= ${moment(asked.fromMs)})
      GROUP BY cohort, later`;
  },
);

const recurring = weekly(
  'recurring retention',
  { retention: { first: 'FIRST_RECURRING' } },
  (layout, asked) => {
    const cells =
      'arrayFlatten(arrayMap(one -> arrayMap(other -> (one, other), arrayFilter(other -> other >= one, weeks)), weeks))';
    return `SELECT ${seconds('cell.1', asked)} AS cohort, ${seconds('cell.2', asked)} AS later, count()
      FROM (SELECT ${weeksOf(layout, asked)} ${persons(layout, asked, ofKind(layout, view))} GROUP BY ${layout.user})
      ARRAY JOIN ${cells} AS cell GROUP BY cohort, later`;
  },
);

/** A user counts in each week from the first to the last in which they came. */
const unbounded = weekly(
  'unbounded retention',
  { retention: { unbounded: true } },
  (layout, asked) => {
    const [first, last] = ['min', 'max'].map((of) => `${of}(${week(layout, asked)})`);
    return `SELECT ${seconds('first', asked)} AS cohort, ${seconds('first + 7 * later', asked)} AS week, count()
      FROM (SELECT ${first} AS first, ${last} AS last ${persons(layout, asked, ofKind(layout, view))} GROUP BY ${layout.user})
      ARRAY JOIN range(toUInt64(intDiv(last - first, 7) + 1)) AS later GROUP BY cohort, week`;
  },
);

const grouped = weekly('weekly retention by browser', { breakdowns }, (layout, asked) => {
  const users = persons(layout, asked, ofKind(layout, seen));
  return `SELECT value, ${seconds('arrayMin(weeks)', asked)} AS cohort, ${seconds('arrayJoin(weeks)', asked)} AS later, count()
    FROM (SELECT ${weeksOf(layout, asked)}, ${byBrowser(layout)} ${users} GROUP BY ${layout.user})
    GROUP BY value, cohort, later`;
});

const rollingDays = 14;

/** Days are the 24 hours from each user's first event; as many follow the last day as the first one has points. */
const rolling: Question = {
  ...{ name: 'retention by 24 hours, 14 days', daysAreKept: false, days: rollingDays },
  queries: [
    {
      granularity: 'GRANULARITY_DAY',
      spec: {
        ...{ insightType: 'INSIGHT_TYPE_RETENTION', events: [{ event: { kind: 'purchase' } }] },
        retention: { rolling24h: true },
      },
    },
  ],
  rowsOf: cohortRows,
  sql: (layout, asked) => {
    const zone = `'${asked.timezone}'`;
    const date = (ms: string): string => `toDate(fromUnixTimestamp64Milli(${ms}), ${zone})`;
    const ms = `toUnixTimestamp64Milli(toDateTime64(${layout.time}, 3))`;
    const range = { fromMs: asked.fromMs, toMs: asked.toMs + rollingDays * dayMs };
    return `SELECT ${seconds('cohort', asked)}, ${seconds('cohort + later', asked)} AS day, count() FROM (
        SELECT arrayMin(moments) AS first, ${date('first')} AS cohort,
          arrayDistinct(arrayMap(one -> intDiv(one - first, ${dayMs}), moments)) AS places
        FROM (SELECT groupArray(${ms}) AS moments ${persons(layout, range, ofKind(layout, 'purchase'))} GROUP BY ${layout.user})
        WHERE first < ${asked.toMs})
      ARRAY JOIN places AS later WHERE cohort + later <= ${date(`${asked.toMs - 1}`)} GROUP BY cohort, day`;
  },
};

const lifecycle: Question = {
  ...{ name: 'lifecycle by browser', daysAreKept: false, days: 30 },
  queries: [
    {
      granularity: 'GRANULARITY_DAY',
      spec: {
        insightType: 'INSIGHT_TYPE_LIFECYCLE',
        events: [{ event: { kind: seen } }],
        breakdowns,
      },
    },
  ],
  rowsOf: (answers) =>
    answers.flatMap((answer) =>
      listOf(answer, 'lifecycle', 'series').flatMap((series) =>
        lifecycleStates.flatMap((state) =>
          pointRows(listOf(series, state), ...groupsOf(series), state),
        ),
      ),
    ),
  sql: (layout, asked) => {
    const zone = `'${asked.timezone}'`;
    const date = (ms: number): string => `toDate(fromUnixTimestamp64Milli(${ms}), ${zone})`;
    const [first, end] = [date(asked.fromMs), date(asked.toMs - 1)];
    const before = `toStartOfDay(${moment(asked.fromMs)} - INTERVAL 1 HOUR, ${zone})`;
    const around = { fromMs: asked.fromMs - dayMs - 3_600_000, toMs: asked.toMs };
    const users = persons(
      layout,
      around,
      `${ofKind(layout, seen)} AND ${layout.time} >= ${before}`,
    );
    const ever = persons(layout, { fromMs: 0, toMs: asked.toMs });
    const state = `multiIf(d = birth, 'newUsers', has(days, d - 1), 'returningUsers', 'resurrectingUsers')`;
    return `SELECT value, state.1 AS name, ${seconds('state.2', asked)} AS day, count() FROM (
        SELECT value, arrayJoin(arrayConcat(
          arrayMap(d -> (${state}, d), arrayFilter(d -> d >= ${first}, days)),
          arrayMap(d -> ('dormantUsers', d + 1), arrayFilter(d -> d < ${end} AND NOT has(days, d + 1), days)))) AS state
        FROM (SELECT ${layout.user} AS person, ${byBrowser(layout)}, groupUniqArray(toDate(${layout.time}, ${zone})) AS days
          ${users} GROUP BY person) AS active
        JOIN (SELECT ${layout.user} AS person, toDate(min(${layout.time}), ${zone}) AS birth ${ever} GROUP BY person) AS born
          ON born.person = active.person)
      GROUP BY value, name, day`;
  },
};

const stickiness: Question = {
  ...{ name: 'stickiness by browser', daysAreKept: false, days: 30 },
  queries: [
    {
      granularity: 'GRANULARITY_DAY',
      spec: {
        insightType: 'INSIGHT_TYPE_STICKINESS',
        events: [{ event: { kind: seen } }],
        breakdowns,
      },
    },
  ],
  rowsOf: (answers) =>
    answers.flatMap((answer) =>
      listOf(answer, 'stickiness', 'series').flatMap((series) =>
        listOf(series, 'points')
          .filter(({ value }) => Number(value ?? 0) !== 0)
          .map(({ buckets, value }) => [...groupsOf(series), numberOf(buckets), numberOf(value)]),
      ),
    ),
  sql: (layout, asked) => `SELECT value, days, count() FROM (
      SELECT uniqExact(toDate(${layout.time}, '${asked.timezone}')) AS days, ${byBrowser(layout)}
      ${persons(layout, asked, ofKind(layout, seen))} GROUP BY ${layout.user})
    GROUP BY value, days`,
};

function stickyUsers(name: string, more: JsonObject, sql: Question['sql']): Question {
  const spec = { insightType: 'INSIGHT_TYPE_STICKINESS', events: [{ event: { kind: seen } }] };
  return {
    ...{ name, sql, daysAreKept: !('eventsPerUser' in more), days: 30 },
    queries: [{ granularity: 'GRANULARITY_DAY', spec: { ...spec, ...more } }],
    rowsOf: (answers) =>
      answers.flatMap((answer) =>
        listOf(answer, 'stickiness', 'points')
          .filter(({ value }) => Number(value ?? 0) !== 0)
          .map(({ buckets, events, value }) => [numberOf(buckets ?? events), numberOf(value)]),
      ),
  };
}

const cumulativeStickiness = stickyUsers(
  'cumulative stickiness',
  { cumulative: true },
  (layout, asked) => `SELECT days, sum(users) OVER (ORDER BY days DESC) FROM (
      SELECT days, count() AS users FROM (
        SELECT uniqExact(toDate(${layout.time}, '${asked.timezone}')) AS days
        ${persons(layout, asked, ofKind(layout, seen))} GROUP BY ${layout.user})
      GROUP BY days)`,
);

/** Users of twenty events and more are one point. */
const byEvents = stickyUsers(
  'users by their number of events',
  { eventsPerUser: {} },
  (layout, asked) => `SELECT events, count() FROM (
      SELECT least(count(), 20) AS events ${persons(layout, asked, ofKind(layout, seen))} GROUP BY ${layout.user})
    GROUP BY events`,
);

export const returningMembers: readonly Question[] = [
  ...[firstEver, recurring, unbounded, grouped, rolling],
  ...[lifecycle, stickiness, cumulativeStickiness, byEvents],
];
