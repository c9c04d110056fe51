// A member that the form of a question does not read is refused, each with its field and the forms that read it.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { ConnectError } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { FilterOperator, LogicalOperator } from '../../../proto/gen/common/v1/filter_pb.js';
import {
  AggregationType,
  Compare,
  type InsightQuerySpecSchema,
  InsightType,
  QueryRequestSchema,
  SessionMetric,
  TopKQuery_Dimension,
  Touch,
  UserFlowQuery_NodeKind,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { AskedSpec } from '../../../test/harness/insights/asked-project.ts';
import { planOf } from '../forms/forms.ts';
import { readQuestion } from './question.ts';

const firstDayMs = Date.UTC(2026, 9, 10);

function refusal(spec: MessageInitShape<typeof InsightQuerySpecSchema>): string {
  const timeRange = {
    from: timestampFromMs(firstDayMs),
    to: timestampFromMs(firstDayMs + 86_400_000),
  };
  try {
    planOf(readQuestion('', create(QueryRequestSchema, { spec, timeRange })));
    return 'taken';
  } catch (error) {
    return error instanceof ConnectError ? error.rawMessage : String(error);
  }
}

const topK = { dimension: TopKQuery_Dimension.EVENT_KIND };
const session = { metric: SessionMetric.SESSIONS };
const forms: Record<string, AskedSpec> = {
  TRENDS: { events: [{}] },
  SEGMENTATION: { events: [{}] },
  FUNNEL: { events: [{}, {}] },
  RETENTION: { events: [{}] },
  USER_FLOW: { userFlow: {} },
  TOP_K: { topK },
  LIFECYCLE: { events: [{}] },
  STICKINESS: { events: [{}] },
  REVENUE: { events: [{}] },
};
const users = [{ aggregation: AggregationType.UNIQUE_USERS }];
const values = 'TRENDS and SEGMENTATION';
const grouped = 'TRENDS, SEGMENTATION, FUNNEL, RETENTION, LIFECYCLE, STICKINESS and REVENUE';
const every = grouped.replace('RETENTION', 'RETENTION, TOP_K');
const members: [field: string, spec: AskedSpec, forms: string][] = [
  ['userFlow', { userFlow: {} }, 'USER_FLOW'],
  ['flow', { flow: { to: {} } }, 'USER_FLOW'],
  ['topK', { topK }, 'TOP_K'],
  ['session', { session, events: [] }, values],
  ['conversionWindow', { conversionWindow: { seconds: 60n } }, 'FUNNEL'],
  ['includeStepTiming', { includeStepTiming: true }, 'FUNNEL'],
  ['funnel', { funnel: { overTime: true } }, 'FUNNEL'],
  ['formulas', { formulas: [{ expression: 'A' }] }, 'TRENDS, SEGMENTATION and REVENUE'],
  ['rollingDays', { rollingDays: 7, events: users }, 'TRENDS'],
  ['compare', { compare: Compare.PREVIOUS_YEAR }, every],
  ['movingAverage', { movingAverage: 7 }, 'TRENDS and REVENUE'],
  ['eventsPerUser', { eventsPerUser: {} }, 'STICKINESS'],
  ['retention', { retention: { unbounded: true } }, 'RETENTION'],
  ['touch', { touch: Touch.EVERY, breakdowns: [{ property: 'plan' }], events: users }, values],
  ['breakdowns', { breakdowns: [{ property: 'plan' }] }, grouped],
  ['breakdownLimit', { breakdownLimit: 3 }, grouped],
];

describe.each(Object.entries(forms))('%s', (form, own) => {
  const insightType = Number(Object.entries(InsightType).find(([name]) => name === form)?.[1]);

  it.each(members)('takes %s or refuses it', (field, spec, readers) => {
    const expected = readers.split(/, | and /).includes(form)
      ? 'taken'
      : `spec.${field}: is for ${readers}`;
    expect(refusal({ insightType, ...own, ...spec })).toBe(expected);
  });

  it('takes an aggregation of events or refuses it', () => {
    const { events = [] } = own;
    const all = events.map(() => ({ aggregation: AggregationType.UNIQUE_USERS }));
    const expected =
      events.length === 0 || values.includes(form)
        ? 'taken'
        : `spec.events[0].aggregation: is for ${values}`;
    expect(refusal({ insightType, ...own, events: all })).toBe(expected);
    const total = events.map(() => ({ aggregation: AggregationType.TOTAL }));
    expect(refusal({ insightType, ...own, events: total })).toBe('taken');
  });
});

it('takes cumulative for users of TRENDS, and for STICKINESS', () => {
  const { TRENDS, STICKINESS, RETENTION } = InsightType;
  const own = { cumulative: true, events: [{}] };
  expect(refusal({ ...own, insightType: TRENDS, events: users })).toBe('taken');
  expect(refusal({ ...own, insightType: STICKINESS })).toBe('taken');
  const rule = 'spec.cumulative: is for TRENDS, STICKINESS and REVENUE';
  expect(refusal({ ...own, insightType: RETENTION })).toBe(rule);
});

it.each([InsightType.USER_FLOW, InsightType.TOP_K])(
  'the form %s takes no events',
  (insightType) => {
    const own = insightType === InsightType.TOP_K ? { topK } : { userFlow: {} };
    expect(refusal({ insightType, ...own, events: [{}] })).toMatch(
      /^spec\.events: is for TRENDS, /,
    );
  },
);

it.each([
  ['spec.events', { insightType: InsightType.TRENDS, session, events: [{}] }],
  [
    'spec.events[0].aggregationProperty',
    { insightType: InsightType.TRENDS, events: [{ aggregationProperty: 'amount' }] },
  ],
  [
    'spec.events[1].aggregationProperty',
    { insightType: InsightType.FUNNEL, events: [{}, { aggregationProperty: 'amount' }] },
  ],
  ['spec.topK.property', { insightType: InsightType.TOP_K, topK: { ...topK, property: 'plan' } }],
  [
    'spec.topK.metricProperty',
    { insightType: InsightType.TOP_K, topK: { ...topK, metricProperty: 'amount' } },
  ],
  [
    'spec.userFlow.nodeProperty',
    {
      insightType: InsightType.USER_FLOW,
      userFlow: { nodeKind: UserFlowQuery_NodeKind.EVENT_KIND, nodeProperty: 'plan' },
    },
  ],
] satisfies [string, AskedSpec][])('refuses %s where nothing reads it', (field, spec) => {
  expect(refusal(spec).split(': ')[0]).toBe(field);
});

it.each<[string, AskedSpec]>([
  ['spec.rollingDays: must be from 2 to 90', { rollingDays: 1, events: users }],
  ['spec.rollingDays: must be from 2 to 90', { rollingDays: 91, events: users }],
  ['spec.rollingDays: is for series of UNIQUE_USERS', { rollingDays: 7, events: [{}] }],
  [
    'spec.cumulative: is for series of UNIQUE_USERS, TOTAL and SUM',
    { cumulative: true, events: [{ aggregation: AggregationType.PER_USER_AVG }] },
  ],
  ['spec.events[0].rollingDays: is for UNIQUE_USERS', { events: [{ rollingDays: 7 }] }],
  [
    'spec.rollingDays: must be 0 where cumulative is set',
    { rollingDays: 7, cumulative: true, events: users },
  ],
  [
    'spec.breakdowns: must be empty where series are rolling or cumulative',
    { rollingDays: 7, events: users, breakdowns: [{ property: 'plan' }] },
  ],
  ['spec.rollingDays: is for events, not for visits', { rollingDays: 7, session, events: [] }],
])('users of a window are refused: %s', (rule, spec) => {
  expect(refusal({ insightType: InsightType.TRENDS, ...spec })).toBe(rule);
});

it.each<[string, AskedSpec]>([
  ['is for TRENDS and SEGMENTATION', { insightType: InsightType.FUNNEL, events: [{}, {}] }],
  ['is for breakdowns', { events: users }],
  ['is for users, not for visits', { session, events: [] }],
  ['is for series that count users', { events: [{}], breakdowns: [{ property: 'plan' }] }],
  [
    'must not be EVERY with SUM_PER_USER or AVG_PER_USER',
    {
      events: [{ aggregation: AggregationType.SUM_PER_USER, aggregationProperty: 'amount' }],
      breakdowns: [{ property: 'plan' }],
    },
  ],
])('a touch is refused: %s', (rule, spec) => {
  const touch = Touch.EVERY;
  expect(refusal({ insightType: InsightType.TRENDS, touch, ...spec })).toBe(`spec.touch: ${rule}`);
});

it.each<[string, { kind?: string; kinds: string[] }]>([
  ['.kinds: must be empty where kind is set', { kind: 'a', kinds: ['b'] }],
  ['.kinds[1]: must not be empty', { kinds: ['a', ''] }],
  ['.kinds: takes at most 20', { kinds: Array(21).fill('a') }],
  ['.kinds[0]: takes at most 200 characters', { kinds: ['k'.repeat(201)] }],
])('kinds are refused: %s', (rule, event) => {
  const events = [{ event }];
  expect(refusal({ insightType: InsightType.TRENDS, events })).toBe(`spec.events[0].event${rule}`);
  const scoped = { insightType: InsightType.TOP_K, topK: { ...topK, scope: event } };
  expect(refusal(scoped)).toBe(`spec.topK.scope${rule}`);
});

describe('a filter group without filters', () => {
  const filter = { property: 'plan', operator: FilterOperator.IS_SET };
  const { AND, OR } = LogicalOperator;
  const ask = (
    filterGroups: NonNullable<AskedSpec['filterGroups']>,
    filterGroupsOperator = AND,
  ): string =>
    refusal({ insightType: InsightType.TRENDS, events: [{}], filterGroups, filterGroupsOperator });

  it('is refused where any of its filters suffices', () => {
    expect(ask([{ filters: [filter] }, { operator: OR }])).toBe(
      'spec.filterGroups[1].filters: must not be empty where one of several suffices',
    );
  });

  it('is refused where it suffices itself', () => {
    expect(ask([{ filters: [filter] }, {}], OR)).toMatch(/^spec\.filterGroups\[1\]\.filters: /);
  });

  it('says nothing where all must hold', () => {
    expect(ask([{ filters: [filter] }, {}])).toBe('taken');
  });
});
