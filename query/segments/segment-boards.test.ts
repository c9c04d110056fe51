// Segments of real accounts in dashboards, in what strangers see of them, in goals, and in a number that an alert asks
// for.

import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { principalOf } from '../../platform/access/auth-interceptor.ts';
import { askedOfPeriod } from '../../platform/alerts/alert-question.ts';
import { createClickHouse } from '../../platform/clickhouse/clickhouse.ts';
import { oneGroup } from '../../platform/clickhouse/groups.ts';
import { dayMs } from '../../platform/clock.ts';
import { createLog } from '../../platform/log.ts';
import {
  type TileResult,
  TimeRangePreset,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import {
  InsightQuerySpecSchema,
  InsightType,
  QueryRequestSchema,
  type QueryResponse,
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
import type { AskAlone } from '../insights/query-insight.ts';
import { registerQuery } from '../routes.ts';

const broker = useBroker();
const engine = useEngine();
const log = createLog('silent');
const nowMs = Date.UTC(2026, 6, 15, 12);
const clock = { nowMs: () => nowMs };
let clickhouse: ReturnType<typeof createClickHouse>;
let accounts: AccountsProcess;
let clients: Clients;
let projectId: string;
let ask: AskAlone;

beforeAll(async () => {
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 10 });
  accounts = await startAccounts({
    brokerUrl: broker.url,
    clock,
    reads: (router, { readDashboard, shares, goalsOf, findSegment }) => {
      const query = registerQuery(router, {
        ...{ clickhouse: oneGroup(clickhouse), clock, log, readerOf: principalOf },
        ...{ goalsOf, findSegment, readsPerSecond: 0, timezoneOf: () => 'UTC' },
        completeUntilMs: async () => nowMs,
        boards: {
          ...{ readDashboard, shares },
          checkPassword: async () => false,
          networkOf: () => undefined,
        },
      });
      ask = query.ask;
    },
  });
  const owner = await newCustomer(accounts);
  projectId = owner.projectId;
  clients = accounts.as(bearer(owner, projectId));
  const row = (distinctId: string, kind: string, days = 0) =>
    storedRow({ projectId, distinctId, kind, occurTimeMs: nowMs - days * dayMs - 3_600_000 });
  await storeRows(clickhouse, [
    ...['a', 'b', 'c'].flatMap((id) => [row(id, 'view'), row(id, 'view', 1)]),
    ...['a', 'b'].map((id) => row(id, 'buy', 2)),
    row('a', 'sign_up'),
    row('c', 'sign_up'),
  ]);
});

afterAll(async () => {
  await accounts.close();
  await clickhouse.close();
});

const week = { range: { case: 'preset', value: TimeRangePreset.LAST_7_DAYS } } as const;
const views = { insightType: InsightType.SEGMENTATION, events: [{ event: { kind: 'view' } }] };
const tile = (spec: object) => ({
  w: 24,
  h: 8,
  content: { case: 'insight' as const, value: { ...views, ...spec } },
});

/** Those who did it in the range. */
async function segmentOf(kind: string, displayName = kind): Promise<string> {
  const did = { event: { kind }, times: { case: 'atLeast', value: 1 } } as const;
  const condition = { groups: [{ tests: [{ test: { case: 'did', value: did } as const }] }] };
  return (await clients.segments.create({ displayName, condition })).segment?.id ?? '';
}

const totalIn = (answer: QueryResponse | undefined) =>
  answer?.result.case === 'segmentation' ? answer.result.value.total : undefined;
function totalOf({ outcome }: TileResult): number | string | undefined {
  if (outcome.case === 'error') return outcome.value.message;
  return totalIn(outcome.case === 'insight' ? outcome.value : undefined);
}

it('of a dashboard hold for every tile besides its own, and a deleted one is said in its tile', async () => {
  const [buyers, signedUp] = [await segmentOf('buy'), await segmentOf('sign_up')];
  const { dashboard } = await clients.dashboards.create({
    ...{ displayName: 'Board', timeRange: week, filters: { segments: [buyers] } },
    tiles: [tile({}), tile({ segments: [signedUp] })],
  });
  const id = dashboard?.id ?? '';
  const totals = async (filters = {}) =>
    (await clients.dashboards.render({ id, ...filters })).results.map(totalOf);
  expect(await totals()).toEqual([4, 2]);
  expect(await totals({ filters: {} })).toEqual([6, 4]);
  expect(await totals({ filters: { segments: [signedUp] } })).toEqual([4, 4]);
  expect(await totals({ segments: [signedUp] })).toEqual([2, 2]);
  expect(await totals({ segments: [signedUp], filters: {} })).toEqual([4, 4]);
  await expect(clients.dashboards.render({ id, segments: ['x'] })).rejects.toThrow(
    'segments[0]: must be the id of a segment, a UUID',
  );
  expect(await totals({ filters: {}, notInSegments: [buyers] })).toEqual([2, 2]);
  expect(await totals({ filters: { notInSegments: [buyers] } })).toEqual([2, 2]);
  expect(await totals({ filters: { notInSegments: [signedUp] } })).toEqual([2, 0]);
  expect(await totals({ notInSegments: [signedUp] })).toEqual([2, 0]);
  await clients.segments.delete({ id: signedUp });
  const gone = `the project has no segment ${signedUp}: it may have been deleted`;
  expect(await totals()).toEqual([4, `spec.segments[0]: ${gone}`]);
});

it('of a dashboard are as many as a question may have, and are checked when it is saved', async () => {
  const segments = Array.from({ length: 5 }, () => randomUUID());
  const save = (more: object) =>
    clients.dashboards.create({ displayName: 'B', timeRange: week, ...more });
  await expect(save({ filters: { segments: ['x'] } })).rejects.toThrow(
    'filters.segments[0]: must be the id of a segment, a UUID',
  );
  const one = { filters: { segments }, tiles: [tile({ segments: [randomUUID()] })] };
  await expect(save(one)).rejects.toThrow(
    'tiles[0].insight.segments: takes at most 5 with those of the dashboard',
  );
  const other = { ...one, tiles: [tile({ notInSegments: [randomUUID()] })] };
  await expect(save(other)).rejects.toThrow(
    'tiles[0].insight.notInSegments: takes at most 5 with those of the dashboard',
  );
  await expect(save({ filters: { segments, notInSegments: segments } })).rejects.toThrow(
    'filters.notInSegments: takes at most 5, with those of segments',
  );
  const { dashboard } = await save({ filters: { segments }, tiles: [tile({})] });
  const render = (more: object) => clients.dashboards.render({ id: dashboard?.id ?? '', ...more });
  const tooMany = 'takes at most 5 with those of the filters';
  await expect(render({ segments: [randomUUID()] })).rejects.toThrow(`segments: ${tooMany}`);
  await expect(render({ notInSegments: [randomUUID()] })).rejects.toThrow(
    `notInSegments: ${tooMany}`,
  );
});

it('are shown to strangers by the names of those that split an answer', async () => {
  const [secret, shown] = [await segmentOf('buy', 'Secret'), await segmentOf('sign_up', 'Shown')];
  const hidden = await segmentOf('nothing', 'Hidden');
  const { dashboard } = await clients.dashboards.create({
    ...{ displayName: 'Shared', timeRange: week, filters: { segments: [secret] } },
    tiles: [tile({ notInSegments: [hidden], breakdowns: [{ property: `segment.${shown}` }] })],
  });
  const { token } = await clients.dashboards.createShare({ dashboardId: dashboard?.id ?? '' });
  const { tiles } = await accounts.as().shared.render({ token });
  const [{ question, content } = {}] = tiles;
  expect([question?.segments, question?.notInSegments]).toEqual([[], []]);
  if (content?.case !== 'insight') return expect.fail('no answer');
  expect(content.value.segments).toMatchObject([{ id: shown, displayName: 'Shown' }]);
  const { result } = content.value;
  if (result.case !== 'segmentation') return expect.fail('no series');
  const groups = result.value.series.map(({ breakdown, value }) => [
    ...Object.values(breakdown),
    value,
  ]);
  expect(groups).toEqual([
    ['in', 2],
    ['not in', 2],
  ]);
  expect(JSON.stringify(tiles, (_, value) => (typeof value === 'bigint' ? 0 : value))).not.toMatch(
    new RegExp(`${secret}|${hidden}`),
  );
});

it('filter goals, and the number of an alert in the range of its period', async () => {
  const buyers = await segmentOf('buy');
  await clients.goals.create({ displayName: 'Sign-up', kind: 'sign_up' });
  const filters = { segments: [buyers] };
  const { goals } = await clients.goals.measure({ timeRange: week, filters });
  expect(goals[0]?.figures).toMatchObject({ completions: 1, users: 1, rate: 0.5 });
  const spec = create(InsightQuerySpecSchema, { ...views, segments: [buyers] });
  const [asked = spec] = askedOfPeriod(spec);
  const ofPeriod = async (days: number) => {
    const timeRange = {
      from: timestampFromMs(nowMs - days * dayMs),
      to: timestampFromMs(nowMs),
    };
    return totalIn(await ask(projectId, create(QueryRequestSchema, { spec: asked, timeRange })));
  };
  expect(await ofPeriod(7)).toBe(4);
  // Nobody has bought within a day.
  expect(await ofPeriod(1)).toBe(0);
});
