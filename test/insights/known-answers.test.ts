// Questions over a few events each, with the answers that a reader finds by hand. The oracle must give them, and the
// product must.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { oracleAnswer } from '../harness/insights/oracle/answer.ts';
import { Tables } from '../harness/insights/oracle/tables.ts';
import { eventTable } from '../harness/insights/project/event-table.ts';
import { Play } from '../harness/insights/project/play.ts';
import {
  all,
  at,
  type Case,
  every,
  range,
  trend,
} from '../harness/insights/questions/known-case.ts';
import { sessions, visits } from '../harness/insights/questions/known-visits.ts';
import { productAnswer } from '../harness/insights/questions/product-answer.ts';
import type { Question } from '../harness/insights/questions/question.ts';
import { type Stack, startStack } from '../harness/servers/stack.ts';

const events = [{}];

const berlin = eventTable(
  'berlin',
  `2025-10-25T21:59:59.999Z ann v1 view
   2025-10-25T22:00Z        ann v1 view
   2025-10-26T00:30Z        ann v1 view
   2025-10-26T01:30Z        bob v2 view
   2025-10-26T22:59Z        bob v2 view
   2025-10-26T23:00Z        bob v2 view`,
);
// The clocks of Lord Howe go back by half an hour at 15:00Z: from 02:00 to 01:30.
const lordHowe = eventTable(
  'lordhowe',
  `2025-04-05T14:10Z ann v1 view
   2025-04-05T14:59Z ann v1 view
   2025-04-05T15:00Z ann v1 view
   2025-04-05T15:29Z ann v1 view
   2025-04-05T15:30Z ann v1 view`,
);
const buckets: Case[] = [
  {
    name: 'a day of 25 hours is one day',
    question: {
      type: 'TRENDS',
      events,
      timezone: 'Europe/Berlin',
      ...range('2025-10-25T10:00Z', '2025-10-27T10:00Z'),
    },
    result: trend([
      ['2025-10-24T22:00Z', 1],
      ['2025-10-25T22:00Z', 4],
      ['2025-10-26T23:00Z', 1],
    ]),
  },
  {
    name: 'an hour that comes twice is two hours',
    question: {
      type: 'TRENDS',
      events,
      timezone: 'Europe/Berlin',
      granularity: 'HOUR',
      ...range('2025-10-26T00:00Z', '2025-10-26T02:00Z'),
    },
    result: trend([
      ['2025-10-26T00:00Z', 1],
      ['2025-10-26T01:00Z', 1],
    ]),
  },
  {
    name: 'half an hour that comes twice is a bucket of its own',
    question: {
      type: 'TRENDS',
      events,
      timezone: 'Australia/Lord_Howe',
      granularity: 'HOUR',
      ...range('2025-04-05T14:10Z', '2025-04-05T16:00Z'),
    },
    result: trend([
      ['2025-04-05T14:00Z', 2],
      ['2025-04-05T15:00Z', 2],
      ['2025-04-05T15:30Z', 1],
    ]),
  },
];

const sales = eventTable(
  'sales',
  `2024-02-01T10:00Z anon v1 buy n=3    plan=free
   2024-02-01T11:00Z ann  v1 buy n=4.5  plan=pro
   2024-02-01T12:00Z ann  v1 buy n=lots plan=pro
   2024-02-02T10:00Z bob  v2 buy n=-1   plan=pro
   2024-02-02T11:00Z cid  v3 buy        plan=42
   2024-02-02T12:00Z dot  v4 buy n=10
   2024-02-02T12:00Z gone v5 buy n=100  plan=pro`,
);
const february = range('2024-02-01T00:00Z', '2024-02-03T00:00Z');
const isOfNumber = (aggregation: string): boolean =>
  ['SUM', 'AVG', 'MIN', 'MAX'].includes(aggregation);
const measure = (
  aggregation: NonNullable<NonNullable<Question['events']>[number]['aggregation']>,
  value: number,
  leftOut = {},
): Case => ({
  name: `${aggregation} of a few sales`,
  question: {
    type: 'SEGMENTATION',
    events: [{ aggregation, ...(isOfNumber(aggregation) && { aggregationProperty: 'n' }) }],
    ...february,
  },
  result: { segmentation: { total: value, series: [{ ...every, ...all, value }] } },
  leftOut,
});
const deleted = { DELETED_PROFILES: 1 };
const values: Case[] = [
  {
    name: 'what is left out counts once',
    question: {
      type: 'SEGMENTATION',
      events: [{}, { event: { kind: 'buy' } }, {}].map((event) => ({
        ...event,
        aggregation: 'UNIQUE_USERS',
      })),
      ...february,
    },
    result: {
      segmentation: {
        total: 4,
        series: ['', 'buy', ''].map((eventKind, eventIndex) => ({
          ...{ eventKind, eventIndex, ...all },
          value: 4,
        })),
      },
    },
    leftOut: deleted,
  },
  measure('TOTAL', 7),
  // The anonymous visitor is Ann, and the deleted one is nobody.
  measure('UNIQUE_USERS', 4, deleted),
  measure('PER_USER_AVG', 1.5, deleted),
  measure('SUM', 116.5),
  measure('AVG', 23.3),
  measure('MIN', -1),
  measure('MAX', 100),
  {
    name: 'a user belongs to the group of the first touch, with all events',
    question: {
      type: 'SEGMENTATION',
      events: [{ aggregation: 'PER_USER_AVG' }],
      breakdowns: ['plan'],
      ...february,
    },
    result: {
      segmentation: {
        total: 1.5,
        series: [
          { ...every, ...all, value: 1 },
          { ...every, isOthers: false, breakdown: { plan: '42' }, value: 1 },
          { ...every, isOthers: false, breakdown: { plan: 'free' }, value: 3 },
          { ...every, isOthers: false, breakdown: { plan: 'pro' }, value: 1 },
        ],
      },
    },
    leftOut: deleted,
  },
  {
    name: 'groups beyond the limit are one',
    question: {
      type: 'SEGMENTATION',
      events: [{ aggregation: 'SUM', aggregationProperty: 'n' }],
      breakdowns: ['plan'],
      breakdownLimit: 2,
      ...february,
    },
    result: {
      segmentation: {
        total: 116.5,
        series: [
          { ...every, isOthers: false, breakdown: { plan: 'pro' }, value: 103.5 },
          { ...every, ...all, value: 10 },
          { ...every, breakdown: {}, isOthers: true, value: 3 },
        ],
      },
    },
    leftOut: { GROUPS_IN_OTHERS: 2 },
  },
  {
    name: 'the greatest plans',
    question: {
      type: 'TOP_K',
      topK: { dimension: 'PROPERTY', property: 'plan', metric: 'UNIQUE_USERS', limit: 2 },
      ...february,
    },
    result: {
      topK: {
        rows: [
          { dimensionValue: 'pro', value: 2, isOthers: false, isAbsent: false },
          { dimensionValue: '', value: 1, isOthers: false, isAbsent: true },
          { dimensionValue: '', value: 2, isOthers: true, isAbsent: false },
        ],
      },
    },
    leftOut: { GROUPS_IN_OTHERS: 2, ...deleted },
  },
];

const steps = eventTable(
  'steps',
  `2024-04-01T10:00Z    ann v1 one
   2024-04-01T10:00Z    ann v1 two
   2024-04-01T10:00:30Z ann v1 three
   2024-04-01T10:00Z    bob v2 two
   2024-04-01T10:01Z    bob v2 one
   2024-04-01T10:02Z    bob v2 two
   2024-04-01T11:00Z    bob v2 one
   2024-04-01T11:10Z    bob v2 two
   2024-04-01T11:40Z    bob v2 three
   2024-04-01T10:00Z    cid v3 one
   2024-04-01T11:30Z    cid v3 two
   2024-04-01T10:00Z    dot v4 two`,
);
/** No window is open any more. */
const over = { ...all, open: 0, isIncomplete: false, buckets: [] };
const april = range('2024-04-01T00:00Z', '2024-04-02T00:00Z');
const kindsOf = (...kinds: string[]) => kinds.map((kind) => ({ event: { kind } }));
const timed = (avg: number, median: number, p95: number, counts: readonly number[]) => ({
  avg: avg * 1_000,
  median: median * 1_000,
  p95: p95 * 1_000,
  distribution: [10, 60, 600, 3_600, 21_600, 86_400, 604_800, 2_592_000, undefined].map(
    (bound, index) => ({
      upperBound: bound === undefined ? null : bound * 1_000,
      count: counts[index],
    }),
  ),
});
const funnelOf = (steps: [string, number][], buckets: unknown[] = []) => ({
  funnel: {
    series: [
      { ...over, steps: steps.map(([eventKind, total]) => ({ eventKind, total })), buckets },
    ],
  },
});
const ways: Case[] = [
  {
    name: 'three steps within an hour',
    question: {
      type: 'FUNNEL',
      events: kindsOf('one', 'two', 'three'),
      conversionWindowMs: 3_600_000,
      includeStepTiming: true,
      ...april,
    },
    // Ann: 0 s and 30 s. Bob's chain ends at 11:40, from the latest steps before it: 10 and 30 minutes.
    result: {
      funnel: {
        series: [
          {
            ...over,
            steps: [
              { eventKind: 'one', total: 3 },
              {
                eventKind: 'two',
                total: 2,
                timing: timed(300, 0, 600, [1, 0, 1, 0, 0, 0, 0, 0, 0]),
              },
              {
                eventKind: 'three',
                total: 2,
                timing: timed(915, 30, 1_800, [0, 1, 0, 1, 0, 0, 0, 0, 0]),
              },
            ],
          },
        ],
      },
    },
  },
  {
    name: 'one event serves one step',
    question: { type: 'FUNNEL', events: kindsOf('one', 'one'), ...april },
    result: {
      funnel: {
        series: [
          {
            ...over,
            steps: [
              { eventKind: 'one', total: 3 },
              { eventKind: 'one', total: 1 },
            ],
          },
        ],
      },
    },
  },
  {
    name: 'who enters before the end and goes on after it',
    question: {
      ...{ type: 'FUNNEL', events: kindsOf('one', 'two', 'three'), conversionWindowMs: 3_600_000 },
      ...range('2024-04-01T10:00Z', '2024-04-01T11:20Z'),
    },
    result: funnelOf([
      ['one', 3],
      ['two', 2],
      ['three', 2],
    ]),
  },
  {
    name: 'two steps in any order',
    question: {
      ...{ type: 'FUNNEL', events: kindsOf('one', 'two'), conversionWindowMs: 3_600_000, ...april },
      funnel: { order: 'ANY' },
    },
    result: funnelOf([
      ['one', 4],
      ['two', 2],
    ]),
  },
  {
    name: 'two steps by the hour of the entry, without a third between',
    question: {
      ...{ type: 'FUNNEL', events: kindsOf('one', 'two'), conversionWindowMs: 3_600_000 },
      ...{ granularity: 'HOUR', ...range('2024-04-01T10:00Z', '2024-04-01T12:00Z') },
      funnel: { overTime: true, order: 'STRICT' },
    },
    result: funnelOf(
      [
        ['one', 3],
        ['two', 2],
      ],
      [
        [at('2024-04-01T10:00Z'), [3, 2], 0],
        [at('2024-04-01T11:00Z'), [1, 1], 0],
      ],
    ),
  },
  {
    name: 'the ways of four visits',
    question: { type: 'USER_FLOW', userFlow: { maxHops: 1, maxNodes: 1 }, ...april },
    result: {
      userFlow: {
        nodes: [
          { id: '0!others', isOthers: true },
          { id: '0:one', isOthers: false },
          { id: '1!others', isOthers: true },
          { id: '1:two', isOthers: false },
        ],
        links: [
          { source: '0:one', target: '1:two', value: 2 },
          { source: '0!others', target: '1!others', value: 1 },
        ],
      },
    },
    leftOut: { NODES_IN_OTHERS: 2, STEPS_BEYOND_LIMIT: 5 },
  },
];

const weeks = eventTable(
  'weeks',
  `2024-06-03T10:00Z ann v1 open
   2024-06-04T10:00Z ann v2 open
   2024-06-06T10:00Z ann v3 open
   2024-06-04T09:00Z bob v4 note
   2024-06-05T10:00Z bob v4 open
   2024-06-06T10:00Z bob v6 open
   2024-06-02T10:00Z cid v7 open
   2024-06-05T11:00Z cid v8 note`,
);
const week = range('2024-06-03T00:00Z', '2024-06-07T00:00Z');
const june = (day: number): number => Date.UTC(2024, 5, day);
const daily = (...counts: number[]): [number, number][] =>
  counts.map((count, index) => [june(3 + index), count]);
const returns: Case[] = [
  {
    name: 'retention day by day',
    question: { type: 'RETENTION', events: [{ event: { kind: 'open' } }, {}], ...week },
    result: {
      retention: {
        series: [
          {
            ...all,
            cohorts: [
              { cohort: june(3), size: 1, points: daily(1, 1, 0, 1) },
              { cohort: june(4), size: 0, points: daily(0, 0, 0, 0).slice(1) },
              { cohort: june(5), size: 1, points: daily(0, 0, 1, 1).slice(2) },
              { cohort: june(6), size: 0, points: daily(0, 0, 0, 0).slice(3) },
            ],
          },
        ],
      },
    },
  },
  {
    name: 'lifecycle day by day',
    question: { type: 'LIFECYCLE', events: [{ event: { kind: 'open' } }], ...week },
    // Bob's first event ever was a note on the 4th, so that on the 5th he comes back.
    result: {
      lifecycle: {
        newUsers: daily(1, 0, 0, 0),
        returningUsers: daily(0, 1, 0, 1),
        resurrectingUsers: daily(0, 0, 1, 1),
        dormantUsers: daily(1, 0, 1, 0),
      },
    },
  },
  {
    name: 'stickiness by day',
    question: { type: 'STICKINESS', events, ...week },
    result: {
      stickiness: {
        points: [
          [1, 1],
          [2, 0],
          [3, 2],
          [4, 0],
        ],
      },
    },
  },
];

let stack: Stack | undefined;
let tables: Tables | undefined;
beforeAll(async () => {
  stack = await startStack();
  const play = new Play(stack);
  await play.send([berlin, lordHowe, sales, steps, weeks, visits].flat());
  await play.identify('ann-sales', {}, 'anon-sales');
  await play.identify('gone-sales', {});
  await play.settle();
  await play.remove('gone-sales');
  await play.settle();
  // It does not bring the events back.
  await play.alias('gone-sales', 'ann-sales');
  await play.settle();
  tables = await Tables.create(await play.known());
});
afterAll(async () => {
  tables?.close();
  await stack?.stop();
});

describe.each([...buckets, ...values, ...ways, ...returns, ...sessions])('$name', (one) => {
  const { question, result, leftOut = {} } = one;

  it('says the oracle', async () => {
    if (tables === undefined) throw new Error('no tables');
    const answer = await oracleAnswer(tables, question, Date.now());
    expect(answer).toMatchObject({ result });
    expect(answer.leftOut).toEqual(leftOut);
  });

  it('says the product', async () => {
    if (stack === undefined) throw new Error('no stack');
    const answer = await productAnswer(stack, question);
    expect(answer).toMatchObject({ result });
    expect(answer.leftOut).toEqual(leftOut);
  });
});
