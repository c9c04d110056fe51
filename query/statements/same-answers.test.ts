// Questions asked twice: by InsightsService.Query, and in SQL by POST /sql, over the same rows. Both must say the same.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Filter } from '../../test/harness/insights/questions/event-filter.ts';
import { type Question, requestOf } from '../../test/harness/insights/questions/question.ts';
import { createDraw } from '../../test/harness/insights/random.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';
import {
  type StatementServer,
  serveStatements,
} from '../../test/harness/statements/serve-statements.ts';
import { type StoredRow, storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../test/harness/tables/stored-profiles.ts';

const engine = useEngine();
const projectId = randomUUID();
const minuteMs = 60_000;
const dayMs = 86_400_000;
const fromMs = Date.UTC(2026, 9, 1);
const toMs = fromMs + 14 * dayMs;
let service: ReadService;
let sql: StatementServer;

beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url });
  sql = await serveStatements(service.clickhouse);
  await storeRows(service.clickhouse, drawnRows());
  const merged = Array.from({ length: 8 }, (_, n) => ({
    ...{ projectId, distinctId: `anon-${n}`, named: false, wasClaimed: true },
    ...{ owner: `user-${n % 5}`, root: `user-${n % 5}` },
  }));
  const named = Array.from({ length: 12 }, (_, n) => ({
    ...{ projectId, distinctId: `user-${n}`, traits: { tier: n % 3 === 0 ? 'gold' : 'plain' } },
  }));
  await storeProfiles(service.clickhouse, [...named, ...merged]);
});
afterAll(async () => {
  await sql.close();
  await service.stop();
});

/** Visits of few people, some across midnight, with what a question may ask of an event. */
function drawnRows(): StoredRow[] {
  const draw = createDraw(43);
  return Array.from({ length: 150 }, () => {
    const cookieless = draw.chance(0.15);
    const person = draw.chance(0.3) ? `anon-${draw.below(12)}` : `user-${draw.below(15)}`;
    const visit = {
      sessionId: draw.uuid(),
      distinctId: cookieless ? `day-${draw.below(9)}` : person,
    };
    const startMs = fromMs + draw.below(14 * 24 * 60 - 90) * minuteMs;
    const columns = {
      browser: draw.pick(['Chrome', 'Firefox', 'Safari']),
      country: draw.pick(['DE', 'FR']),
    };
    return Array.from({ length: 1 + draw.below(6) }, (_, n) =>
      storedRow({
        ...{
          projectId,
          cookieless,
          columns: { ...columns, pathname: `/${draw.below(4)}` },
          ...visit,
        },
        ...{ eventId: draw.uuid(), occurTimeMs: startMs + n * draw.below(10) * minuteMs },
        kind: n === 0 ? 'page_view' : draw.pick(['page_view', 'cart', 'buy']),
        strings: { plan: draw.pick(['free', 'pro']) },
        ints: { seats: BigInt(draw.below(50)) },
        doubles: { price: draw.below(400) / 4 },
      }),
    );
  }).flat();
}

type Rows = (string | number | null)[][];
type Json = Record<string, unknown>;

const range = { fromMs, toMs, timezone: 'UTC' };
const inRange = `occur_time >= toDateTime64(${fromMs / 1_000}, 3) AND occur_time < toDateTime64(${toMs / 1_000}, 3)`;
const beginsInRange = inRange.replaceAll('occur_time', 'start_time');
const ofKind = (kind: string): string => `FROM events WHERE kind = '${kind}' AND ${inRange}`;

interface Case {
  name: string;
  question: Omit<Question, 'fromMs' | 'toMs'>;
  /** Reads the answer's numbers: labels, then a value. Without zeroes, where the question has rows without events. */
  rows: (answer: Json) => Rows;
  sql: string;
}

const number = (value: unknown): number => Number(value ?? 0);
const list = (value: unknown): Json[] => (Array.isArray(value) ? value : []);
const inside = (value: unknown, name: string): Json[] =>
  typeof value === 'object' && value !== null && name in value ? list((value as Json)[name]) : [];
const labelOf = ({ breakdown }: Json): string =>
  Object.values((breakdown ?? {}) as Json)
    .map(String)
    .join('|');

const trends = (answer: Json): Rows =>
  inside(answer['trends'], 'series').flatMap((series) =>
    list(series['points']).flatMap(({ time, value }) =>
      number(value) === 0
        ? []
        : [[labelOf(series), String(time).slice(0, 16).replace('T', ' '), number(value)]],
    ),
  );
const segments = (answer: Json): Rows =>
  inside(answer['segmentation'], 'series').map((one) => [labelOf(one), number(one['value'])]);
const greatest = (answer: Json): Rows =>
  inside(answer['topK'], 'rows').map(({ dimensionValue, value }) => [
    String(dimensionValue ?? ''),
    number(value),
  ]);
const sticky = (answer: Json): Rows =>
  inside(answer['stickiness'], 'points').flatMap(({ buckets, value }) =>
    number(value) === 0 ? [] : [[number(buckets), number(value)]],
  );
const bucketText = (unit: string): string => `formatDateTime(${unit}, '%Y-%m-%d %H:%i')`;
const series = (
  value: string,
  kind: string,
  unit = 'toStartOfDay(occur_time)',
  label = "''",
): string =>
  `SELECT ${label} AS label, ${bucketText(unit)} AS bucket, toFloat64(${value}) AS value ${ofKind(kind)}
    GROUP BY label, bucket HAVING value != 0 ORDER BY label, bucket`;
const groups = (value: string, kind: string, label: string): string =>
  `SELECT toString(${label}) AS label, toFloat64(${value}) AS value ${ofKind(kind)} GROUP BY label ORDER BY label`;

const ofEvent = (kind: string, more: object = {}) => [{ event: { kind }, ...more }];
const price = "double_properties['price']";
const users = 'uniqExact(profile_id)';
/** The number of the nearest rank, as percentiles are defined. */
const ranked = (percent: number): string =>
  `arraySort(groupArray(${price}))[toUInt64(intDiv(count() * ${percent} + 99, 100))]`;

const cases: Case[] = [
  ...(['page_view', 'cart', 'buy'] as const).flatMap((kind): Case[] => [
    {
      name: `${kind} a day`,
      question: { type: 'TRENDS', events: ofEvent(kind), granularity: 'DAY' },
      rows: trends,
      sql: series('count()', kind),
    },
    {
      name: `users of ${kind} a day`,
      question: {
        type: 'TRENDS',
        events: ofEvent(kind, { aggregation: 'UNIQUE_USERS' }),
        granularity: 'DAY',
      },
      rows: trends,
      sql: series(users, kind),
    },
  ]),
  ...(
    [
      ['HOUR', 'toStartOfHour(occur_time)'],
      ['WEEK', 'toStartOfDay(toMonday(occur_time))'],
      ['MONTH', 'toStartOfDay(toStartOfMonth(occur_time))'],
    ] as const
  ).map(
    ([granularity, unit]): Case => ({
      name: `views by ${granularity}`,
      question: { type: 'TRENDS', events: ofEvent('page_view'), granularity },
      rows: trends,
      sql: series('count()', 'page_view', unit),
    }),
  ),
  {
    name: 'views a day in Berlin',
    question: {
      type: 'TRENDS',
      events: ofEvent('page_view'),
      granularity: 'DAY',
      timezone: 'Europe/Berlin',
    },
    rows: trends,
    sql: series(
      'count()',
      'page_view',
      "toTimeZone(toStartOfDay(toTimeZone(occur_time, 'Europe/Berlin')), 'UTC')",
    ),
  },
  {
    name: 'views a day by country',
    question: {
      type: 'TRENDS',
      events: ofEvent('page_view'),
      granularity: 'DAY',
      breakdowns: ['$country'],
    },
    rows: trends,
    sql: series('count()', 'page_view', 'toStartOfDay(occur_time)', 'toString(country)'),
  },
  ...(
    [
      ['SUM', `sum(${price})`],
      ['AVG', `avg(${price})`],
      ['MIN', `min(${price})`],
      ['MAX', `max(${price})`],
      ['MEDIAN', ranked(50)],
      ['P90', ranked(90)],
      ['DISTINCT_VALUES', `uniqExact(${price})`],
    ] as const
  ).map(
    ([aggregation, value]): Case => ({
      name: `${aggregation} of prices by country`,
      question: {
        ...{ type: 'SEGMENTATION', breakdowns: ['$country'] },
        events: ofEvent('buy', { aggregation, aggregationProperty: 'price' }),
      },
      rows: segments,
      sql: groups(value, 'buy', 'country'),
    }),
  ),
  {
    name: 'prices a user',
    question: {
      type: 'SEGMENTATION',
      events: ofEvent('buy', { aggregation: 'SUM_PER_USER', aggregationProperty: 'price' }),
    },
    rows: segments,
    sql: groups(`sumIf(${price}, NOT cookieless) / ${users}`, 'buy', "''"),
  },
  {
    name: 'the greatest paths',
    question: {
      type: 'TOP_K',
      topK: {
        dimension: 'PROPERTY',
        property: '$pathname',
        scope: { kind: 'page_view' },
        limit: 10,
      },
    },
    rows: greatest,
    sql: groups('count()', 'page_view', 'pathname'),
  },
  {
    name: 'users of the greatest kinds',
    question: { type: 'TOP_K', topK: { dimension: 'EVENT_KIND', limit: 10 } },
    rows: greatest,
    sql: `SELECT toString(kind) AS label, toFloat64(count()) AS value FROM events WHERE ${inRange} GROUP BY label ORDER BY label`,
  },
  {
    name: 'active days of users',
    question: { type: 'STICKINESS', events: ofEvent('page_view'), granularity: 'DAY' },
    rows: sticky,
    sql: `SELECT toUInt32(days), toFloat64(count()) FROM (SELECT profile_id, uniqExact(toDate(occur_time)) AS days
      ${ofKind('page_view')} AND NOT cookieless GROUP BY profile_id) GROUP BY days ORDER BY days`,
  },
  ...(
    [
      ['SESSIONS', 'count()'],
      ['AVG_DURATION', 'avg(duration_seconds)'],
      ['BOUNCE_RATE', 'avg(is_bounce)'],
      ['AVG_EVENTS_PER_SESSION', 'avg(events)'],
    ] as const
  ).map(
    ([metric, value]): Case => ({
      name: `${metric} by country`,
      question: { type: 'SEGMENTATION', session: { metric }, breakdowns: ['$country'] },
      rows: segments,
      sql: `SELECT toString(country) AS label, toFloat64(${value}) AS value FROM sessions WHERE ${beginsInRange}
      GROUP BY label ORDER BY label`,
    }),
  ),
  {
    name: 'visits a day',
    question: { type: 'TRENDS', session: { metric: 'SESSIONS' }, granularity: 'DAY' },
    rows: trends,
    sql: `SELECT '' AS label, ${bucketText('toStartOfDay(start_time)')} AS bucket, toFloat64(count()) AS value
      FROM sessions WHERE ${beginsInRange} GROUP BY bucket ORDER BY bucket`,
  },
  {
    name: 'views of persons with a trait',
    question: {
      ...{ type: 'SEGMENTATION', breakdowns: ['$browser'] },
      events: [
        {
          event: {
            kind: 'page_view',
            filters: [{ property: 'tier', operator: 'EQUALS', value: 'gold', source: 'PROFILE' }],
          },
        },
      ],
    },
    rows: segments,
    sql: groups('count()', 'page_view', 'browser').replace(
      ' GROUP BY',
      ` AND profile_id IN (SELECT profile_id FROM profiles WHERE traits['tier'] = '"gold"') GROUP BY`,
    ),
  },
];

const kinds = ['page_view', 'cart', 'buy'] as const;
const plan = "string_properties['plan']";
const seats = "int_properties['seats']";
/** Properties as questions name them, and in SQL. */
const labels = [
  ['$country', 'country'],
  ['$browser', 'browser'],
  ['$pathname', 'pathname'],
  ['plan', plan],
] as const;

const filters: readonly { name: string; filters: Filter[]; sql: string }[] = [
  {
    name: 'a text',
    filters: [{ property: 'plan', operator: 'EQUALS', value: 'pro' }],
    sql: `${plan} = 'pro'`,
  },
  {
    name: 'another text',
    filters: [{ property: 'plan', operator: 'NOT_EQUALS', value: 'pro' }],
    sql: `${plan} != 'pro'`,
  },
  {
    name: 'an integer',
    filters: [{ property: 'seats', operator: 'GT', value: '25' }],
    sql: `${seats} > 25`,
  },
  {
    name: 'a range',
    filters: [{ property: 'price', operator: 'BETWEEN', values: ['20', '60.5'] }],
    sql: `${price} BETWEEN 20 AND 60.5`,
  },
  {
    name: 'one of two',
    filters: [{ property: '$browser', operator: 'IN', values: ['Chrome', 'Safari'] }],
    sql: "browser IN ('Chrome', 'Safari')",
  },
  {
    name: 'two properties',
    filters: [
      { property: '$country', operator: 'EQUALS', value: 'DE' },
      { property: 'price', operator: 'LT', value: '40' },
    ],
    sql: `country = 'DE' AND ${price} < 40`,
  },
];

/** Each kind with each property, filter and unit; each way to put numbers together. */
const crossed: readonly Case[] = [
  ...kinds.flatMap((kind): Case[] => [
    ...labels.flatMap(([property, label]): Case[] => [
      {
        name: `${kind} by ${property}`,
        question: { type: 'SEGMENTATION', events: ofEvent(kind), breakdowns: [property] },
        rows: segments,
        sql: groups('count()', kind, label),
      },
      {
        name: `users of ${kind} by ${property}`,
        question: {
          ...{ type: 'SEGMENTATION', breakdowns: [property], touch: 'EVERY' },
          events: ofEvent(kind, { aggregation: 'UNIQUE_USERS' }),
        },
        rows: segments,
        sql: groups(users, kind, label),
      },
    ]),
    ...filters.map(
      (filter): Case => ({
        name: `${kind} a day with ${filter.name}`,
        question: {
          ...{ type: 'TRENDS', granularity: 'DAY' },
          events: [{ event: { kind, filters: filter.filters } }],
        },
        rows: trends,
        sql: series('count()', kind).replace(
          ' AND occur_time <',
          ` AND ${filter.sql} AND occur_time <`,
        ),
      }),
    ),
    {
      name: `users of ${kind} a week`,
      question: {
        ...{ type: 'TRENDS', granularity: 'WEEK' },
        events: ofEvent(kind, { aggregation: 'UNIQUE_USERS' }),
      },
      rows: trends,
      sql: series(users, kind, 'toStartOfDay(toMonday(occur_time))'),
    },
  ]),
  ...(
    [
      ['SUM', `sum(${price})`],
      ['AVG', `avg(${price})`],
      ['MIN', `min(${price})`],
      ['MAX', `max(${price})`],
      ['MEDIAN', ranked(50)],
      ['P75', ranked(75)],
      ['P90', ranked(90)],
      ['P95', ranked(95)],
      ['P99', ranked(99)],
      ['DISTINCT_VALUES', `uniqExact(${price})`],
    ] as const
  ).flatMap(([aggregation, value]): Case[] => [
    {
      name: `${aggregation} of prices by plan`,
      question: {
        ...{ type: 'SEGMENTATION', breakdowns: ['plan'] },
        events: ofEvent('buy', { aggregation, aggregationProperty: 'price' }),
      },
      rows: segments,
      sql: groups(value, 'buy', plan),
    },
    {
      name: `${aggregation} of prices a week`,
      question: {
        ...{ type: 'TRENDS', granularity: 'WEEK' },
        events: ofEvent('cart', { aggregation, aggregationProperty: 'price' }),
      },
      rows: trends,
      sql: series(value, 'cart', 'toStartOfDay(toMonday(occur_time))'),
    },
  ]),
  ...labels.slice(0, 2).flatMap(([property, label]): Case[] => [
    {
      name: `visits by ${property}`,
      question: { type: 'SEGMENTATION', session: { metric: 'SESSIONS' }, breakdowns: [property] },
      rows: segments,
      sql: `SELECT toString(${label}) AS label, toFloat64(count()) AS value FROM sessions WHERE ${beginsInRange} GROUP BY label`,
    },
  ]),
  ...labels.map(
    ([property, label]): Case => ({
      name: `the greatest of ${property}`,
      question: {
        type: 'TOP_K',
        topK: { dimension: 'PROPERTY', property, scope: { kind: 'buy' }, limit: 10 },
      },
      rows: greatest,
      sql: groups('count()', 'buy', label),
    }),
  ),
  ...(['cart', 'buy'] as const).map(
    (kind): Case => ({
      name: `active days of users of ${kind}`,
      question: { type: 'STICKINESS', events: ofEvent(kind), granularity: 'DAY' },
      rows: sticky,
      sql: `SELECT toUInt32(days), toFloat64(count()) FROM (SELECT profile_id, uniqExact(toDate(occur_time)) AS days
      ${ofKind(kind)} AND NOT cookieless GROUP BY profile_id) GROUP BY days ORDER BY days`,
    }),
  ),
];
const all = [...cases, ...crossed];

it('there are questions enough, and no two of one name', () => {
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  expect(all.length).toBeGreaterThanOrEqual(100);
});

it.each(all)('$name', async ({ question, rows, sql: statement }) => {
  const body = requestOf({ ...range, ...question });
  const asked = await service.post(projectId, 'shared.insights.v1.InsightsService/Query', body);
  expect(asked.status, asked.text).toBe(200);
  const answer = await sql.ask(projectId, statement, { default_format: 'JSONCompact' });
  expect(answer.status, answer.text).toBe(200);
  const expected = rows(JSON.parse(asked.text)).map(rounded).sort();
  const found: Rows = JSON.parse(answer.text).data;
  expect(expected.length).toBeGreaterThan(0);
  expect(found.map(rounded).sort()).toEqual(expected);
});

/** Sums of doubles in another order differ in their last digits. */
function rounded(row: (string | number | null)[]): string {
  return JSON.stringify(
    row.map((one) => (typeof one === 'number' ? Number(one.toPrecision(12)) : one)),
  );
}
