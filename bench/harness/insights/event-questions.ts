// Questions about events, whoever sent them: trends, a filter, breakdowns, the greatest groups, ways of visits.

import { listOf, numberOf, pointRows, pointsOfSeries } from './answers.ts';
import { dayOf, type Question, within } from './question.ts';

const pageViews = { kind: 'page_view' };
const day = 'GRANULARITY_DAY';

function trend(name: string, more: TrendOptions): Question {
  const { event = pageViews, breakdown, condition = () => '1', group } = more;
  const spec = {
    insightType: 'INSIGHT_TYPE_TRENDS',
    events: [{ event, aggregation: 'AGGREGATION_TYPE_TOTAL' }],
    ...(breakdown !== undefined && { breakdowns: [{ property: breakdown }] }),
  };
  return {
    ...{ name, daysAreKept: true, days: 30, queries: [{ granularity: day, spec }] },
    sql: (layout, asked) => `SELECT ${group === undefined ? '' : `${group(layout)} AS value, `}
        ${dayOf(layout, asked)} AS day, count() FROM ${layout.from}
      WHERE ${within(layout, asked)} AND ${layout.kind} = 'page_view' AND ${condition(layout)}
      GROUP BY ${group === undefined ? '' : 'value, '}day`,
    rowsOf: (answers) =>
      answers.flatMap((answer) =>
        listOf(answer, 'trends', 'series').flatMap((series) =>
          pointRows(
            listOf(series, 'points'),
            ...(breakdown === undefined ? [] : [groupValue(series, breakdown)]),
          ),
        ),
      ),
  };
}

interface TrendOptions {
  event?: { kind: string; filters?: { property: string; operator: string; value: string }[] };
  breakdown?: string;
  condition?: (layout: Parameters<Question['sql']>[0]) => string;
  group?: (layout: Parameters<Question['sql']>[0]) => string;
}

function groupValue(series: { breakdown?: unknown }, property: string): string {
  const values = Object.entries(series.breakdown ?? {});
  return String(values.find(([name]) => name === property)?.[1] ?? '');
}

const topPaths: Question = {
  name: 'top 10 paths',
  ...{ daysAreKept: true, days: 30 },
  queries: [
    {
      granularity: day,
      spec: {
        insightType: 'INSIGHT_TYPE_TOP_K',
        topK: {
          dimension: 'DIMENSION_PROPERTY',
          property: '$pathname',
          scope: pageViews,
          limit: 10,
          omitOthers: true,
        },
      },
    },
  ],
  sql: (layout, asked) => `SELECT ${layout.pathname} AS path, count() AS views FROM ${layout.from}
    WHERE ${within(layout, asked)} AND ${layout.kind} = 'page_view'
    GROUP BY path ORDER BY views DESC, path LIMIT 10`,
  rowsOf: (answers) =>
    answers.flatMap((answer) =>
      listOf(answer, 'topK', 'rows').map((row) => [
        String(row['dimensionValue']),
        numberOf(row['value']),
      ]),
    ),
};

/** The level at which quantileExact finds the nearest rank: it takes the place after the level of all, rounded down. */
const level95 = 0.95 - 1e-11;

const percentile: Question = {
  name: 'P95 of a price',
  ...{ daysAreKept: false, days: 30 },
  queries: [
    {
      granularity: day,
      spec: {
        insightType: 'INSIGHT_TYPE_TRENDS',
        events: [
          {
            event: { kind: 'product_viewed' },
            ...{ aggregation: 'AGGREGATION_TYPE_P95', aggregationProperty: 'price' },
          },
        ],
      },
    },
  ],
  sql: (
    layout,
    asked,
  ) => `SELECT ${dayOf(layout, asked)} AS day, quantileExact(${level95})(${layout.double('price')})
    FROM ${layout.from} WHERE ${within(layout, asked)} AND ${layout.kind} = 'product_viewed' GROUP BY day`,
  rowsOf: pointsOfSeries,
};

const revenue: Question = {
  name: 'revenue by currency',
  ...{ daysAreKept: false, days: 30 },
  queries: [
    {
      granularity: day,
      spec: { insightType: 'INSIGHT_TYPE_REVENUE', events: [{ event: { kind: 'purchase' } }] },
    },
  ],
  sql: (
    layout,
    asked,
  ) => `SELECT ${layout.custom('currency')} AS currency, ${dayOf(layout, asked)} AS day,
      sum(${layout.double('amount')})
    FROM ${layout.from} WHERE ${within(layout, asked)} AND ${layout.kind} = 'purchase' GROUP BY currency, day`,
  rowsOf: (answers) =>
    answers.flatMap((answer) =>
      listOf(answer, 'revenue', 'series').flatMap((series) =>
        pointRows(listOf(series, 'points'), String(series['currency'] ?? '')),
      ),
    ),
};

const hops = 5;

const userFlow: Question = {
  name: 'user flow, 5 hops',
  ...{ daysAreKept: false, days: 30 },
  queries: [
    {
      granularity: day,
      spec: {
        insightType: 'INSIGHT_TYPE_USER_FLOW',
        userFlow: {
          nodeKind: 'NODE_KIND_EVENT_KIND',
          groupBy: 'GROUP_BY_SESSION',
          maxHops: hops,
          maxNodes: 50,
          maxLinks: 500,
        },
      },
    },
  ],
  sql: (layout, asked) => `SELECT concat(toString(hop - 1), ':', steps[hop]) AS source,
      concat(toString(hop), ':', steps[hop + 1]) AS target, count() AS visits
    FROM (
      SELECT arraySlice(arrayCompact(arrayMap(e -> e.3, arraySort(groupArray((${layout.time}, ${layout.eventId}, toString(${layout.kind})))))), 1, ${hops + 1}) AS steps
      FROM ${layout.from} WHERE ${within(layout, asked)} GROUP BY ${layout.session})
    ARRAY JOIN arrayEnumerate(arrayPopBack(steps)) AS hop
    GROUP BY source, target ORDER BY visits DESC, source, target LIMIT 500`,
  rowsOf: (answers) =>
    answers.flatMap((answer) =>
      listOf(answer, 'userFlow', 'links').map(({ source, target, value }) => [
        String(source),
        String(target),
        numberOf(value),
      ]),
    ),
};

export const eventQuestions: readonly Question[] = [
  trend('trend of one kind', {}),
  trend('with a filter on a custom string', {
    event: {
      kind: 'page_view',
      filters: [{ property: 'plan', operator: 'FILTER_OPERATOR_EQUALS', value: 'pro' }],
    },
    condition: (layout) => layout.customIs('plan', 'pro'),
  }),
  trend('by browser', { breakdown: '$browser', group: ({ browser }) => browser }),
  trend('by a custom property', {
    breakdown: 'plan',
    group: ({ custom }) => custom('plan'),
  }),
  percentile,
  revenue,
  userFlow,
  topPaths,
];
