// TRENDS and SEGMENTATION over HTTP on a real engine, with answers worked out by hand.

import { randomUUID } from 'node:crypto';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FilterOperator, PropertySource } from '../../../../proto/gen/common/v1/filter_pb.js';
import {
  AggregationType,
  type Granularity,
  type InsightsService,
  InsightType,
  LeftOut_Reason,
} from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { useEngine } from '../../../../test/harness/servers/use-servers.ts';
import {
  type ReadService,
  startReadService,
} from '../../../../test/harness/services/read-service.ts';
import {
  type StoredRow,
  storedRow,
  storeRows,
} from '../../../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../../../test/harness/tables/stored-profiles.ts';

const engine = useEngine();
const project = randomUUID();
let service: ReadService;
let insights: Client<typeof InsightsService>;
const logLines: string[] = [];
const log = pino({ level: 'debug' }, { write: (line: string) => void logLines.push(line) });

const at = (time: string): number => Date.parse(`2026-10-${time}Z`);
const row = (time: string, distinctId: string, fields: Partial<StoredRow> = {}): StoredRow =>
  storedRow({ projectId: project, distinctId, occurTimeMs: at(time), ...fields });

beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url, readsPerSecond: 0, log });
  insights = service.insights(project);
  await storeRows(service.clickhouse, [
    row('10T10:00:00', 'anon-1', { columns: { browser: 'Chrome' }, ints: { amount: 5n } }),
    row('10T22:30:00', 'ada', { columns: { browser: 'Firefox' }, doubles: { amount: 2.5 } }),
    row('11T09:00:00', 'bob', { columns: { browser: 'Firefox' } }),
    row('11T09:00:00', 'gone', { columns: { browser: 'Safari' } }),
    row('12T09:00:00', 'cookieless-1', { cookieless: true }),
    row('12T10:00:00', 'bob', { columns: { browser: 'Chrome' }, strings: { amount: '9' } }),
    row('12T10:00:00', 'bob', { kind: 'purchase', ints: { amount: -7n } }),
  ]);
  await storeProfiles(service.clickhouse, [
    { projectId: project, distinctId: 'anon-1', owner: 'ada', root: 'ada', wasClaimed: true },
    { projectId: project, distinctId: 'ada', traits: { plan: 'pro' } },
    { projectId: project, distinctId: 'gone', deleted: true, traits: { plan: 'pro' } },
  ]);
});
afterAll(() => service.stop());

const timeRange = {
  from: timestampFromMs(at('10T00:00:00')),
  to: timestampFromMs(at('13T00:00:00')),
};
const pageViews = (aggregation: AggregationType, aggregationProperty = '') => [
  { event: { kind: 'page_view' }, aggregation, aggregationProperty },
];

interface Ask {
  spec: Parameters<Client<typeof InsightsService>['query']>[0]['spec'];
  timezone?: string;
  granularity?: Granularity;
  asOf?: number;
  timeRange?: typeof timeRange;
}

async function trends({ spec, asOf, ...rest }: Ask) {
  const response = await insights.query({
    spec: { insightType: InsightType.TRENDS, ...spec },
    timeRange,
    ...rest,
    ...(asOf !== undefined && { asOf: timestampFromMs(asOf) }),
  });
  if (response.result.case !== 'trends') throw new Error('no trends');
  return {
    series: response.result.value.series.map(({ breakdown, isOthers, points }) => ({
      group: isOthers ? 'others' : Object.values(breakdown).join(),
      values: points.map(({ value }) => value),
    })),
    starts: response.result.value.series[0]?.points.map(({ time }) =>
      time === undefined ? '' : new Date(timestampMs(time)).toISOString(),
    ),
    leftOut: response.leftOut.map(({ reason, count }) => [LeftOut_Reason[reason], Number(count)]),
  };
}

describe('a trend', () => {
  it('counts events of everyone, day by day', async () => {
    const { series, leftOut } = await trends({
      spec: { events: pageViews(AggregationType.TOTAL) },
    });
    expect(series).toEqual([{ group: '', values: [2, 2, 2] }]);
    expect(leftOut).toEqual([]);
  });

  it('follows the days of a zone that is off by half an hour', async () => {
    const { series, starts } = await trends({
      spec: { events: pageViews(AggregationType.TOTAL) },
      timezone: 'Asia/Kolkata',
    });
    expect(starts?.[0]).toBe('2026-10-09T18:30:00.000Z');
    expect(series).toEqual([{ group: '', values: [1, 3, 2, 0] }]);
  });

  it('counts merged ids as one user, and nobody who is deleted or cookieless', async () => {
    const spec = { events: pageViews(AggregationType.UNIQUE_USERS) };
    const { series, leftOut } = await trends({ spec });
    expect(series).toEqual([{ group: '', values: [1, 1, 1] }]);
    expect(leftOut).toEqual([
      ['COOKIELESS_EVENTS', 1],
      ['DELETED_PROFILES', 1],
    ]);
    const all = await trends({ spec: { ...spec, includeCookieless: true } });
    expect(all.series).toEqual([{ group: '', values: [1, 1, 2] }]);
  });

  it('leaves an event out once, however many series it matches, and each event that any of them matches', async () => {
    const aggregation = AggregationType.UNIQUE_USERS;
    const browser = { property: '$browser', operator: FilterOperator.IS_NOT_SET, value: '' };
    const events = [{ kind: 'purchase' }, { kind: 'page_view' }, {}, { filters: [browser] }];
    const spec = { events: events.map((event) => ({ event, aggregation })) };
    expect((await trends({ spec })).leftOut).toEqual([
      ['COOKIELESS_EVENTS', 1],
      ['DELETED_PROFILES', 1],
    ]);
    const some = { events: spec.events.slice(0, 2) };
    expect((await trends({ spec: some, asOf: at('12T09:30:00') })).leftOut).toEqual([
      ['COOKIELESS_EVENTS', 1],
      ['DELETED_PROFILES', 1],
      ['RECEIVED_LATER', 2],
    ]);
  });

  it('attributes a user to the first touch, an event to its own value', async () => {
    const breakdowns = [{ property: '$browser' }];
    const users = await trends({
      spec: { events: pageViews(AggregationType.UNIQUE_USERS), breakdowns },
    });
    expect(users.series).toEqual([
      { group: 'Chrome', values: [1, 0, 0] },
      { group: 'Firefox', values: [0, 1, 1] },
    ]);
    const events = await trends({
      spec: { events: pageViews(AggregationType.TOTAL), breakdowns, breakdownLimit: 2 },
    });
    expect(events.series).toEqual([
      { group: 'Chrome', values: [1, 0, 1] },
      { group: 'Firefox', values: [1, 1, 0] },
      { group: 'others', values: [0, 1, 1] },
    ]);
    expect(events.leftOut).toEqual([['GROUPS_IN_OTHERS', 2]]);
  });

  it('splits and filters by traits of the person', async () => {
    const { series } = await trends({
      spec: {
        events: pageViews(AggregationType.TOTAL),
        breakdowns: [{ property: 'profile.plan' }],
      },
    });
    expect(series).toEqual([
      { group: '', values: [0, 2, 2] },
      { group: 'pro', values: [2, 0, 0] },
    ]);
    const plan = (operator: FilterOperator) => ({
      filters: [{ property: 'plan', operator, value: 'pro', source: PropertySource.PROFILE }],
    });
    const withPlan = { event: { kind: 'page_view', ...plan(FilterOperator.EQUALS) } };
    expect((await trends({ spec: { events: [withPlan] } })).series[0]?.values).toEqual([2, 0, 0]);
    const without = { event: { kind: 'page_view', ...plan(FilterOperator.NOT_EQUALS) } };
    expect((await trends({ spec: { events: [without] } })).series[0]?.values).toEqual([0, 2, 2]);
  });

  it('knows what was received by a moment', async () => {
    const { series, leftOut } = await trends({
      spec: { events: pageViews(AggregationType.TOTAL) },
      asOf: at('11T09:00:01'),
    });
    expect(series[0]?.values).toEqual([2, 2, 0]);
    expect(leftOut).toEqual([['RECEIVED_LATER', 2]]);
  });
});

describe('a breakdown', () => {
  it('tells a lacking value, an empty one and all types apart, and finds those of one text together', async () => {
    const other = randomUUID();
    const odd = (fields: Partial<StoredRow>): StoredRow =>
      storedRow({ projectId: other, occurTimeMs: at('10T10:00:00'), ...fields });
    const groups = async (property: string): Promise<unknown[]> => {
      const { result } = await service.insights(other).query({
        spec: { insightType: InsightType.SEGMENTATION, events: [{}], breakdowns: [{ property }] },
        timeRange,
      });
      if (result.case !== 'segmentation') throw new Error('no segmentation');
      return result.value.series.map(({ breakdown, value }) => [breakdown[property], value]);
    };
    await storeRows(service.clickhouse, [
      odd({ columns: { browser: '=' } }),
      odd({ columns: { browser: '<' } }),
      odd({ strings: { size: '<' } }),
    ]);
    expect(await groups('$browser')).toEqual([
      [undefined, 1],
      ['<', 1],
      ['=', 1],
    ]);
    await storeRows(service.clickhouse, [
      odd({ strings: { $browser: '', size: '' } }),
      odd({ ints: { $browser: 7n, size: 42n } }),
      odd({ strings: { size: '42' }, bools: { $browser: true } }),
    ]);
    expect(await groups('$browser')).toEqual([
      [undefined, 1],
      ['', 1],
      ['7', 1],
      ['<', 1],
      ['=', 1],
      ['true', 1],
    ]);
    expect(await groups('size')).toEqual([
      [undefined, 2],
      ['42', 2],
      ['', 1],
      ['<', 1],
    ]);
    expect(await groups('never')).toEqual([[undefined, 6]]);
  });
});

describe('a segmentation', () => {
  it.each([
    [AggregationType.SUM, 0.5],
    [AggregationType.AVG, 0.5 / 3],
    [AggregationType.MIN, -7],
    [AggregationType.MAX, 5],
  ])('has the %s of a number', async (aggregation, total) => {
    const events = [{ event: {}, aggregation, aggregationProperty: 'amount' }];
    const spec = { insightType: InsightType.SEGMENTATION, events };
    const { result } = await insights.query({ spec, timeRange });
    expect(result.case === 'segmentation' && result.value.total).toBeCloseTo(total, 12);
  });

  it('has events per user, and a total beside its groups', async () => {
    const spec = {
      insightType: InsightType.SEGMENTATION,
      events: pageViews(AggregationType.PER_USER_AVG),
      breakdowns: [{ property: '$browser' }],
    };
    const { result } = await insights.query({ spec, timeRange });
    if (result.case !== 'segmentation') throw new Error('no segmentation');
    expect(result.value.total).toBe(2);
    expect(result.value.series.map(({ value }) => value)).toEqual([2, 2]);
  });
});

describe('numbers of users and of lists', () => {
  const { MEDIAN, P75, P99, DISTINCT_VALUES, SUM_PER_USER, AVG_PER_USER } = AggregationType;
  const numbers = randomUUID();
  const one = (distinctId: string, amount: bigint, size?: string): StoredRow =>
    storedRow({
      ...{ projectId: numbers, distinctId, occurTimeMs: at(`10T10:00:0${amount}`) },
      ...{ ints: { amount }, ...(size !== undefined && { strings: { size } }) },
    });
  beforeAll(() =>
    storeRows(service.clickhouse, [
      ...[one('ada', 1n, 's'), one('ada', 3n, 'm'), one('bob', 4n, 's'), one('bob', 9n)],
      storedRow({ projectId: numbers, distinctId: 'eve', occurTimeMs: at('10T11:00:00') }),
    ]),
  );

  // The lower of the two in the middle; the third of four; three users, of whom two have numbers.
  it.each<[AggregationType, string, number[]]>([
    [MEDIAN, 'amount', [3, 9, 1, 3]],
    [P75, 'amount', [4, 9, 4, 3]],
    [P99, 'amount', [9, 9, 4, 3]],
    [DISTINCT_VALUES, 'size', [2, 0, 1, 1]],
    [SUM_PER_USER, 'amount', [17 / 3, 17 / 2, 0]],
    [AVG_PER_USER, 'amount', [4.25, 4.25, 0]],
  ])('are worked out by hand: %s of %s', async (aggregation, property, [total, ...groups]) => {
    const spec = {
      insightType: InsightType.SEGMENTATION,
      events: [{ event: {}, aggregation, aggregationProperty: property }],
      breakdowns: [{ property: 'size' }],
    };
    const { result } = await service.insights(numbers).query({ spec, timeRange });
    if (result.case !== 'segmentation') throw new Error('no segmentation');
    expect(result.value.total).toBe(total);
    expect(result.value.series.map(({ value }) => value)).toEqual(groups);
  });
});

describe('users of several days', () => {
  const events = pageViews(AggregationType.UNIQUE_USERS);

  it('count once over the days that end with each day, those before the range too', async () => {
    // Merged, ada came on the 10th; bob on the 11th and the 12th.
    const { series } = await trends({ spec: { events, rollingDays: 2 } });
    expect(series).toEqual([{ group: '', values: [1, 2, 1] }]);
    const later = { ...timeRange, from: timestampFromMs(at('11T12:00:00')) };
    const lastDays = await trends({ spec: { events, rollingDays: 2 }, timeRange: later });
    expect(lastDays.series[0]?.values).toEqual([2, 1]);
  });

  it('count once from the beginning of the range', async () => {
    const { series } = await trends({ spec: { events, cumulative: true } });
    expect(series[0]?.values).toEqual([1, 2, 2]);
    const later = { ...timeRange, from: timestampFromMs(at('11T00:00:00')) };
    const rest = await trends({ spec: { events, cumulative: true }, timeRange: later });
    expect(rest.series[0]?.values).toEqual([1, 1]);
  });

  it('stand beside events and sums until the end of each bucket', async () => {
    const spec = {
      cumulative: true,
      events: [
        { event: {} },
        { event: {}, aggregation: AggregationType.SUM, aggregationProperty: 'amount' },
      ],
    };
    const { series } = await trends({ spec });
    expect(series.map(({ values }) => values)).toEqual([
      [2, 4, 7],
      [7.5, 7.5, 0.5],
    ]);
  });

  it('are divided by each other', async () => {
    const [daily = expect.fail('no event')] = events;
    const spec = { events: [{ ...daily, rollingDays: 1 }, daily], rollingDays: 2 };
    const { series } = await trends({ spec: { ...spec, formulas: [{ expression: 'A / B' }] } });
    expect(series.at(-1)?.values).toEqual([1, 0.5, 1]);
  });
});

describe('formulas', () => {
  const formulas = [{ expression: 'A / B' }, { expression: 'A - 1', displayName: 'less' }];
  const events = [
    ...pageViews(AggregationType.TOTAL),
    { event: { kind: 'purchase' }, aggregation: AggregationType.TOTAL },
  ];

  it('have no value where they divide by zero, and stand behind the series', async () => {
    const { series } = await trends({ spec: { events, formulas } });
    expect(series.map(({ values }) => values)).toEqual([
      ...[
        [2, 2, 2],
        [0, 0, 1],
      ],
      ...[
        [undefined, undefined, 2],
        [1, 1, 1],
      ],
    ]);
  });

  it('divide users by users of the same groups, and say whom they leave out', async () => {
    const users = [...pageViews(AggregationType.UNIQUE_USERS), ...events];
    const { series, leftOut } = await trends({
      spec: { events: users, formulas, breakdowns: [{ property: 'profile.plan' }] },
    });
    expect(series.filter(({ group }) => group === 'pro').map(({ values }) => values)).toEqual([
      ...[
        [1, 0, 0],
        [2, 0, 0],
        [0.5, undefined, undefined],
        [0, -1, -1],
      ],
    ]);
    expect(leftOut).toEqual([
      ['COOKIELESS_EVENTS', 1],
      ['DELETED_PROFILES', 1],
    ]);
  });

  it('have the same groups as all series', async () => {
    const breakdowns = [{ property: '$browser' }];
    const spec = { insightType: InsightType.SEGMENTATION, events, formulas, breakdowns };
    const { result, leftOut } = await insights.query({
      spec: { ...spec, breakdownLimit: 2 },
      timeRange,
    });
    if (result.case !== 'segmentation') throw new Error('no segmentation');
    const found = result.value.series.map(({ formulaIndex, breakdown, isOthers, value }) => [
      ...[formulaIndex, isOthers ? 'others' : breakdown['$browser'], value],
    ]);
    // No browser, Chrome and Firefox have two events each, Safari one: those that lack it are the purchase and a view.
    expect(found).toEqual([
      ...[
        [undefined, undefined, 1],
        [undefined, 'Chrome', 2],
        [undefined, 'others', 3],
      ],
      ...[[undefined, undefined, 1]],
      ...[
        [0, undefined, 1],
        [0, 'Chrome', undefined],
        [0, 'others', undefined],
      ],
      ...[
        [1, undefined, 0],
        [1, 'Chrome', 1],
        [1, 'others', 2],
      ],
    ]);
    expect(leftOut.map(({ reason, count }) => [LeftOut_Reason[reason], Number(count)])).toEqual([
      ['GROUPS_IN_OTHERS', 2],
    ]);
  });
});

describe('explain', () => {
  const spec = {
    insightType: InsightType.TRENDS,
    events: pageViews(AggregationType.UNIQUE_USERS),
  };
  const wanted = {
    need: 'users a day, of one kind',
    source: 'kept_active_profiles',
    refused: [{ source: 'profile_days', reason: 'kinds: the table knows no kinds' }],
  };

  it('tells which rows were counted, beside the same result', async () => {
    const [plain, explained] = [
      await insights.query({ spec, timeRange }),
      await insights.query({ spec, timeRange, explain: true }),
    ];
    expect(plain.sources).toEqual([]);
    const refused = wanted.refused.map((one) => expect.objectContaining(one));
    expect(explained.sources).toContainEqual(expect.objectContaining({ ...wanted, refused }));
    expect({ ...explained, sources: [], completeUntil: undefined }).toEqual({
      ...plain,
      completeUntil: undefined,
    });
  });

  it('is in the log at debug, without what was asked', async () => {
    logLines.length = 0;
    await insights.query({ spec, timeRange });
    const [line = expect.fail('nothing was logged')] = logLines;
    expect(JSON.parse(line)).toMatchObject({ level: 20, projectId: project });
    expect(JSON.parse(line).sources).toContainEqual(wanted);
    expect(line).not.toContain('page_view');
  });
});
