// STICKINESS by events over HTTP on a real engine, with answers worked out by hand.

import { randomUUID } from 'node:crypto';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dayMs } from '../../../../platform/clock.ts';
import { InsightType } from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { AskedSpec } from '../../../../test/harness/insights/asked-project.ts';
import { useEngine } from '../../../../test/harness/servers/use-servers.ts';
import {
  type ReadService,
  startReadService,
} from '../../../../test/harness/services/read-service.ts';
import { storedRow, storeRows } from '../../../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../../../test/harness/tables/stored-profiles.ts';

const engine = useEngine();
const projectId = randomUUID();
const startMs = Date.UTC(2026, 9, 10);
const endMs = startMs + 3 * dayMs;
const timeRange = { from: timestampFromMs(startMs), to: timestampFromMs(endMs) };
let service: ReadService;
let untilMs = endMs;

beforeAll(async () => {
  service = await startReadService({
    ...{ clickhouseUrl: engine.url, readsPerSecond: 0, completeUntilMs: async () => untilMs },
  });
  const events = (distinctId: string, count: number, fields = {}) =>
    Array.from({ length: count }, (_, n) =>
      storedRow({
        ...{ projectId, distinctId, occurTimeMs: startMs + n * 3_600_000 + 60_000 },
        ...{ columns: { browser: n === 0 ? 'Firefox' : 'Chrome' }, ...fields },
      }),
    );
  await storeRows(service.clickhouse, [
    ...events('ada', 4),
    ...events('anon-1', 3),
    ...events('bob', 2),
    ...events('bob', 1, { kind: 'signup' }),
    ...events('eve', 1),
    ...events('gone', 5),
    ...events('nobody', 2, { cookieless: true }),
    storedRow({ projectId, distinctId: 'eve', occurTimeMs: endMs }),
  ]);
  await storeProfiles(service.clickhouse, [
    { projectId, distinctId: 'anon-1', owner: 'ada', root: 'ada', wasClaimed: true },
    { projectId, distinctId: 'ada', traits: { plan: 'pro' } },
    { projectId, distinctId: 'gone', deleted: true },
  ]);
});
afterAll(() => service.stop());

async function ask(spec: AskedSpec = {}) {
  const { result, sources } = await service.insights(projectId).query({
    ...{ timeRange, explain: true },
    spec: {
      ...{ insightType: InsightType.STICKINESS, events: [{ event: { kind: 'page_view' } }] },
      ...spec,
    },
  });
  if (result.case !== 'stickiness') return expect.fail('no points');
  const shown = (points: typeof result.value.points) =>
    points.map(({ events, eventsTo, value }) => [events, eventsTo, value]);
  const { incompleteFrom } = result.value;
  return {
    points: shown(result.value.points),
    series: result.value.series.map(({ breakdown, points }) => [
      Object.values(breakdown).join(),
      points.map(({ value }) => value),
    ]),
    open: incompleteFrom && timestampMs(incompleteFrom),
    sources: sources.map(({ need, source }) => `${need}: ${source}`),
  };
}

it('counts users by each number of events up to 20, and those with more', async () => {
  const { points } = await ask({ eventsPerUser: {} });
  // ada has 7 with what she did before she signed in, bob 2 and eve 1.
  expect(points).toHaveLength(20);
  expect(points.slice(0, 2)).toEqual([
    [1, 1, 1],
    [2, 2, 1],
  ]);
  expect(points[6]).toEqual([7, 7, 1]);
  expect(points[19]).toEqual([20, undefined, 0]);
  expect(points.reduce((sum, [, , value]) => sum + (value ?? 0), 0)).toBe(3);
});

it('counts them by bounds, exactly or so many or more', async () => {
  const eventsPerUser = { bounds: [1, 2, 3, 7] };
  expect((await ask({ eventsPerUser })).points).toEqual([
    [1, 1, 1],
    [2, 2, 1],
    [3, 6, 0],
    [7, undefined, 1],
  ]);
  expect((await ask({ eventsPerUser, cumulative: true })).points).toEqual([
    [1, undefined, 3],
    [2, undefined, 2],
    [3, undefined, 1],
    [7, undefined, 1],
  ]);
});

it('counts events of every kind from sums of days, and cookieless visitors where they are users', async () => {
  const eventsPerUser = { bounds: [1, 2, 3] };
  const every = { events: [{ event: {} }], eventsPerUser };
  const { points, sources } = await ask(every);
  expect(points.map(([, , value]) => value)).toEqual([1, 0, 2]);
  expect(sources).toContain('events a user: profile_days');
  const withVisitors = await ask({ ...every, includeCookieless: true });
  expect(withVisitors.points.map(([, , value]) => value)).toEqual([1, 1, 2]);
});

it('has users in the group of their first event, or of their trait', async () => {
  const eventsPerUser = { bounds: [1, 2, 3] };
  const byBrowser = await ask({ eventsPerUser, breakdowns: [{ property: '$browser' }] });
  expect(byBrowser.series).toEqual([['Firefox', [1, 1, 1]]]);
  const byPlan = await ask({ eventsPerUser, breakdowns: [{ property: 'profile.plan' }] });
  expect(byPlan.series).toEqual([
    ['', [1, 1, 0]],
    ['pro', [0, 0, 1]],
  ]);
});

it('is not over while the range is not', async () => {
  expect((await ask({ eventsPerUser: {} })).open).toBeUndefined();
  untilMs = endMs - 1;
  expect((await ask({ eventsPerUser: {} })).open).toBe(startMs);
  untilMs = endMs;
});

it('has the persons of each point', async () => {
  const personsAt = async (events: number, more: AskedSpec = {}, breakdown = {}) => {
    const spec = {
      ...{ insightType: InsightType.STICKINESS, events: [{ event: { kind: 'page_view' } }] },
      ...{ eventsPerUser: { bounds: [1, 2, 7] }, ...more },
    };
    const { distinctIds } = await service
      .insights(projectId)
      .segmentUsers({ timeRange, point: { spec, events, breakdown } });
    return distinctIds.toSorted();
  };
  expect(await personsAt(1)).toEqual(['eve']);
  expect(await personsAt(7)).toEqual(['ada']);
  expect(await personsAt(2, { cumulative: true })).toEqual(['ada', 'bob']);
  const breakdowns = [{ property: '$browser' }];
  expect(await personsAt(2, { breakdowns }, { $browser: 'Firefox' })).toEqual(['bob']);
  expect(await personsAt(2, { breakdowns }, { $browser: 'Chrome' })).toEqual([]);
  const error = await personsAt(3).then(() => expect.fail('answered'), ConnectError.from);
  expect(error.rawMessage).toBe('point.events: must be one of the bounds');
});

it.each([
  [[2], 'bounds[0]: must be 1'],
  [[1, 5, 5], 'bounds[2]: must be greater than the one before'],
  [[1, 1_000_001], 'bounds[1]: must be at most 1000000'],
  [Array.from({ length: 101 }, (_, n) => n + 1), 'bounds: takes at most 100'],
])('is refused by its field: %s', async (bounds, rule) => {
  const error = await ask({ eventsPerUser: { bounds } }).then(
    () => expect.fail('answered'),
    ConnectError.from,
  );
  expect(error.rawMessage).toBe(`spec.eventsPerUser.${rule}`);
});
