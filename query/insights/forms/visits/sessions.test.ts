// Questions about visits over HTTP on a real engine, with answers worked out by hand.

import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FilterOperator, PropertySource } from '../../../../proto/gen/common/v1/filter_pb.js';
import {
  type InsightsService,
  InsightType,
  LeftOut_Reason,
  SessionMetric,
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

const at = (time: string): number => Date.parse(`2026-10-${time}Z`);
const sessions = new Map<string, string>();
const sessionOf = (visit: string): string => {
  const known = sessions.get(visit) ?? randomUUID();
  sessions.set(visit, known);
  return known;
};
const row = (visit: string, time: string, fields: Partial<StoredRow> = {}): StoredRow =>
  storedRow({
    projectId: project,
    sessionId: sessionOf(visit),
    distinctId: 'ada',
    occurTimeMs: at(time),
    ...fields,
  });
const path = (pathname: string, distinctId = 'ada') => ({ columns: { pathname }, distinctId });

beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url, readsPerSecond: 0 });
  insights = service.insights(project);
  await storeRows(service.clickhouse, [
    row('two', '10T10:00:00', path('/a')),
    row('two', '10T10:00:30', { kind: 'purchase', ...path('/b', 'bob') }),
    row('bounce', '10T23:59:00', path('/a', 'cookieless-1')),
    row('no view', '11T10:00:00', { kind: 'signup' }),
    row('midnight', '10T23:50:00', path('/a', 'bob')),
    row('midnight', '11T00:10:00', path('/c', 'bob')),
    row('long', '11T12:00:00', path('/c', 'bob')),
    row('long', '12T12:00:00', path('/d', 'bob')),
    row('long', '13T11:00:00', path('/a', 'bob')),
    row('began before', '09T23:59:59', path('/a')),
    row('began before', '10T00:05:00', path('/a')),
  ]);
  await storeRows(service.clickhouse, [
    // The session is used again after whole days without events: a new visit.
    row('used again', '08T10:00:00', path('/a')),
    row('used again', '12T09:00:00', path('/a')),
    // A third day is not the visit's.
    row('ends after', '12T20:00:00', path('/e')),
    row('ends after', '13T23:59:59', { kind: 'purchase', ...path('/f') }),
    row('ends after', '14T00:00:00', { kind: 'purchase', ...path('/g') }),
  ]);
  await storeProfiles(service.clickhouse, [
    { projectId: project, distinctId: 'bob', owner: 'eve', root: 'eve', wasClaimed: true },
    { projectId: project, distinctId: 'eve', traits: { plan: 'pro' } },
  ]);
});
afterAll(() => service.stop());

const timeRange = {
  from: timestampFromMs(at('10T00:00:00')),
  to: timestampFromMs(at('13T00:00:00')),
};
type Session = Exclude<AskedSpec['session'], undefined>;

async function days(session: Session, more: AskedSpec = {}, asOf?: number) {
  const { result, leftOut } = await insights.query({
    spec: { insightType: InsightType.TRENDS, ...more, session },
    timeRange,
    ...(asOf !== undefined && { asOf: timestampFromMs(asOf) }),
  });
  if (result.case !== 'trends') throw new Error('no trends');
  return {
    series: result.value.series.map(({ breakdown, isOthers, points }) => [
      isOthers ? 'others' : Object.values(breakdown).join(),
      ...points.map(({ value }) => value),
    ]),
    leftOut: leftOut.map(({ reason, count }) => [LeftOut_Reason[reason], Number(count)]),
  };
}

async function whole(session: Session, more: AskedSpec = {}) {
  const { result } = await insights.query({
    spec: { insightType: InsightType.SEGMENTATION, ...more, session },
    timeRange,
  });
  if (result.case !== 'segmentation') throw new Error('no segmentation');
  const { total, series } = result.value;
  return {
    total,
    series: series.map(({ breakdown, isOthers, value }) => [
      isOthers ? 'others' : Object.values(breakdown).join(),
      value,
    ]),
  };
}

const byPath = { breakdowns: [{ property: '$pathname' }] };

describe('visits a day', () => {
  it.each([
    [SessionMetric.SESSIONS, [3, 2, 2]],
    [SessionMetric.AVG_DURATION, [(30 + 0 + 1_200) / 3, (0 + 24 * 3_600) / 2, 100_799 / 2]],
    [SessionMetric.BOUNCE_RATE, [1 / 3, 0, 1 / 2]],
    [SessionMetric.AVG_EVENTS_PER_SESSION, [5 / 3, 3 / 2, 3 / 2]],
    [SessionMetric.ENTRY, [3, 2, 2]],
    [SessionMetric.EXIT, [3, 2, 2]],
  ])('have the metric %s', async (metric, expected) => {
    expect((await days({ metric })).series).toEqual([['', ...expected]]);
  });

  it('count where one event matches scope and filter groups both', async () => {
    const scope = { kind: 'purchase' };
    const metric = SessionMetric.SESSIONS;
    expect((await days({ metric, scope })).series).toEqual([['', 1, 0, 1]]);
    const inGroup = (value: string) => ({
      filterGroups: [
        { filters: [{ property: '$pathname', operator: FilterOperator.EQUALS, value }] },
      ],
    });
    expect((await days({ metric, scope }, inGroup('/b'))).series).toEqual([['', 1, 0, 0]]);
    expect((await days({ metric, scope }, inGroup('/a'))).series).toEqual([['', 0, 0, 0]]);
    // All events of a visit that counts are in its length.
    const duration = { metric: SessionMetric.AVG_DURATION, scope };
    expect((await days(duration)).series).toEqual([['', 30, 0, 100_799]]);
  });

  it('of entries and exits are those whose first or last event matches', async () => {
    const scope = {
      filters: [{ property: '$pathname', operator: FilterOperator.EQUALS, value: '/a' }],
    };
    expect((await days({ metric: SessionMetric.ENTRY, scope })).series).toEqual([['', 3, 0, 1]]);
    expect((await days({ metric: SessionMetric.EXIT, scope })).series).toEqual([['', 1, 0, 1]]);
    const bought = {
      filterGroups: [
        { filters: [{ property: '$pathname', operator: FilterOperator.EQUALS, value: '/b' }] },
      ],
    };
    expect((await days({ metric: SessionMetric.ENTRY, scope }, bought)).series).toEqual([
      ['', 1, 0, 0],
    ]);
  });

  it('know what was received by a moment', async () => {
    const { series, leftOut } = await days(
      { metric: SessionMetric.SESSIONS },
      {},
      at('10T23:59:00'),
    );
    expect(series).toEqual([['', 2, 0, 0]]);
    expect(leftOut).toEqual([['RECEIVED_LATER', 9]]);
  });
});

describe('groups of visits', () => {
  it('are those of the first event, of the last for exits', async () => {
    const first = await whole({ metric: SessionMetric.SESSIONS }, byPath);
    expect(first).toEqual({
      total: 7,
      series: [
        ['/a', 4],
        ['', 1],
        ['/c', 1],
        ['/e', 1],
      ],
    });
    const last = await whole({ metric: SessionMetric.EXIT }, { ...byPath, breakdownLimit: 2 });
    expect(last).toEqual({
      total: 7,
      series: [
        ['/a', 2],
        ['', 1],
        ['others', 4],
      ],
    });
    const long = await whole({ metric: SessionMetric.AVG_DURATION }, byPath);
    expect(long.total).toBe((30 + 1_200 + 24 * 3_600 + 100_799) / 7);
    expect(long.series[0]).toEqual(['/a', 1_230 / 4]);
  });

  it('may be of traits', async () => {
    const breakdowns = [{ property: 'profile.plan' }, { property: '$pathname' }];
    const { series } = await whole({ metric: SessionMetric.EXIT }, { breakdowns });
    expect(series).toEqual([
      ['/a', 2],
      ['', 1],
      ['/f', 1],
      ['pro,/b', 1],
      ['pro,/c', 1],
      ['pro,/d', 1],
    ]);
    const isPro = {
      property: 'plan',
      operator: FilterOperator.EQUALS,
      value: 'pro',
      source: PropertySource.PROFILE,
    };
    const withPro = { filterGroups: [{ filters: [isPro] }] };
    expect((await whole({ metric: SessionMetric.SESSIONS }, withPro)).total).toBe(3);
    const exits = { metric: SessionMetric.EXIT, scope: { filters: [isPro] } };
    expect((await whole(exits)).total).toBe(3);
  });
});

it.each([
  [{ session: {} }, /spec\.session\.metric/],
  [{ session: { metric: SessionMetric.EXIT }, events: [{}] }, /spec\.events/],
  [
    { session: { metric: SessionMetric.EXIT }, insightType: InsightType.FUNNEL },
    /spec\.session: is for/,
  ],
])('refuses %j', async (spec, message) => {
  const asked = { insightType: InsightType.TRENDS, ...spec };
  await expect(insights.query({ spec: asked, timeRange })).rejects.toThrow(message);
});
