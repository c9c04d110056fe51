// Segments as filters of lists: of events, of profiles in every order, and their number.

import { randomUUID } from 'node:crypto';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dayMs } from '../../../platform/clock.ts';
import { FilterOperator } from '../../../proto/gen/common/v1/filter_pb.js';
import {
  type ProfileTestSchema,
  type Segment,
  SegmentSchema,
} from '../../../proto/gen/dashboard/segments/v1/segments_pb.js';
import { ProfileOrder } from '../../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { useEngine } from '../../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../../test/harness/services/read-service.ts';
import { storedRow, storeRows } from '../../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../../test/harness/tables/stored-profiles.ts';

const nowMs = Date.UTC(2026, 10, 20);
const projectId = `prj_${randomUUID()}`;
const engine = useEngine();
const segments = new Map<string, Segment>();
let service: ReadService;

/** Users of two days, each with a view; every third one buys, also under an id that is merged later. */
const users = Array.from({ length: 30 }, (_, n) => n);
const bought = (n: number): boolean => n % 3 === 0;
const isPro = (n: number): boolean => n % 2 === 0;

beforeAll(async () => {
  service = await startReadService({
    clickhouseUrl: engine.url,
    clock: { nowMs: () => nowMs },
    findSegment: async (_, id) => segments.get(id),
  });
  const row = (distinctId: string, n: number, kind: string, fields = {}) =>
    storedRow({
      ...{ projectId, kind, distinctId, occurTimeMs: nowMs - (n % 2) * dayMs - n * 60_000 },
      ...fields,
    });
  await storeRows(service.clickhouse, [
    ...users.map((n) => row(`u${n}`, n, 'view')),
    ...users.filter(bought).map((n) => row(n % 6 === 0 ? `anon-${n}` : `u${n}`, n, 'buy')),
    row('nobody', 1, 'buy', { cookieless: true }),
  ]);
  const named = users.filter((n) => n % 5 !== 0);
  await storeProfiles(
    service.clickhouse,
    [
      ...named.map((n) => ({
        ...{ projectId, distinctId: `u${n}`, traits: { plan: isPro(n) ? 'pro' : 'free' } },
      })),
      ...users
        .filter((n) => n % 6 === 0)
        .map((n) => ({
          ...{ projectId, distinctId: `anon-${n}`, named: false, owner: `u${n}`, root: `u${n}` },
          wasClaimed: true,
        })),
      { projectId, distinctId: 'u9', deleted: true },
    ],
    '2',
  );
});
afterAll(() => service?.stop());

function segment(...tests: MessageInitShape<typeof ProfileTestSchema>[]): string {
  const id = randomUUID();
  segments.set(id, create(SegmentSchema, { id, condition: { groups: [{ tests }] } }));
  return id;
}
const buyers = () =>
  segment({
    test: { case: 'did', value: { event: { kind: 'buy' }, times: { case: 'atLeast', value: 1 } } },
  });
const onPlan = (value: string) => {
  const operator = FilterOperator.EQUALS;
  return segment({ test: { case: 'trait', value: { property: 'plan', operator, value } } });
};
const ofBuyers = users.filter((n) => bought(n) && n !== 9);

it('keep the events of its persons, whatever their ids, page by page', async () => {
  const id = buyers();
  const found: string[] = [];
  let pageToken = '';
  do {
    const page = await service
      .activity(projectId)
      .list({ segments: [id], pageSize: 7, pageToken, kinds: ['view', 'buy'] });
    found.push(...page.events.map(({ kind, distinctId }) => `${kind} ${distinctId}`));
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  const expected = ofBuyers.flatMap((n) => [
    `view u${n}`,
    `buy ${n % 6 === 0 ? 'anon-' : 'u'}${n}`,
  ]);
  expect(found.toSorted()).toEqual(expected.toSorted());
});

it('leave out the events of their persons, whatever their ids, and keep those of nobody', async () => {
  const of = async (request: object) => {
    const { events } = await service
      .activity(projectId)
      .list({ pageSize: 1_000, kinds: ['view', 'buy'], ...request });
    return events.map(({ kind, distinctId }) => `${kind} ${distinctId}`).toSorted();
  };
  const all = await of({});
  const ofMembers = new Set(await of({ segments: [buyers()] }));
  const others = all.filter((one) => !ofMembers.has(one));
  expect(others).toContain('buy nobody');
  expect(await of({ notInSegments: [buyers()] })).toEqual(others);
  const free = users.filter((n) => bought(n) && !isPro(n) && n % 5 !== 0 && n !== 9);
  expect(await of({ segments: [buyers(), onPlan('free')], kinds: ['view'] })).toEqual(
    free.map((n) => `view u${n}`).toSorted(),
  );
  const notFree = ofBuyers.filter((n) => !free.includes(n)).map((n) => `view u${n}`);
  const named = { segments: [buyers()], notInSegments: [onPlan('free')], kinds: ['view'] };
  expect(await of(named)).toEqual(notFree.toSorted());
  const { events } = await service.activity(projectId).getActivityFeed({
    ...{ segments: [buyers()], notInSegments: [onPlan('free')], events: [{ kind: 'view' }] },
  });
  expect(events.map(({ distinctId }) => `view ${distinctId}`).toSorted()).toEqual(
    notFree.toSorted(),
  );
  await expect(of({ notInSegments: ['x'] })).rejects.toThrow('notInSegments[0]: must be the id');
});

it('keep events in a range, which is that of conditions without days', async () => {
  const timeRange = { from: timestampFromMs(nowMs - dayMs / 2), to: timestampFromMs(nowMs + 1) };
  const request = { segments: [buyers()], timeRange, events: [{ kind: 'view' }] };
  const [feed, explorer] = await Promise.all([
    service.activity(projectId).getActivityFeed(request),
    service.activity(projectId).getEventExplorer(request),
  ]);
  const today = ofBuyers.filter((n) => n % 2 === 0).map((n) => `u${n}`);
  expect(feed.events.map(({ distinctId }) => distinctId).toSorted()).toEqual(today.toSorted());
  expect(explorer.events).toEqual(feed.events);
});

it.each([ProfileOrder.UNSPECIFIED, ProfileOrder.TOTAL_EVENTS, ProfileOrder.LAST_SEEN])(
  'keep the profiles that are in all of them, ordered by %s',
  async (orderBy) => {
    const found = async (segments: string[], notInSegments: string[] = []) => {
      const profiles: string[] = [];
      const request = { segments, notInSegments, orderBy };
      for await (const page of service.profiles(projectId).list(request)) {
        profiles.push(...page.profiles.map(({ externalId, id }) => externalId || id));
      }
      return profiles;
    };
    // Those of the thirty that Identify has not named have no external id.
    const ofAll = await found([buyers()]);
    expect(ofAll).toHaveLength(ofBuyers.length);
    const both = ofBuyers.filter((n) => isPro(n) && n % 5 !== 0).map((n) => `u${n}`);
    expect((await found([buyers(), onPlan('pro')])).toSorted()).toEqual(both.toSorted());
    const everybody = await found([]);
    const others = everybody.filter((one) => !ofAll.includes(one));
    expect((await found([], [buyers()])).toSorted()).toEqual(others.toSorted());
    const unpaid = ofAll.filter((one) => !both.includes(one));
    expect((await found([buyers()], [onPlan('pro')])).toSorted()).toEqual(unpaid.toSorted());
  },
);

it('are counted, saved or not', async () => {
  const count = async (body: object) => {
    const method = 'dashboard.segments.v1.SegmentsService/Count';
    const { text } = await service.post(projectId, method, body);
    return JSON.parse(text);
  };
  const all = { allProfiles: '29' };
  const profiles = String(ofBuyers.length);
  expect(await count({ id: buyers() })).toEqual({ profiles, ...all });
  const condition = (times: object, more = {}) => ({
    condition: { groups: [{ tests: [{ did: { event: { kind: 'buy' }, ...times, ...more } }] }] },
  });
  expect(await count(condition({ atLeast: 1 }))).toEqual({ profiles, ...all });
  const never = String(29 - ofBuyers.length);
  expect(await count(condition({ atMost: 0 }))).toEqual({ profiles: never, ...all });
  const today = String(ofBuyers.filter((n) => n % 2 === 0).length);
  expect(await count(condition({ atLeast: 1 }, { lastDays: 1 }))).not.toEqual({ profiles, ...all });
  const timeRange = { from: new Date(nowMs - dayMs / 2), to: new Date(nowMs + 1) };
  expect(await count({ ...condition({ atLeast: 1 }), timeRange })).toEqual({
    ...{ profiles: today, ...all },
  });
  expect(await count({})).toMatchObject({ message: 'whom: must be an id or a condition' });
  expect(await count(condition({}))).toMatchObject({
    message: 'condition.groups[0].tests[0].did: must have atLeast or atMost',
  });
  const profileIds = Array.from({ length: 250 }, () => randomUUID().replaceAll('-', ''));
  const tests = Array.from({ length: 3 }, () => ({ listed: { profileIds } }));
  expect(await count({ condition: { groups: [{ tests }] } })).toMatchObject({
    message: 'condition: segments take at most 20480 bytes of JSON together',
  });
  const id = randomUUID();
  expect(await count({ id })).toMatchObject({
    message: `id: the project has no segment ${id}: it may have been deleted`,
  });
});
