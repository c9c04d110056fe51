// LIFECYCLE, STICKINESS and cohorts over HTTP on a real engine, with answers worked out by hand.

import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type DataPoint,
  Granularity,
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

const at = (time: string): number => Date.parse(`2026-10-${time}Z`);
const row = (time: string, distinctId: string, fields: Partial<StoredRow> = {}): StoredRow =>
  storedRow({ projectId: project, distinctId, occurTimeMs: at(time), ...fields });

beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url, readsPerSecond: 0 });
  insights = service.insights(project);
  await storeRows(service.clickhouse, [
    // ada is two ids; her first event is of another kind and long ago.
    row('01T00:00:00', 'anon-1', { kind: 'signup' }),
    row('09T23:59:59.999', 'anon-1'),
    row('10T10:00:00', 'ada'),
    row('12T10:00:00', 'anon-1'),
    // bob is new on the 10th, away on the 11th and back on the 12th.
    row('10T08:00:00', 'bob', { kind: 'signup' }),
    row('10T09:00:00', 'bob'),
    row('12T09:00:00', 'bob'),
    // eve did something on the 10th that the question does not ask for, so that she is not new on the 11th.
    row('10T12:00:00', 'eve', { kind: 'signup' }),
    row('11T12:00:00', 'eve'),
    row('11T13:00:00', 'eve', { receiveTimeMs: at('12T00:00:00') }),
    row('11T12:00:00', 'gone'),
    row('11T12:00:00', 'cookieless-1', { cookieless: true }),
  ]);
  await storeProfiles(service.clickhouse, [
    { projectId: project, distinctId: 'anon-1', owner: 'ada', root: 'ada', wasClaimed: true },
    { projectId: project, distinctId: 'gone', deleted: true },
  ]);
});
afterAll(() => service.stop());

const pageViews = [{ event: { kind: 'page_view' } }];
const numbers = (points: readonly DataPoint[]) => points.map(({ value }) => value);

interface Ask {
  from?: string;
  to?: string;
  asOf?: number;
  spec?: Parameters<Client<typeof InsightsService>['query']>[0]['spec'];
  granularity?: Granularity;
  timezone?: string;
  of?: Client<typeof InsightsService>;
}

async function ask(
  insightType: InsightType,
  { from, to, asOf, spec, of = insights, ...rest }: Ask = {},
) {
  const response = await of.query({
    spec: { events: pageViews, ...spec, insightType },
    timeRange: {
      from: timestampFromMs(at(from ?? '10T00:00:00')),
      to: timestampFromMs(at(to ?? '13T00:00:00')),
    },
    ...(asOf !== undefined && { asOf: timestampFromMs(asOf) }),
    ...rest,
  });
  const { result } = response;
  return {
    leftOut: response.leftOut.map(({ reason, count }) => [LeftOut_Reason[reason], Number(count)]),
    ...(result.case === 'lifecycle' && {
      new: numbers(result.value.newUsers),
      returning: numbers(result.value.returningUsers),
      resurrecting: numbers(result.value.resurrectingUsers),
      dormant: numbers(result.value.dormantUsers),
    }),
    ...(result.case === 'retention' && {
      cohorts: result.value.series.map(({ cohorts }) =>
        cohorts.map(({ cohortSize }) => cohortSize),
      ),
    }),
    ...(result.case === 'stickiness' && {
      points: result.value.points.map(({ buckets, value }) => [buckets, value]),
    }),
  };
}

describe('a lifecycle', () => {
  it('tells who is new, who comes back and who stays away', async () => {
    expect(await ask(InsightType.LIFECYCLE)).toEqual({
      new: [1, 0, 0],
      returning: [1, 0, 0],
      resurrecting: [0, 1, 2],
      dormant: [0, 2, 1],
      leftOut: [
        ['COOKIELESS_EVENTS', 1],
        ['DELETED_PROFILES', 1],
      ],
    });
  });

  it('looks at the bucket before as a whole, and at a first bucket that is partial from its start on', async () => {
    const { leftOut, ...partial } = await ask(InsightType.LIFECYCLE, { from: '10T09:30:00' });
    // bob's page view of the 10th is before the range; so are the new ones of that day.
    expect(partial).toEqual({
      new: [0, 0, 0],
      returning: [1, 0, 0],
      resurrecting: [0, 1, 2],
      dormant: [0, 1, 1],
    });
    const { returning } = await ask(InsightType.LIFECYCLE, { from: '10T08:30:00' });
    expect(returning).toEqual([1, 0, 0]);
    expect((await ask(InsightType.LIFECYCLE, { from: '10T08:30:00' })).new).toEqual([1, 0, 0]);
  });

  it('has nobody new of every kind who began in the part of the first bucket before the range', async () => {
    const from = '10T09:30:00';
    const { leftOut: _, ...every } = await ask(InsightType.LIFECYCLE, {
      from,
      spec: { events: [{ event: {} }] },
    });
    expect(every).toEqual({
      new: [1, 0, 0],
      returning: [1, 1, 0],
      resurrecting: [0, 0, 2],
      dormant: [0, 1, 1],
    });
  });

  it('follows the days of a zone', async () => {
    const { leftOut, ...lifecycle } = await ask(InsightType.LIFECYCLE, {
      timezone: 'Asia/Kolkata',
    });
    // ada's page views of the 9th and the 10th are of one day there.
    expect(lifecycle).toEqual({
      new: [1, 0, 0, 0],
      returning: [0, 0, 0, 0],
      resurrecting: [1, 1, 2, 0],
      dormant: [0, 2, 1, 2],
    });
  });

  it.each([61, 62, 63, 64, 126, 127])('of %i buckets is the end of a longer one', async (hours) => {
    const of = (count: number) =>
      ask(InsightType.LIFECYCLE, {
        from: new Date(at('13T00:00:00') - count * 3_600_000).toISOString().slice(8, -1),
        spec: { events: [{ event: {} }] },
        granularity: Granularity.HOUR,
      });
    const longer = await of(150);
    expect(longer.new?.filter((value) => value !== 0)).toHaveLength(2);
    const answer = await of(hours);
    for (const state of ['new', 'returning', 'resurrecting', 'dormant'] as const) {
      expect(answer[state]).toEqual(longer[state]?.slice(-hours));
    }
  });

  it('counts cookieless visitors where it is asked to, and what was received by a moment', async () => {
    const spec = { includeCookieless: true };
    const all = await ask(InsightType.LIFECYCLE, { spec });
    expect(all.new).toEqual([1, 1, 0]);
    expect(all.leftOut).toEqual([['DELETED_PROFILES', 1]]);
    const early = await ask(InsightType.LIFECYCLE, { asOf: at('11T12:00:01') });
    expect(early.resurrecting).toEqual([0, 1, 0]);
    expect(early.leftOut).toEqual([
      ['COOKIELESS_EVENTS', 1],
      ['DELETED_PROFILES', 1],
      ['RECEIVED_LATER', 3],
    ]);
  });

  it('refuses more than one event', async () => {
    await expect(
      ask(InsightType.STICKINESS, { spec: { events: [...pageViews, ...pageViews] } }),
    ).rejects.toThrow('spec.events');
  });
});

describe('stickiness', () => {
  it('counts users by the buckets in which they were active', async () => {
    expect((await ask(InsightType.STICKINESS)).points).toEqual([
      [1, 1],
      [2, 2],
      [3, 0],
    ]);
    const every = { events: [{ event: {} }] };
    const { points } = await ask(InsightType.STICKINESS, { spec: every });
    expect(points).toEqual([
      [1, 0],
      [2, 3],
      [3, 0],
    ]);
  });

  it('has more buckets than a number has bits', async () => {
    const hours = { from: '05T00:00:00', granularity: Granularity.HOUR };
    const { points } = await ask(InsightType.STICKINESS, hours);
    expect(points?.length).toBe(8 * 24);
    expect(points?.slice(0, 4)).toEqual([
      [1, 0],
      [2, 2],
      [3, 1],
      [4, 0],
    ]);
    const { resurrecting, returning, dormant } = await ask(InsightType.LIFECYCLE, hours);
    const sum = (values: readonly (number | undefined)[] = []) =>
      values.reduce<number>((total, value = 0) => total + value, 0);
    expect([sum(resurrecting), sum(returning), sum(dormant)]).toEqual([6, 1, 6]);
  });
});

describe('a range that begins and ends within days', () => {
  it('has nobody who was active on these days outside of it', async () => {
    const range = { from: '10T12:00:00', to: '11T12:30:00' };
    const every = { events: [{ event: {} }] };
    // Only eve was there; ada and bob came before noon.
    const retention = await ask(InsightType.RETENTION, { ...range, spec: every });
    expect(retention.cohorts).toEqual([[1, 0]]);
    const { points } = await ask(InsightType.STICKINESS, { ...range, spec: every });
    expect(points).toEqual([
      [1, 0],
      [2, 1],
    ]);
  });
});

it('nobody is new because of rows that are not merged yet', async () => {
  await service.clickhouse.command({
    query: 'ALTER TABLE profile_listing MODIFY SETTING max_bytes_to_merge_at_max_space_in_pool = 1',
  });
  const ours = randomUUID();
  for (const time of ['09T10:00:00', '10T10:00:00', '12T10:00:00']) {
    await storeRows(service.clickhouse, [row(time, 'ada', { projectId: ours })]);
  }
  const { leftOut, ...lifecycle } = await ask(InsightType.LIFECYCLE, {
    of: service.insights(ours),
  });
  expect(lifecycle).toEqual({
    new: [0, 0, 0],
    returning: [1, 0, 0],
    resurrecting: [0, 0, 1],
    dormant: [0, 1, 0],
  });
});

it('is answered from the first days that there are', async () => {
  const { result } = await insights.query({
    spec: { insightType: InsightType.LIFECYCLE, events: [{ event: {} }] },
    timeRange: { from: timestampFromMs(0), to: timestampFromMs(10 * 86_400_000) },
    granularity: Granularity.DAY,
    timezone: 'UTC',
  });
  expect(result.case).toBe('lifecycle');
});
