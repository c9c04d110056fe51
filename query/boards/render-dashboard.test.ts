// DashboardsService.Render over HTTP: real accounts, a real broker, and questions that InsightsService answers on a
// real engine.

import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { principalOf } from '../../platform/access/auth-interceptor.ts';
import { createClickHouse } from '../../platform/clickhouse/clickhouse.ts';
import { oneGroup } from '../../platform/clickhouse/groups.ts';
import { overviewId } from '../../platform/dashboards/overview-dashboard.ts';
import { createLog } from '../../platform/log.ts';
import { FilterOperator, LogicalOperator } from '../../proto/gen/common/v1/filter_pb.js';
import {
  type TileResult,
  TimeRangePreset,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import {
  AggregationType,
  Granularity,
  InsightType,
  SessionMetric,
  TopKQuery_Dimension,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { useBroker, useEngine } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  type Clients,
  newCustomer,
  startAccounts,
} from '../../test/harness/services/accounts.ts';
import { storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { registerQuery } from '../routes.ts';

const broker = useBroker();
const engine = useEngine();
const log = createLog('silent');
const nowMs = Date.UTC(2026, 6, 15, 12);
const clock = { nowMs: () => nowMs };
let clickhouse: ReturnType<typeof createClickHouse>;
let accounts: AccountsProcess;
let dashboards: Clients['dashboards'];
let readsPerSecond = 0;

const start = (dataDir?: string): Promise<AccountsProcess> =>
  startAccounts({
    brokerUrl: broker.url,
    clock,
    ...(dataDir !== undefined && { dataDir }),
    reads: (router, { readDashboard, shares }) =>
      registerQuery(router, {
        clickhouse: oneGroup(clickhouse),
        clock,
        log,
        readerOf: principalOf,
        readsPerSecond,
        timezoneOf: () => 'Asia/Kolkata',
        completeUntilMs: async () => nowMs,
        boards: {
          readDashboard,
          shares,
          checkPassword: async () => false,
          networkOf: () => undefined,
        },
      }),
  });
let owner: Awaited<ReturnType<typeof newCustomer>>;

beforeAll(async () => {
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 10 });
  accounts = await start();
  owner = await newCustomer(accounts);
  const { projectId } = owner;
  dashboards = accounts.as(bearer(owner, projectId)).dashboards;
  const row = (time: string, fields = {}) =>
    storedRow({ projectId, occurTimeMs: Date.parse(`2026-07-${time}Z`), ...fields });
  await storeRows(clickhouse, [
    row('14T02:00:00', { strings: { plan: 'pro' } }),
    // In India it is the 15th.
    row('14T19:00:00', { strings: { plan: 'pro' } }),
    row('15T09:00:00', { strings: { plan: 'free' } }),
    row('15T10:00:00', { strings: { plan: 'pro' }, distinctId: 'c', cookieless: true }),
    row('15T10:00:00', { kind: 'purchase' }),
  ]);
});

afterAll(async () => {
  await accounts.close();
  await clickhouse.close();
});

const events = (kind: string, aggregation = AggregationType.TOTAL) => [
  { event: { kind }, aggregation },
];
const views = { insightType: InsightType.SEGMENTATION, events: events('page_view') };
const place = { w: 24, h: 8 };
const today = { range: { case: 'preset', value: TimeRangePreset.TODAY } } as const;

function totalOf(result: TileResult | undefined): number | string | undefined {
  const outcome = result?.outcome;
  if (outcome?.case === 'error') return outcome.value.code;
  const answer = outcome?.case === 'insight' ? outcome.value.result : undefined;
  return answer?.case === 'segmentation' ? answer.value.total : answer?.case;
}

it('answers each tile for the dashboard’s time, zone and filters, and the range before where asked', async () => {
  const pro = { property: 'plan', operator: FilterOperator.EQUALS, value: 'pro' };
  const { dashboard } = await dashboards.create({
    displayName: 'Board',
    timeRange: today,
    filters: { filterGroups: [{ filters: [pro] }] },
    tiles: [
      { ...place, content: { case: 'insight', value: views }, compareToPrevious: true },
      { ...place, content: { case: 'markdown', value: 'text' } },
      {
        ...place,
        content: { case: 'insight', value: { ...views, insightType: InsightType.TRENDS } },
      },
      {
        ...place,
        content: {
          case: 'insight',
          value: { ...views, events: events('page_view', AggregationType.UNIQUE_USERS) },
        },
      },
    ],
  });
  const id = dashboard?.id ?? '';
  const answered = await dashboards.render({ id });
  expect(answered.dashboard).toEqual(dashboard);
  expect(answered.time).toMatchObject({
    timezone: 'Asia/Kolkata',
    granularity: Granularity.HOUR,
    range: { from: { seconds: BigInt(Date.UTC(2026, 6, 14, 18, 30) / 1_000) } },
  });
  const [asked, text, , users] = dashboard?.tiles ?? [];
  expect(answered.results.map(({ tileId }) => tileId)).not.toContain(text?.id);
  expect(answered.results.map(totalOf)).toEqual([2, 'trends', 1]);
  expect(answered.results[0]?.tileId).toBe(asked?.id);
  expect(answered.results[0]?.previous?.result.value).toMatchObject({ total: 1 });
  expect(answered.results[2]?.tileId).toBe(users?.id);

  const otherwise = await dashboards.render({
    id,
    timeRange: { range: { case: 'preset', value: TimeRangePreset.LAST_7_DAYS } },
    timezone: 'UTC',
    filters: {},
    includeCookieless: true,
  });
  expect(otherwise.results.map(totalOf)).toEqual([4, 'trends', 2]);
  expect((await dashboards.get({ id })).dashboard).toEqual(dashboard);
});

it('leaves bots out where it is asked to, of each question that says nothing of them itself', async () => {
  const other = await newCustomer(accounts);
  const { projectId } = other;
  const own = accounts.as(bearer(other, projectId)).dashboards;
  const bot = { property: '$bot', operator: FilterOperator.EQUALS, value: 'true' };
  const search = { operator: FilterOperator.CONTAINS, value: 'x' };
  const tiles = [
    views,
    // A group of alternatives is none for bots.
    {
      ...views,
      filterGroups: ['plan', 'none'].map((property) => ({ filters: [{ ...search, property }] })),
      filterGroupsOperator: LogicalOperator.OR,
    },
    { ...views, filterGroups: [{ filters: [bot] }] },
    { ...views, events: [{ event: { kind: 'page_view', filters: [bot] } }] },
    {
      insightType: InsightType.SEGMENTATION,
      session: { metric: SessionMetric.SESSIONS, scope: { filters: [bot] } },
    },
    {
      insightType: InsightType.TOP_K,
      topK: { dimension: TopKQuery_Dimension.PROPERTY, property: '$bot' },
    },
  ].map((value) => ({ ...place, content: { case: 'insight', value } }) as const);
  const { dashboard } = await own.create({ displayName: 'Board', timeRange: today, tiles });
  const id = dashboard?.id ?? '';
  const row = (fields = {}) =>
    storedRow({ projectId, occurTimeMs: nowMs - 60_000, strings: { plan: 'x' }, ...fields });
  const totals = async (leaveOutBots?: boolean) => {
    const { results, hasBots } = await own.render({
      id,
      ...(leaveOutBots !== undefined && { leaveOutBots }),
    });
    return [hasBots, ...results.map(totalOf)];
  };
  await storeRows(clickhouse, [row(), row()]);
  expect(await totals(true)).toEqual([false, 2, 2, 0, 0, 0, 'topK']);

  await storeRows(clickhouse, [row({ bools: { $bot: true } })]);
  expect(await totals()).toEqual([undefined, 3, 3, 1, 1, 1, 'topK']);
  expect(await totals(false)).toEqual([true, 3, 3, 1, 1, 1, 'topK']);
  expect(await totals(true)).toEqual([true, 2, 2, 1, 1, 1, 'topK']);
  const { results } = await own.render({ id, leaveOutBots: true });
  const filters = { filterGroups: [{ filters: [bot] }] };
  const said = await own.render({ id, leaveOutBots: true, filters });
  expect([said.hasBots, totalOf(said.results[0])]).toEqual([false, 1]);
  const last = results.at(-1)?.outcome;
  const answer = last?.case === 'insight' ? last.value.result : undefined;
  expect(answer?.case === 'topK' && answer.value.rows.map(({ value }) => value)).toEqual([2, 1]);
});

it('lets a tile fail alone, with its reason', async () => {
  const hourly = { ...views, insightType: InsightType.TRENDS };
  const { dashboard } = await dashboards.create({
    displayName: 'Board',
    timeRange: today,
    tiles: [hourly, views].map((value) => ({ ...place, content: { case: 'insight', value } })),
  });
  const { results } = await dashboards.render({
    id: dashboard?.id ?? '',
    timeRange: { range: { case: 'preset', value: TimeRangePreset.LAST_90_DAYS } },
    granularity: Granularity.HOUR,
  });
  expect(results.map(totalOf)).toEqual(['invalid_argument', 4]);
  expect(results[0]?.outcome.value).toMatchObject({ message: expect.stringContaining('14 days') });
});

it('answers the built-in dashboard, and nobody’s that is not there', async () => {
  const { results, dashboard } = await dashboards.render({ id: overviewId });
  expect(results.map(({ tileId }) => tileId)).toEqual(dashboard?.tiles.map(({ id }) => id));
  const number = (name: string) => totalOf(results.find(({ tileId }) => tileId === name));
  // Three visitors are one person on two days and one without cookies.
  expect([number('visitors'), number('views')]).toEqual([2, 4]);
  expect(results.find(({ tileId }) => tileId === 'views')?.previous).toBeDefined();
  await expect(dashboards.render({ id: 'other' })).rejects.toMatchObject({ code: Code.NotFound });
  await expect(dashboards.render({ id: '' })).rejects.toMatchObject({ code: Code.InvalidArgument });
});

it.each([
  [
    'a preset that is none',
    { timeRange: { range: { case: 'preset', value: TimeRangePreset.UNSPECIFIED } } } as const,
    'timeRange.preset: is not one that is known',
  ],
  ['neither a preset nor a range', { timeRange: {} }, 'timeRange: must have'],
  ['a zone that is none', { timezone: 'Mars/Olympus' }, 'timezone: must be'],
  [
    'a filter that cannot be',
    {
      filters: {
        filterGroups: [
          { filters: [{ property: 'n', operator: FilterOperator.GT, value: 'many' }] },
        ],
      },
    },
    'filters.filterGroups[0].filters[0].value: GT takes a number',
  ],
])('refuses %s, and names the field', async (_, fields, message) => {
  await expect(dashboards.render({ id: overviewId, ...fields })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: expect.stringContaining(message),
  });
});

it('counts as one read, however many questions it has', async () => {
  readsPerSecond = 2;
  const limited = await start(accounts.dataDir);
  const { dashboards: few } = limited.as(bearer(owner, owner.projectId));
  await few.render({ id: overviewId });
  await few.render({ id: overviewId });
  const refused = await few.render({ id: overviewId }).catch((error) => ConnectError.from(error));
  expect(refused).toMatchObject({ code: Code.ResourceExhausted });
  await limited.close();
});
