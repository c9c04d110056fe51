// Dashboards over HTTP on a real broker: what is stored, what is refused, and many writers at once. Shares have a test
// of their own.

import { type MessageInitShape, toJson } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bucketOptions, recordQuotaBytes } from '../../platform/broker/buckets.ts';
import { overviewId } from '../../platform/dashboards/overview-dashboard.ts';
import { FilterOperator, LogicalOperator } from '../../proto/gen/common/v1/filter_pb.js';
import {
  type Dashboard,
  DashboardSchema,
  TileDrawing,
  type TileSchema,
  TimeRangePreset,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { Role } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { Granularity, InsightType } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  type Clients,
  newCustomer,
  startAccounts,
  tokenIn,
} from '../../test/harness/services/accounts.ts';
import { maxContentBytes, maxListBytes } from './dashboard-quota.ts';
import { maxDashboards } from './dashboard-store.ts';

type Owner = Awaited<ReturnType<typeof newCustomer>>;

const broker = useBroker();
const manyChanges = { perCustomer: 10_000, perOrganization: 10_000 };
let nowMs = Date.UTC(2026, 6, 1);
let accounts: AccountsProcess;
let owner: Owner;
/** A new project of the owner's for each test. */
let projectId: string;
let dashboards: Clients['dashboards'];

const start = (dataDir?: string): Promise<AccountsProcess> =>
  startAccounts({
    ...(dataDir !== undefined && { dataDir }),
    brokerUrl: broker.url,
    clock: { nowMs: () => nowMs },
    control: { changeLimits: manyChanges },
  });

beforeAll(async () => {
  accounts = await start();
  owner = await newCustomer(accounts);
});

beforeEach(async () => {
  const { orgId } = owner;
  const { project } = await accounts.as(bearer(owner)).projects.create({ orgId, displayName: 'P' });
  projectId = project?.id ?? '';
  dashboards = accounts.as(bearer(owner, projectId)).dashboards;
});

afterAll(() => accounts.close());

type TileInit = MessageInitShape<typeof TileSchema>;

const place = { w: 24, h: 8 };
const text = (value: string): TileInit => ({
  ...place,
  content: { case: 'markdown', value } as const,
});
const trend = (kind: string, fields = {}): TileInit => ({
  ...place,
  content: {
    case: 'insight',
    value: { insightType: InsightType.TRENDS, events: [{ event: { kind } }], ...fields },
  } as const,
});
const idOf = ({ dashboard }: { dashboard?: Dashboard | undefined }): string => dashboard?.id ?? '';
const json = (dashboard: Dashboard | undefined) => dashboard && toJson(DashboardSchema, dashboard);
const notFound = { code: Code.NotFound };
const invalid = (rule: string) => ({
  code: Code.InvalidArgument,
  rawMessage: expect.stringContaining(rule),
});

describe('a dashboard', () => {
  it('is stored as it was sent, and read, listed and deleted', async () => {
    const made = await dashboards.create({
      displayName: ' Sales ',
      description: 'Per day',
      timeRange: { range: { case: 'preset', value: TimeRangePreset.LAST_7_DAYS } },
      granularity: Granularity.HOUR,
      timezone: 'Asia/Kolkata',
      filters: {
        filterGroups: [{ filters: [{ property: 'plan', operator: FilterOperator.IS_SET }] }],
      },
      includeCookieless: true,
      tiles: [
        {
          ...trend('purchase', { breakdowns: [{ property: '$browser' }] }),
          drawing: TileDrawing.STACKED,
        },
        text('# Title'),
      ],
    });
    expect(made.dashboard).toMatchObject({ displayName: 'Sales', revision: 1, builtIn: false });
    const { dashboard } = await dashboards.get({ id: idOf(made) });
    expect(json(dashboard)).toEqual(json(made.dashboard));
    expect(new Set(dashboard?.tiles.map(({ id }) => id)).size).toBe(2);
    const drawing = TileDrawing.STACKED;
    expect(dashboard?.tiles[0]).toMatchObject({ x: 0, y: 0, w: 24, h: 8, drawing });
    const { dashboards: listed } = await dashboards.list({});
    expect(listed.map(({ id, displayName, tiles }) => [id, displayName, tiles.length])).toEqual([
      [overviewId, 'Overview', 0],
      [idOf(made), 'Sales', 0],
    ]);
    await dashboards.delete({ id: idOf(made) });
    await expect(dashboards.get({ id: idOf(made) })).rejects.toMatchObject(notFound);
    await expect(dashboards.delete({ id: idOf(made) })).rejects.toMatchObject(notFound);
    expect((await dashboards.list({})).dashboards).toHaveLength(1);
  });

  it('keeps on Update what is not given, its tiles too', async () => {
    const made = await dashboards.create({
      displayName: 'Old',
      timezone: 'Asia/Tokyo',
      tiles: [text('a')],
    });
    nowMs += 60_000;
    const { dashboard } = await dashboards.update({ id: idOf(made), displayName: 'New' });
    expect(dashboard).toMatchObject({ displayName: 'New', timezone: 'Asia/Tokyo', revision: 2 });
    expect(dashboard?.tiles).toEqual(made.dashboard?.tiles);
    const [, listed] = (await dashboards.list({})).dashboards;
    expect(listed).toMatchObject({ displayName: 'New', updateTime: dashboard?.updateTime });
    const cleared = await dashboards.update({ id: idOf(made), timezone: '' });
    expect(cleared.dashboard?.timezone).toBe('');
  });

  it('gets exactly the tiles of Upsert: kept by id, new ones without, the others deleted', async () => {
    const made = await dashboards.upsert({ displayName: 'Board', tiles: [text('a'), text('b')] });
    const [a, b] = made.dashboard?.tiles ?? [];
    const id = idOf(made);
    const tiles = [text('new'), { ...trend('signup'), id: b?.id ?? '' }];
    const { dashboard } = await dashboards.upsert({ id, revision: 1, tiles });
    expect(dashboard).toMatchObject({ displayName: 'Board', revision: 2 });
    expect(dashboard?.tiles.map(({ content }) => content.case)).toEqual(['markdown', 'insight']);
    expect(dashboard?.tiles[1]?.id).toBe(b?.id);
    const again = (sent: TileInit[]) => dashboards.upsert({ id, revision: 2, tiles: sent });
    await expect(again([{ ...text('a'), id: a?.id ?? '' }])).rejects.toMatchObject(notFound);
    const same = { ...text('b'), id: b?.id ?? '' };
    await expect(again([same, same])).rejects.toMatchObject(invalid('tiles[1].id'));
    await expect(dashboards.upsert({ id, tiles })).rejects.toMatchObject(invalid('revision'));
  });

  it('is never overwritten by a change of an older revision, of two at once exactly one is made', async () => {
    const made = await dashboards.create({ displayName: 'Board', tiles: [text('first')] });
    const id = idOf(made);
    const others = await start(accounts.dataDir);
    const beside = others.as(bearer(owner, projectId)).dashboards;
    const both = await Promise.allSettled([
      dashboards.upsert({ id, revision: 1, tiles: [text('here')] }),
      beside.upsert({ id, revision: 1, tiles: [text('there')] }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const failed = both.find((one) => one.status === 'rejected')?.reason;
    expect(failed).toMatchObject({ code: Code.Aborted });
    const stale = dashboards.update({ id, revision: 1, displayName: 'Lost' });
    await expect(stale).rejects.toMatchObject({ code: Code.Aborted });
    const renames = Array.from({ length: 8 }, (_, index) =>
      (index % 2 ? dashboards : beside).update({ id, description: `change ${index}` }),
    );
    await Promise.all(renames);
    expect((await dashboards.get({ id })).dashboard).toMatchObject({ revision: 10 });
    await others.close();
  });

  it('is copied, the built-in one too, with tiles of its own', async () => {
    const { dashboard } = await dashboards.create({ copyFrom: overviewId });
    const overview = (await dashboards.get({ id: overviewId })).dashboard;
    expect(dashboard).toMatchObject({ displayName: 'Overview', builtIn: false, revision: 1 });
    expect(dashboard?.tiles.map(({ title }) => title)).toEqual(
      overview?.tiles.map(({ title }) => title),
    );
    const copy = await dashboards.create({ copyFrom: dashboard?.id ?? '', displayName: 'Mine' });
    const ids = [dashboard, copy.dashboard].flatMap((one) => one?.tiles.map(({ id }) => id));
    expect(new Set(ids).size).toBe(2 * (overview?.tiles.length ?? 0));
    await expect(dashboards.create({ copyFrom: 'other' })).rejects.toMatchObject(notFound);
  });
});

it('the built-in dashboard is in every project, and nobody changes it', async () => {
  const { dashboard } = await dashboards.get({ id: overviewId });
  expect(dashboard).toMatchObject({ builtIn: true, displayName: 'Overview' });
  const refused = { code: Code.FailedPrecondition };
  const id = overviewId;
  await expect(dashboards.update({ id, displayName: 'Mine' })).rejects.toMatchObject(refused);
  await expect(dashboards.upsert({ id, tiles: [] })).rejects.toMatchObject(refused);
  await expect(dashboards.delete({ id })).rejects.toMatchObject(refused);
});

describe('what breaks a rule is refused', () => {
  it.each([
    ['no name', { displayName: ' ' }, 'displayName: is required'],
    ['a long name', { displayName: 'n'.repeat(151) }, 'displayName'],
    ['a long description', { description: 'd'.repeat(2_001) }, 'description'],
    ['no zone', { timezone: 'Mars' }, 'timezone'],
    ['no range', { timeRange: {} }, 'timeRange: must have'],
    [
      'an end before its start',
      { timeRange: { fixed: { from: '2026-02-01T00:00:00Z', to: '2026-01-01T00:00:00Z' } } },
      'timeRange.fixed.to',
    ],
    [
      'a moment of no event',
      { timeRange: { fixed: { from: '0001-01-01T00:00:00Z', to: '2026-01-01T00:00:00Z' } } },
      'timeRange.fixed.from: must lie between 1970 and 2200',
    ],
    ['an unknown preset', { timeRange: { preset: 'NEVER' } }, 'timeRange.preset'],
    ['a number that is no preset', { timeRange: { preset: 99 } }, 'timeRange.preset'],
    ['a number that is no granularity', { granularity: 99 }, 'granularity'],
    ['an empty tile', { tiles: [place] }, 'tiles[0]: must have'],
    [
      'a tile beyond the grid',
      { tiles: [{ ...place, markdown: '', x: 60 }] },
      'tiles[0].x: must be 0 to 48',
    ],
    ['a tile of no width', { tiles: [{ ...place, markdown: '', w: 0 }] }, 'tiles[0].w'],
    [
      'a number that is no drawing',
      { tiles: [{ ...place, markdown: '', drawing: 99 }] },
      'tiles[0].drawing: must be a drawing',
    ],
    [
      'too many tiles',
      { tiles: Array(101).fill({ ...place, markdown: '' }) },
      'tiles: takes at most 100',
    ],
    [
      'long texts',
      { tiles: Array(3).fill({ ...place, markdown: 'm'.repeat(40_000) }) },
      'tiles: markdown takes at most 100000',
    ],
    ['a text that is no Unicode', { tiles: [{ ...place, markdown: '\ud800' }] }, 'invalid UTF8'],
    [
      'a question without a type',
      { tiles: [{ ...place, insight: {} }] },
      'tiles[0].insight.insightType',
    ],
    [
      'an unknown name in a question',
      { tiles: [{ ...place, insight: { insightType: 'MAGIC' } }] },
      'tiles[0].insight.insightType',
    ],
    [
      'a question without a series',
      { tiles: [{ ...place, insight: { insightType: 'INSIGHT_TYPE_TRENDS' } }] },
      'tiles[0].insight.events',
    ],
    [
      'filters that are none',
      { filters: { filterGroups: [{ filters: [{ property: 'x' }] }] } },
      'filters',
    ],
    [
      'filters that are none beside a group without any',
      {
        filters: {
          filterGroups: [{}, { filters: [{ property: 'x' }] }],
          filterGroupsOperator: 'LOGICAL_OPERATOR_AND',
        },
      },
      'filters.filterGroups[1].filters[0]',
    ],
    [
      'a group without filters where one group suffices',
      { filters: { filterGroups: [{}, {}], filterGroupsOperator: 'LOGICAL_OPERATOR_OR' } },
      'filters.filterGroups[0]',
    ],
    [
      'more filters than a question may have',
      {
        filters: {
          filterGroups: [
            { filters: Array(51).fill({ property: 'x', operator: FilterOperator.IS_SET }) },
          ],
        },
      },
      'filters: takes at most 50',
    ],
  ])('%s', async (_, fields, rule) => {
    const answer = await fetch(
      `${accounts.baseUrl}/dashboard.dashboards.v1.DashboardsService/Create`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...bearer(owner, projectId) },
        body: JSON.stringify({ displayName: 'Board', ...fields }),
      },
    );
    const { code, message } = JSON.parse(await answer.text());
    expect({ code, message }).toEqual({
      code: 'invalid_argument',
      message: expect.stringContaining(rule),
    });
    expect((await dashboards.list({})).dashboards).toHaveLength(1);
  });

  it('filters that cannot be combined with those of a tile', async () => {
    const filter = { property: 'p', operator: FilterOperator.IS_SET };
    const pairs = Array.from({ length: 8 }, () => ({ filters: [filter, filter] }));
    const filters = { filterGroups: pairs, filterGroupsOperator: LogicalOperator.OR };
    const made = await dashboards.create({ displayName: 'B', tiles: [trend('purchase', filters)] });
    const refused = invalid('tiles[0].insight.filterGroups: with those of the dashboard');
    const id = idOf(made);
    await expect(dashboards.update({ id, filters })).rejects.toMatchObject(refused);
    await expect(dashboards.create({ copyFrom: id, filters })).rejects.toMatchObject(refused);
  });

  it('a dashboard beyond 512 KiB, made or grown', async () => {
    const filters = Array.from({ length: 10 }, () => ({
      property: 'p',
      operator: FilterOperator.EQUALS,
      value: 'v'.repeat(1_000),
    }));
    const large = trend('purchase', { filterGroups: [{ filters }] });
    const tooLarge = Array.from({ length: 52 }, () => large);
    const refused = invalid('a dashboard takes at most 524288 bytes');
    await expect(dashboards.create({ displayName: 'B', tiles: tooLarge })).rejects.toMatchObject(
      refused,
    );
    const made = await dashboards.create({ displayName: 'B', tiles: tooLarge.slice(0, 48) });
    const grown = dashboards.upsert({ id: idOf(made), revision: 1, tiles: tooLarge });
    await expect(grown).rejects.toMatchObject(refused);
    expect((await dashboards.get({ id: idOf(made) })).dashboard?.tiles).toHaveLength(48);
  });
});

it('a foreign project’s dashboards are not found, and a viewer changes none', async () => {
  const made = await dashboards.create({ displayName: 'Board' });
  const stranger = await newCustomer(accounts, 'stranger');
  const own = accounts.as(bearer(stranger, stranger.projectId)).dashboards;
  const id = idOf(made);
  await expect(own.get({ id })).rejects.toMatchObject(notFound);
  await expect(own.update({ id, displayName: 'Theirs' })).rejects.toMatchObject(notFound);
  await expect(own.delete({ id })).rejects.toMatchObject(notFound);
  await expect(own.create({ copyFrom: id })).rejects.toMatchObject(notFound);
  const invitation = { orgId: owner.orgId, email: stranger.email, role: Role.VIEWER };
  await accounts.as(bearer(owner)).orgs.inviteMember(invitation);
  const token = tokenIn(await accounts.mailsTo(stranger.email));
  await accounts.as(bearer(stranger)).orgs.acceptInvite({ token });
  const viewer = accounts.as(bearer(stranger, projectId)).dashboards;
  expect((await viewer.get({ id })).dashboard?.displayName).toBe('Board');
  await expect(viewer.delete({ id })).rejects.toMatchObject({ code: Code.PermissionDenied });
});

it('a project has 200 dashboards at most; the place of a deleted one is free again, and its content gone', async () => {
  const tiles = [text('secret plan')];
  const first = await dashboards.create({ displayName: 'First', tiles });
  for (let made = 1; made < maxDashboards; made++) {
    await dashboards.create({ displayName: `Board ${made}` });
  }
  const oneMore = () => dashboards.create({ displayName: 'One more' });
  await expect(oneMore()).rejects.toMatchObject({ code: Code.FailedPrecondition });
  await dashboards.delete({ id: idOf(first) });
  const kv = await accounts.connection.jetstream().views.kv('dashboards', { bindOnly: true });
  expect((await kv.get(`${projectId}.0`))?.string()).not.toContain('secret');
  const made = await oneMore();
  await expect(oneMore()).rejects.toMatchObject({ code: Code.FailedPrecondition });
  await expect(dashboards.get({ id: idOf(first) })).rejects.toMatchObject(notFound);
  expect((await dashboards.get({ id: idOf(made) })).dashboard?.displayName).toBe('One more');
  expect((await dashboards.list({})).dashboards).toHaveLength(1 + maxDashboards);
});

it('an organization’s dashboards have a bound together, beyond which only smaller ones pass', async () => {
  const alone = await newCustomer(accounts, 'alone');
  const { dashboards } = accounts.as(bearer(alone, alone.projectId));
  const tiles = Array.from({ length: 5 }, () => text('😀'.repeat(20_000)));
  const made: string[] = [];
  const fill = async (): Promise<never> => {
    for (;;) made.push(idOf(await dashboards.create({ displayName: 'Large', tiles })));
  };
  const full = {
    code: Code.FailedPrecondition,
    rawMessage: expect.stringContaining('delete some'),
  };
  await expect(fill()).rejects.toMatchObject(full);
  expect(made.length).toBe(Math.floor(maxContentBytes / 401_000));
  const [id = ''] = made;
  await dashboards.upsert({ id, revision: 1, tiles: [] });
  await dashboards.create({ displayName: 'Large', tiles });
  // With the bound on a customer's organizations, nobody's dashboards take more than a fifth of their bucket.
  expect(50 * maxContentBytes).toBeLessThan(bucketOptions.dashboards.max_bytes / 5);
  expect(50 * maxListBytes).toBeLessThan(bucketOptions.dashboard_lists.max_bytes / 5);
  expect(recordQuotaBytes.dashboards).toBeGreaterThan(524_288);
});

it('a process finds what another has made at this moment', async () => {
  const others = await start(accounts.dataDir);
  const beside = others.as(bearer(owner, projectId)).dashboards;
  const made = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const id = idOf(await beside.create({ displayName: 'There' }));
      return (await dashboards.get({ id })).dashboard?.displayName;
    }),
  );
  expect(new Set(made)).toEqual(new Set(['There']));
  await others.close();
});
