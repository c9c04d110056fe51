// TOP_K over HTTP on a real engine, with answers worked out by hand.

import { randomUUID } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FilterOperator, PropertySource } from '../../../../proto/gen/common/v1/filter_pb.js';
import {
  AggregationType,
  type InsightsService,
  InsightType,
  LeftOut_Reason,
  TopKQuery_Dimension,
  type TopKQuerySchema,
} from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { AskedSpec } from '../../../../test/harness/insights/asked-project.ts';
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
const ids = new Map<string, string>();

const at = (time: string): number => Date.parse(`2026-10-${time}Z`);
let second = 0;
const row = (distinctId: string, pathname: string, fields: Partial<StoredRow> = {}): StoredRow =>
  storedRow({
    projectId: project,
    distinctId,
    occurTimeMs: at('10T10:00:00') + 1_000 * second++,
    columns: pathname === '' ? {} : { pathname },
    ...fields,
  });

beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url, readsPerSecond: 0 });
  insights = service.insights(project);
  await storeRows(service.clickhouse, [
    row('anon-1', '/a', { ints: { amount: 5n } }),
    row('anon-2', '/a', { doubles: { amount: 2.5 } }),
    row('ada', '/b'),
    row('bob', '/b', { ints: { amount: -7n } }),
    row('bob', '/c', { kind: 'purchase', ints: { amount: 40n } }),
    row('bob', '', { strings: { $pathname: '' } }),
    row('stray', '', { ints: { $pathname: 42n } }),
    row('stray', '', { kind: 'signup' }),
    row('gone', '/a'),
    row('cookieless-1', '/a', { cookieless: true }),
    row('cookieless-1', '/d', { cookieless: true }),
  ]);
  await storeProfiles(service.clickhouse, [
    { projectId: project, distinctId: 'anon-1', owner: 'ada', root: 'ada', wasClaimed: true },
    { projectId: project, distinctId: 'anon-2', owner: 'eve', root: 'eve', wasClaimed: true },
    { projectId: project, distinctId: 'ada', traits: { plan: 'pro', tags: ['x'] } },
    { projectId: project, distinctId: 'eve', traits: { plan_b: 1 } },
    { projectId: project, distinctId: 'bob' },
    { projectId: project, distinctId: 'gone', deleted: true },
  ]);
  for (const id of ['ada', 'eve', 'bob', 'stray', 'cookieless-1']) {
    const { data } = await (
      await service.clickhouse.query({
        query: 'SELECT lower(hex(millraceProfileHash({project:String}, {id:String}))) AS hash',
        query_params: { project, id },
      })
    ).json<{ hash: string }>();
    ids.set(data[0]?.hash ?? '', id);
  }
});
afterAll(() => service.stop());

const timeRange = {
  from: timestampFromMs(at('10T00:00:00')),
  to: timestampFromMs(at('11T00:00:00')),
};

type TopKAsked = Extract<MessageInitShape<typeof TopKQuerySchema>, { $typeName?: never }>;

async function top(
  topK: TopKAsked,
  more: Pick<AskedSpec, 'filterGroups' | 'includeCookieless'> = {},
  asOf?: number,
) {
  const { result, leftOut } = await insights.query({
    spec: { insightType: InsightType.TOP_K, ...more, topK },
    timeRange,
    ...(asOf !== undefined && { asOf: timestampFromMs(asOf) }),
  });
  if (result.case !== 'topK') throw new Error('no top k');
  return {
    rows: result.value.rows.map(({ dimensionValue = '', value, isOthers, isAbsent }) => [
      isOthers ? 'others' : isAbsent ? 'absent' : (ids.get(dimensionValue) ?? dimensionValue),
      value,
    ]),
    profiles: result.value.rows.map(({ profile }) => profile),
    leftOut: leftOut.map(({ reason, count }) => [LeftOut_Reason[reason], Number(count)]),
  };
}

const byPath = { dimension: TopKQuery_Dimension.PROPERTY, property: '$pathname' };
const byUser = { dimension: TopKQuery_Dimension.USER };

describe('the greatest values of a property', () => {
  it('counts events of everyone; equal ones are in byte order, the absent value first', async () => {
    const { rows, leftOut } = await top(byPath);
    expect(rows).toEqual([
      ['/a', 4],
      ['/b', 2],
      ['absent', 1],
      ['', 1],
      ['/c', 1],
      ['/d', 1],
      ['42', 1],
    ]);
    expect(leftOut).toEqual([]);
  });

  it('puts all other groups into one row, unless nobody asks for it', async () => {
    expect((await top({ ...byPath, limit: 2 })).rows).toEqual([
      ['/a', 4],
      ['/b', 2],
      ['others', 5],
    ]);
    const { rows, leftOut } = await top({ ...byPath, limit: 2, omitOthers: true });
    expect(rows).toEqual([
      ['/a', 4],
      ['/b', 2],
    ]);
    expect(leftOut).toEqual([['GROUPS_IN_OTHERS', 5]]);
  });

  it('counts a user once among all others', async () => {
    const metric = AggregationType.UNIQUE_USERS;
    const { rows, leftOut } = await top({ ...byPath, metric, limit: 2 });
    // Of the others, bob has two.
    expect(rows).toEqual([
      ['/a', 2],
      ['/b', 2],
      ['others', 2],
    ]);
    expect(leftOut).toEqual([
      ['COOKIELESS_EVENTS', 2],
      ['DELETED_PROFILES', 1],
      ['GROUPS_IN_OTHERS', 4],
    ]);
    const perUser = { ...byPath, metric: AggregationType.PER_USER_AVG, limit: 1 };
    expect((await top(perUser)).rows).toEqual([
      ['absent', 1],
      ['others', 7 / 4],
    ]);
    const all = await top({ ...byPath, metric, limit: 1 }, { includeCookieless: true });
    expect(all.rows).toEqual([
      ['/a', 3],
      ['others', 4],
    ]);
  });

  it.each([
    [
      AggregationType.SUM,
      [
        ['/c', 40],
        ['/a', 7.5],
        ['others', -7],
      ],
    ],
    [
      AggregationType.AVG,
      [
        ['/c', 40],
        ['/a', 3.75],
        ['others', -7],
      ],
    ],
    [
      AggregationType.MAX,
      [
        ['/c', 40],
        ['/a', 5],
        ['others', -7],
      ],
    ],
    [
      AggregationType.MIN,
      [
        ['/c', 40],
        ['/a', 2.5],
        ['others', -7],
      ],
    ],
  ])('ranks by the metric %s of a number', async (metric, expected) => {
    const asked = { ...byPath, metric, metricProperty: 'amount', limit: 2 };
    expect((await top(asked)).rows).toEqual(expected);
  });

  it('follows scope, filter groups and as_of', async () => {
    const scope = { kind: 'purchase' };
    expect((await top({ ...byPath, scope })).rows).toEqual([['/c', 1]]);
    const filters = [
      { property: '$pathname', operator: FilterOperator.IN, values: ['/b', '/c'] },
      { property: 'plan', operator: FilterOperator.IS_SET, source: PropertySource.PROFILE },
    ];
    expect((await top(byPath, { filterGroups: [{ filters }] })).rows).toEqual([['/b', 1]]);
    const early = await top(byPath, {}, at('10T10:00:02'));
    expect(early.rows).toEqual([['/a', 2]]);
    expect(early.leftOut).toEqual([['RECEIVED_LATER', 9]]);
  });

  it('groups by a trait of the person', async () => {
    const asked = { dimension: TopKQuery_Dimension.PROPERTY, property: 'profile.plan' };
    expect((await top(asked)).rows).toEqual([
      ['absent', 9],
      ['pro', 2],
    ]);
  });
});

describe('the greatest kinds', () => {
  it('counts their events', async () => {
    expect((await top({ dimension: TopKQuery_Dimension.EVENT_KIND, limit: 1 })).rows).toEqual([
      ['page_view', 9],
      ['others', 2],
    ]);
  });

  it('counts them in the table of sums as in the rows of events', async () => {
    const asked = { dimension: TopKQuery_Dimension.EVENT_KIND };
    const { rows } = await top(asked);
    expect(rows).toEqual((await top(asked, {}, Date.UTC(2199, 0, 1))).rows);
    expect(rows).toHaveLength(3);
  });
});

describe('the greatest users', () => {
  it('has merged ids as one, with the profile of the root', async () => {
    const { rows, profiles, leftOut } = await top({ ...byUser, limit: 3 });
    expect(rows.slice(0, 1)).toEqual([['bob', 3]]);
    expect(new Set(rows.slice(1, 3).map(([name]) => name))).toEqual(new Set(['ada', 'stray']));
    expect(rows[3]).toEqual(['others', 1]);
    expect(leftOut).toEqual([
      ['COOKIELESS_EVENTS', 2],
      ['DELETED_PROFILES', 1],
      ['GROUPS_IN_OTHERS', 1],
    ]);
    const place = (name: string): number => rows.findIndex(([known]) => known === name);
    expect(profiles[place('ada')]).toMatchObject({
      externalId: 'ada',
      properties: { plan: 'pro', tags: ['x'] },
    });
    expect(ids.get(profiles[place('ada')]?.id ?? '')).toBe('ada');
    expect(profiles[place('stray')]).toMatchObject({ externalId: '', properties: {} });
    expect(profiles[3]).toBeUndefined();
    // Their ids are known by now.
    const again = await top({ ...byUser, limit: 2 });
    expect(again.profiles).toEqual([...profiles.slice(0, 2), undefined]);
  });

  it('orders equal users by their ids, and finds a root that has no events of its own', async () => {
    const metric = AggregationType.SUM;
    const { rows, profiles } = await top({ ...byUser, metric, metricProperty: 'amount' });
    expect(rows).toEqual([
      ['bob', 33],
      ['ada', 5],
      ['eve', 2.5],
      ['stray', 0],
    ]);
    expect(profiles[2]).toMatchObject({ externalId: 'eve', properties: { plan_b: 1 } });
    const ones = await top({ ...byUser, scope: { kind: 'page_view' }, limit: 100 });
    const order = [...ids].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, name]) => name);
    const [twice, ...once] = [['ada', 'bob'], 'eve', 'stray'];
    expect(ones.rows.map(([name]) => name)).toEqual([
      ...order.filter((name) => twice?.includes(name)),
      ...order.filter((name) => once.includes(name)),
    ]);
  });

  it('has cookieless visitors only if asked, without a profile', async () => {
    const { rows, profiles } = await top({ ...byUser, limit: 10 }, { includeCookieless: true });
    const place = rows.findIndex(([name]) => name === 'cookieless-1');
    expect(rows[place]).toEqual(['cookieless-1', 2]);
    expect(profiles[place]).toBeUndefined();
  });

  it('counts their events on whole days and around them', async () => {
    const ofDays = randomUUID();
    const times = [
      '10T14:29:59.999',
      '10T14:30:00',
      '10T23:59:59.999',
      '11T00:00:00',
      '12T23:59:59',
    ];
    const later = ['13T00:00:00', '13T06:00:00.499', '13T06:00:00.500'];
    await storeRows(
      service.clickhouse,
      [...times, ...later].flatMap((time, index) =>
        ['a', 'b']
          .slice(index % 2)
          .map((distinctId) => storedRow({ projectId: ofDays, distinctId, occurTimeMs: at(time) })),
      ),
    );
    const { result } = await service.insights(ofDays).query({
      spec: { insightType: InsightType.TOP_K, topK: byUser },
      timeRange: {
        from: timestampFromMs(at('10T14:30:00')),
        to: timestampFromMs(at('13T06:00:00.500')),
      },
    });
    const values = result.case === 'topK' && result.value.rows.map(({ value }) => value);
    expect(values).toEqual([6, 3]);
  });

  it('has the profile of whoever is on top now', async () => {
    const projectId = randomUUID();
    const spec = {
      insightType: InsightType.TOP_K,
      topK: { ...byUser, limit: 1, omitOthers: true },
    };
    const first = async (): Promise<string | undefined> => {
      const { result } = await service.insights(projectId).query({ spec, timeRange });
      return result.case === 'topK' ? result.value.rows[0]?.profile?.externalId : undefined;
    };
    const active = (distinctId: string, events: number): StoredRow[] =>
      Array.from({ length: events }, () => row(distinctId, '/', { projectId }));
    const named = ['ada', 'bob'].map((distinctId) => ({ projectId, distinctId }));
    await storeProfiles(service.clickhouse, named);
    await storeRows(service.clickhouse, active('ada', 1));
    expect([await first(), await first()]).toEqual(['ada', 'ada']);
    await storeRows(service.clickhouse, active('bob', 2));
    expect([await first(), await first()]).toEqual(['bob', 'bob']);
  });

  it('meets filters on traits', async () => {
    const filters = [
      { property: 'plan', operator: FilterOperator.IS_SET, source: PropertySource.PROFILE },
    ];
    expect((await top(byUser, { filterGroups: [{ filters }] })).rows).toEqual([['ada', 2]]);
  });

  it.each([
    [{ ...byUser, metric: AggregationType.UNIQUE_USERS }, /spec\.topK\.metric/],
    [{ ...byUser, limit: 101 }, /spec\.topK\.limit/],
    [{}, /spec\.topK\.dimension/],
    [{ dimension: TopKQuery_Dimension.PROPERTY }, /spec\.topK\.property/],
    [{ ...byUser, metric: AggregationType.SUM }, /spec\.topK\.metricProperty/],
  ])('refuses %j', async (asked, message) => {
    await expect(top(asked)).rejects.toThrow(message);
  });
});
