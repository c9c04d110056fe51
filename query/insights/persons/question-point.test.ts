// The persons behind the numbers of answers: as many as each number says, and those whom the stored rows have.

import { randomUUID } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayMs } from '../../../platform/clock.ts';
import {
  AggregationType,
  InsightType,
  type QueryRequestSchema,
  type QuestionPointSchema,
  RetentionQuery_First,
  TopKQuery_Dimension,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { useEngine } from '../../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../../test/harness/services/read-service.ts';
import { storedRow, storeRows } from '../../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../../test/harness/tables/stored-profiles.ts';

const startMs = Date.UTC(2026, 10, 2);
const days = 4;
const projectId = `prj_${randomUUID()}`;
const engine = useEngine();
let service: ReadService;

const browsers = ['Chrome', 'Firefox', ''];

/** n of 40 users views at day n % 4 and, some of them, buys a day later; user n merges what anon-n did before. */
const users = Array.from({ length: 40 }, (_, n) => n);

beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url });
  const row = (n: number, day: number, kind: string, fields = {}) =>
    storedRow({
      ...{ projectId, kind, distinctId: `u${n}`, occurTimeMs: startMs + day * dayMs + n * 60_000 },
      ...{ columns: { browser: browsers[(n + day) % 3] ?? '' }, ints: { amount: BigInt(n - 20) } },
      ...fields,
    });
  await storeRows(service.clickhouse, [
    ...users.map((n) => row(n, n % days, 'view')),
    ...users.filter((n) => n % 3 === 0).map((n) => row(n, (n % days) + 1, 'buy')),
    ...users.filter((n) => n % 6 === 0).map((n) => row(n, (n % days) + 2, 'view')),
    ...users.filter((n) => n % 5 === 0).map((n) => row(n, 0, 'view', { distinctId: `anon-${n}` })),
    row(1, 0, 'view', { distinctId: 'nobody', cookieless: true }),
  ]);
  const edge = (n: number) => ({
    ...{ projectId, distinctId: `anon-${n}`, named: false, owner: `u${n}`, root: `u${n}` },
    wasClaimed: true,
  });
  await storeProfiles(service.clickhouse, [
    ...users
      .filter((n) => n % 2 === 0)
      .map((n) => ({
        projectId,
        distinctId: `u${n}`,
        traits: { plan: n % 4 === 0 ? 'pro' : 'free' },
      })),
    ...users.filter((n) => n % 10 === 0).map(edge),
    { projectId, distinctId: 'u3', deleted: true },
  ]);
});
afterAll(() => service?.stop());

type Spec = NonNullable<MessageInitShape<typeof QueryRequestSchema>['spec']>;
type Point = MessageInitShape<typeof QuestionPointSchema>;
const timeRange = { from: timestampFromMs(startMs), to: timestampFromMs(startMs + days * dayMs) };
const client = () => service.insights(projectId);

const personsAt = async (point: Point, pageSize = 100): Promise<string[]> => {
  const found: string[] = [];
  let pageToken = '';
  do {
    const page = await client().segmentUsers({ timeRange, point, pageSize, pageToken });
    expect(
      page.profiles.map(({ externalId }, index) => externalId || page.distinctIds[index]),
    ).toEqual(page.distinctIds);
    found.push(...page.distinctIds);
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  expect(new Set(found).size).toBe(found.length);
  return found;
};
const ask = async (spec: Spec) => (await client().query({ timeRange, spec })).result;
const view = { event: { kind: 'view' } };
const buy = { event: { kind: 'buy' } };
const { UNIQUE_USERS, TOTAL, SUM, P95, SUM_PER_USER } = AggregationType;

const breakdownLists = [[], [{ property: 'profile.plan' }]];

describe.each(breakdownLists)('split by %s, %s', (...breakdowns) => {
  it('has as many persons as a point of TRENDS counts users', async () => {
    const spec = {
      insightType: InsightType.TRENDS,
      events: [{ ...view, aggregation: UNIQUE_USERS }, buy, { ...view, aggregation: UNIQUE_USERS }],
      breakdowns,
    };
    const result = await ask(spec);
    if (result.case !== 'trends') return expect.fail('no series');
    let counted = 0;
    for (const { eventIndex, breakdown, points } of result.value.series) {
      if (eventIndex === 1) continue;
      for (const { time, value } of points) {
        const point = { spec, series: eventIndex, breakdown, ...(time && { bucket: time }) };
        expect(await personsAt(point)).toHaveLength(value ?? -1);
        counted += value ?? 0;
      }
    }
    expect(counted).toBeGreaterThan(80);
  });

  it('has as many as a group of SEGMENTATION, and those who did what other numbers are made of', async () => {
    const events = [UNIQUE_USERS, TOTAL, P95, SUM_PER_USER, SUM].map((aggregation) => ({
      ...{ ...view, aggregation, aggregationProperty: aggregation > UNIQUE_USERS ? 'amount' : '' },
    }));
    const spec = { insightType: InsightType.SEGMENTATION, events, breakdowns };
    const result = await ask({ ...spec, events: events.slice(0, 1) });
    if (result.case !== 'segmentation') return expect.fail('no series');
    expect(result.value.series.length).toBe(
      breakdowns.length === 0 ? 1 : result.value.series.length,
    );
    for (const { breakdown, value } of result.value.series) {
      const persons = await personsAt({ spec, breakdown });
      expect(persons).toHaveLength(value ?? -1);
      // A sum per user counts by the first event, too.
      expect(await personsAt({ spec, breakdown, series: 3 })).toEqual(persons);
      const ofEvents = await personsAt({ spec, breakdown, series: 1 });
      expect(ofEvents).toEqual(expect.arrayContaining(persons));
      for (const series of [2, 4]) {
        expect(await personsAt({ spec, breakdown, series })).toEqual(ofEvents);
      }
    }
  });

  it('has as many as reached a step of FUNNEL, and as went no further', async () => {
    const spec = {
      insightType: InsightType.FUNNEL,
      events: [view, buy, view],
      conversionWindow: { seconds: 3n * 86_400n },
      breakdowns,
    };
    const result = await ask(spec);
    if (result.case !== 'funnel') return expect.fail('no series');
    for (const { breakdown, steps } of result.value.series) {
      for (const [index, { total }] of steps.entries()) {
        const point = { spec, breakdown, step: index + 1 };
        expect(await personsAt(point)).toHaveLength(total ?? -1);
        const left = (total ?? 0) - (steps[index + 1]?.total ?? 0);
        expect(await personsAt({ ...point, droppedOff: true })).toHaveLength(left);
      }
    }
  });

  it('has as many as entered a FUNNEL over time in a bucket and reached a step', async () => {
    const spec = {
      insightType: InsightType.FUNNEL,
      events: [view, buy],
      funnel: { overTime: true },
      breakdowns,
    };
    const result = await ask(spec);
    if (result.case !== 'funnel') return expect.fail('no series');
    for (const { breakdown, buckets } of result.value.series) {
      for (const { time, totals } of buckets) {
        for (const [index, total] of totals.entries()) {
          const point = { spec, breakdown, step: index + 1, ...(time && { bucket: time }) };
          expect(await personsAt(point)).toHaveLength(Number(total));
        }
      }
    }
  });

  it('has as many as are in each state of LIFECYCLE, and as often active as STICKINESS tells', async () => {
    const lifecycle = { insightType: InsightType.LIFECYCLE, events: [view], breakdowns };
    const states = await ask(lifecycle);
    if (states.case !== 'lifecycle') return expect.fail('no states');
    const whole = { breakdown: {}, ...states.value };
    let counted = 0;
    for (const one of breakdowns.length === 0 ? [whole] : states.value.series) {
      const { breakdown, newUsers, returningUsers, resurrectingUsers, dormantUsers } = one;
      const all = [newUsers, returningUsers, resurrectingUsers, dormantUsers];
      for (const [index, points] of all.entries()) {
        for (const { time, value } of points) {
          const at = { state: index + 1, breakdown, ...(time && { bucket: time }) };
          expect(await personsAt({ spec: lifecycle, ...at })).toHaveLength(value ?? -1);
          counted += value ?? 0;
        }
      }
    }
    expect(counted).toBeGreaterThan(40);
    for (const cumulative of [false, true]) {
      const spec = { insightType: InsightType.STICKINESS, events: [view], breakdowns, cumulative };
      const result = await ask(spec);
      if (result.case !== 'stickiness') return expect.fail('no points');
      const { points, series } = result.value;
      for (const one of breakdowns.length === 0 ? [{ breakdown: {}, points }] : series) {
        for (const { buckets, value } of one.points) {
          const point = { spec, breakdown: one.breakdown, activeBuckets: buckets ?? 0 };
          expect(await personsAt(point)).toHaveLength(value ?? -1);
        }
      }
    }
  });

  it.each([
    { events: [view] },
    { events: [view, buy] },
    { events: [view], retention: { first: RetentionQuery_First.EVER } },
    { events: [view], retention: { first: RetentionQuery_First.RECURRING } },
  ])('has as many as each cell of RETENTION', async (asked) => {
    const spec = { insightType: InsightType.RETENTION, ...asked, breakdowns };
    const result = await ask(spec);
    if (result.case !== 'retention') return expect.fail('no series');
    for (const { breakdown, cohorts } of result.value.series) {
      for (const { cohort, cohortSize, points } of cohorts) {
        const point = { spec, breakdown, bucket: timestampFromMs(Date.parse(cohort)) };
        expect(await personsAt(point)).toHaveLength(cohortSize ?? -1);
        for (const { time, value } of points) {
          const returned = timestampFromMs(time ? timestampMs(time) : 0);
          expect(await personsAt({ ...point, returned })).toHaveLength(value ?? -1);
        }
      }
    }
  });
});

it('has the persons of the rows, merged and anonymous ones by one id each', async () => {
  const spec = { insightType: InsightType.SEGMENTATION, events: [view] };
  const alone = users.filter((n) => n % 5 === 0 && n % 10 !== 0).map((n) => `anon-${n}`);
  const expected = [...users.filter((n) => n !== 3).map((n) => `u${n}`), ...alone];
  const found = await personsAt({ spec });
  expect(found.toSorted()).toEqual(expected.toSorted());
  expect(await personsAt({ spec }, 7)).toEqual(found);
  const { profiles } = await client().segmentUsers({ timeRange, point: { spec } });
  const pro = profiles.filter(({ properties }) => properties?.['plan'] === 'pro');
  expect(pro.map(({ externalId }) => externalId).toSorted()).toEqual(
    users
      .filter((n) => n % 4 === 0)
      .map((n) => `u${n}`)
      .toSorted(),
  );
});

it('has the users of a rolling window and of the range until a bucket', async () => {
  const events = [{ ...view, aggregation: UNIQUE_USERS }];
  for (const window of [{ rollingDays: 3 }, { cumulative: true }]) {
    const spec = { insightType: InsightType.TRENDS, events, ...window };
    const result = await ask(spec);
    if (result.case !== 'trends') return expect.fail('no series');
    for (const { time, value } of result.value.series[0]?.points ?? []) {
      expect(await personsAt({ spec, ...(time && { bucket: time }) })).toHaveLength(value ?? -1);
    }
  }
});

it('has the days of the project’s zone, where the question names none', async () => {
  const options = { clickhouseUrl: engine.url, timezoneOf: () => 'Asia/Kolkata' };
  const zoned = await startReadService(options);
  try {
    const client = zoned.insights(projectId);
    const spec = {
      insightType: InsightType.TRENDS,
      events: [{ ...view, aggregation: UNIQUE_USERS }],
    };
    const { result } = await client.query({ timeRange, spec });
    if (result.case !== 'trends') return expect.fail('no series');
    const [, second = expect.fail('no second day')] = result.value.series[0]?.points ?? [];
    const bucket = second.time ?? expect.fail('no time');
    const { distinctIds } = await client.segmentUsers({ timeRange, point: { spec, bucket } });
    expect(timestampMs(bucket) % dayMs).not.toBe(0);
    expect(distinctIds).toHaveLength(second.value ?? -1);
  } finally {
    await zoned.stop();
  }
});

it('has as many as a row of TOP_K counts users', async () => {
  const { PROPERTY, EVENT_KIND } = TopKQuery_Dimension;
  for (const dimension of [
    { dimension: PROPERTY, property: '$browser' },
    { dimension: EVENT_KIND },
  ]) {
    const spec = { insightType: InsightType.TOP_K, topK: { ...dimension, metric: UNIQUE_USERS } };
    const result = await ask(spec);
    if (result.case !== 'topK') return expect.fail('no rows');
    expect(result.value.rows.length).toBeGreaterThan(1);
    for (const { dimensionValue, value } of result.value.rows) {
      const point = { spec, ...(dimensionValue !== undefined && { dimensionValue }) };
      expect(await personsAt(point)).toHaveLength(value ?? -1);
    }
  }
});

it('refuses before they run the persons of a question that is refused itself', async () => {
  const project = `prj_${randomUUID()}`;
  const countEvents = (events: number) =>
    service.clickhouse.insert({
      table: 'event_counts',
      values: [{ project_id: project, kind: 'view', quarter: startMs / 1_000, events }],
      format: 'JSONEachRow',
    });
  const spec = {
    insightType: InsightType.FUNNEL,
    events: Array.from({ length: 20 }, (_, n) => ({ event: { kind: `k${n}` } })),
    breakdowns: Array.from({ length: 5 }, (_, n) => ({ property: `p${n}` })),
  };
  const ofProject = service.insights(project);
  const persons = () => ofProject.segmentUsers({ timeRange, point: { spec, step: 1 } });
  await countEvents(4_166_666);
  expect(await persons()).toMatchObject({ distinctIds: [] });
  await countEvents(1);
  const failed = (asked: Promise<unknown>): Promise<ConnectError> =>
    asked.then(() => expect.fail('answered'), ConnectError.from);
  const [refused, ofQuestion] = [
    await failed(persons()),
    await failed(ofProject.query({ timeRange, spec })),
  ];
  expect(refused.code).toBe(Code.ResourceExhausted);
  expect(refused.rawMessage).toContain('20 entries by 5 breakdowns take at most 4166666 events');
  expect(refused.rawMessage).toBe(`point.${ofQuestion.rawMessage}`);
});

it('refuses what names no number, by the names of its own fields', async () => {
  const refused = async (point: Point, more = {}): Promise<string> => {
    const error = await client()
      .segmentUsers({ timeRange, point, ...more })
      .then(
        () => expect.fail('answered'),
        (cause: unknown) => ConnectError.from(cause),
      );
    expect(error.code).toBe(Code.InvalidArgument);
    return error.rawMessage;
  };
  const trends = { insightType: InsightType.TRENDS, events: [view] };
  const funnel = { insightType: InsightType.FUNNEL, events: [view, buy] };
  const retention = { insightType: InsightType.RETENTION, events: [view] };
  const day = (place: number) => timestampFromMs(startMs + place * dayMs);
  expect([
    await refused({}),
    await refused({ spec: {} }),
    await refused({ spec: { ...trends, events: [] } }),
    await refused({ spec: trends, series: 1, bucket: day(0) }),
    await refused({ spec: trends }),
    await refused({ spec: trends, bucket: timestampFromMs(startMs + 1) }),
    await refused({ spec: { ...trends, session: {} } }),
    await refused({ spec: funnel }),
    await refused({ spec: funnel, step: 3 }),
    await refused({ spec: retention, bucket: day(1), returned: day(0) }),
    await refused({ spec: { insightType: InsightType.USER_FLOW } }),
    await refused({ spec: { ...trends, insightType: InsightType.LIFECYCLE }, bucket: day(0) }),
    await refused({ spec: { ...trends, insightType: InsightType.STICKINESS } }),
    await refused({ spec: trends, bucket: day(0) }, { events: [view] }),
    await refused({ spec: trends, bucket: day(0) }, { pageSize: 101 }),
  ]).toEqual([
    'point.spec: is required',
    'point.spec.insightType: is required',
    'point.series: must be the place of an event',
    'point.series: must be the place of an event',
    'point.bucket: is required',
    'point.bucket: must be when a bucket begins',
    'point.spec.session: must not be set: its numbers count visits',
    'point.step: must be from 1 to 2',
    'point.step: must be from 1 to 2',
    'point.returned: must not be before the cohort',
    'point.spec.insightType: has no numbers whose users can be listed',
    'point.state: is required',
    'point.activeBuckets: must be from 1 to 4',
    'events: must be empty where point is set',
    'pageSize: must be from 1 to 100',
  ]);
});
