// InsightsService.SegmentUsers on a real engine, beside the users that the stored rows have.

import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  FilterOperator,
  LogicalOperator,
  PropertySource,
} from '../../../proto/gen/common/v1/filter_pb.js';
import { AggregationType } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { useEngine } from '../../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../../test/harness/services/read-service.ts';
import { storedRow, storeRows } from '../../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../../test/harness/tables/stored-profiles.ts';

const startMs = Date.UTC(2026, 10, 1);
const projectId = `prj_${randomUUID()}`;
const engine = useEngine();
let service: ReadService;

// u0 to u99: every third buys, with a plan of their own; u7 and u8 were anonymous before, u8 has no events since.
const users = Array.from({ length: 100 }, (_, n) => `u${n}`);
const senderOf = (user: string): string => (user === 'u8' ? 'anon-8' : user);
const buyers = users.filter((_, n) => n % 3 === 0);
const kept = users.filter((user) => user !== 'u9');

beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url });
  const row = (distinctId: string, n: number, fields = {}) =>
    storedRow({ projectId, distinctId, occurTimeMs: startMs + n * 60_000, ...fields });
  await storeRows(service.clickhouse, [
    ...users.map((user, n) => row(senderOf(user), n)),
    ...buyers.map((user, n) => row(user, n, { kind: 'purchase', ints: { amount: BigInt(n) } })),
    row('anon-7', 5, { kind: 'signup' }),
    row('cookieless-1', 5, { kind: 'signup', cookieless: true }),
  ]);
  const edge = (distinctId: string, owner: string) => ({
    ...{ projectId, distinctId, named: false, owner, root: owner, wasClaimed: true },
  });
  await storeProfiles(service.clickhouse, [
    { projectId, distinctId: 'u7', traits: { plan: 'pro' } },
    { projectId, distinctId: 'u8', traits: { plan: 'free' } },
    { projectId, distinctId: 'u9', deleted: true },
    edge('anon-7', 'u7'),
    edge('anon-8', 'u8'),
  ]);
});
afterAll(() => service?.stop());

type Request = Parameters<ReturnType<ReadService['insights']>['segmentUsers']>[0];
const ask = (request: Request) => service.insights(projectId).segmentUsers(request);
const ids = async (request: Request): Promise<string[]> =>
  (await ask(request)).distinctIds.toSorted();
const sorted = (some: readonly string[]): string[] => [...some].sort();

it('has every user of the range, under one id each: no cookieless visitor, no deleted profile', async () => {
  expect(await ids({})).toEqual(sorted(kept));
  const timeRange = {
    from: timestampFromMs(startMs + 90 * 60_000),
    to: timestampFromMs(startMs + 93 * 60_000),
  };
  expect(await ids({ timeRange })).toEqual(['u90', 'u91', 'u92']);
});

it('has those who did any of the events, under the conditions of the groups', async () => {
  const atLeast = { property: 'amount', operator: FilterOperator.GTE, value: '30' };
  const rich = buyers.filter((_, n) => n >= 30);
  expect(await ids({ events: [{ event: { kind: 'purchase' } }] })).toEqual(
    sorted(buyers.filter((user) => user !== 'u9')),
  );
  const signup = { event: { kind: 'signup' } };
  expect(await ids({ events: [signup] })).toEqual(['u7']);
  const counted = { ...signup, aggregation: AggregationType.UNIQUE_USERS };
  expect(await ids({ events: [counted] })).toEqual(['u7']);
  expect(await ids({ events: [{ event: {} }] })).toEqual(sorted(kept));
  const both = [signup, { event: { kind: 'purchase', filters: [atLeast] } }];
  expect(await ids({ events: both })).toEqual(sorted(['u7', ...rich]));
  expect(await ids({ filterGroups: [{ filters: [atLeast] }] })).toEqual(sorted(rich));
  const plan = (value: string) => ({
    ...{ property: 'plan', operator: FilterOperator.EQUALS, value, source: PropertySource.PROFILE },
  });
  const groups = [{ filters: [plan('pro')] }, { filters: [plan('free')] }];
  const filterGroupsOperator = LogicalOperator.OR;
  expect(await ids({ filterGroups: groups, filterGroupsOperator })).toEqual(['u7', 'u8']);
});

it('goes on page by page, also while events arrive, each user once', async () => {
  const found: string[] = [];
  let pageToken = '';
  do {
    const page = await ask({ pageSize: 7, pageToken });
    expect(page.distinctIds.length).toBeLessThanOrEqual(7);
    found.push(...page.distinctIds);
    pageToken = page.nextPageToken;
    await storeRows(service.clickhouse, [storedRow({ projectId, distinctId: 'u50' })]);
  } while (pageToken !== '');
  expect(found.toSorted()).toEqual(sorted(kept));
});

it('has users whose profile ids begin with zeros, as owners of other ids and at the ends of pages', async () => {
  const project = `prj_${randomUUID()}`;
  const result = await service.clickhouse.query({
    query: `SELECT concat('z', toString(number)) AS id FROM numbers(20000)
      WHERE startsWith(millraceProfileHash({project:String}, id), char(0)) LIMIT 9`,
    query_params: { project },
    format: 'JSONEachRow',
  });
  const zeros = (await result.json<{ id: string }>()).map(({ id }) => id);
  const [owner = ''] = zeros;
  const senders = [...zeros.slice(1), 'anon-1', 'u1', 'u2'];
  await storeRows(
    service.clickhouse,
    senders.map((distinctId) => storedRow({ projectId: project, distinctId })),
  );
  await storeProfiles(service.clickhouse, [
    { projectId: project, distinctId: owner, traits: { plan: 'pro' } },
    {
      ...{ projectId: project, distinctId: 'anon-1', named: false },
      ...{ owner, root: owner, wasClaimed: true },
    },
  ]);
  const found: string[] = [];
  let pageToken = '';
  do {
    const page = await service.insights(project).segmentUsers({ pageSize: 1, pageToken });
    found.push(...page.distinctIds);
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  expect(found.toSorted()).toEqual(sorted([...zeros, 'u1', 'u2']));
});

it('refuses what breaks a rule, by the names of its own fields', async () => {
  const refused = async (request: Request): Promise<[Code, string]> => {
    const error = await ask(request).then(
      () => expect.fail('answered'),
      (cause: unknown) => ConnectError.from(cause),
    );
    return [error.code, error.rawMessage];
  };
  const invalid = Code.InvalidArgument;
  const broken = [{ filters: [{ property: 'a', value: 'b' }] }];
  const event = { kind: 'signup' };
  const countsOnly = 'events[0].aggregation: must count events or users, not a property';
  const cases: [Request, string][] = [
    [{ pageSize: -1 }, 'pageSize: must be from 1 to 1000'],
    [{ pageToken: 'x' }, 'pageToken: must be a nextPageToken answered to the same conditions'],
    [{ events: [{}] }, 'events[0].event: is required'],
    [
      { events: [{ event }, { event: {} }] },
      'events[1].event: must have a kind or filters where it is one of several',
    ],
    [{ events: Array(51).fill({ event }) }, 'events: takes at most 50'],
    [{ events: [{ event: { kind: 'a b' } }] }, 'events[0].event.kind: is not the name of a kind'],
    [{ events: [{ event, aggregation: AggregationType.SUM }] }, countsOnly],
    [{ events: [{ event, aggregationProperty: 'amount' }] }, countsOnly],
    [{ filterGroups: broken }, 'filterGroups[0].filters[0].operator: is required'],
    [
      { filterGroups: [{ operator: LogicalOperator.OR }] },
      'filterGroups[0].filters: must not be empty where one of several suffices',
    ],
    [{ filterGroups: Array(51).fill({}) }, 'filterGroups: takes at most 50'],
  ];
  for (const [request, rule] of cases) {
    expect(await refused(request)).toEqual([invalid, rule]);
  }
  const { nextPageToken } = await ask({ pageSize: 1 });
  const [code] = await refused({
    pageToken: nextPageToken,
    events: [{ event: { kind: 'purchase' } }],
  });
  expect(code).toBe(invalid);
});
