// Who is in a segment: each test of a condition, and segments as filter and breakdown of questions, with answers worked
// out by hand. The oracle has generated ones.

import { randomUUID } from 'node:crypto';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectRows } from '../../../platform/clickhouse/select-rows.ts';
import { dayMs } from '../../../platform/clock.ts';
import {
  FilterOperator,
  LogicalOperator,
  PropertySource,
} from '../../../proto/gen/common/v1/filter_pb.js';
import {
  type ConditionSchema,
  type ProfileTestSchema,
  type Segment,
  SegmentSchema,
} from '../../../proto/gen/dashboard/segments/v1/segments_pb.js';
import {
  AggregationType,
  InsightType,
  type QueryRequestSchema,
  type QueryResponse,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { useEngine } from '../../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../../test/harness/services/read-service.ts';
import { storedRow, storeRows } from '../../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../../test/harness/tables/stored-profiles.ts';

const startMs = Date.UTC(2026, 10, 2);
const days = 4;
const nowMs = startMs + 10 * dayMs;
const projectId = `prj_${randomUUID()}`;
const engine = useEngine();
const segments = new Map<string, Segment>();
let service: ReadService;

/** What each did, as day and kind. u1 merges anon-1; u4 is deleted. */
const lives: Record<string, [day: number, kind: string][]> = {
  u1: [
    [0, 'view'],
    [1, 'buy'],
  ],
  'anon-1': [[2, 'buy']],
  u2: [
    [0, 'view'],
    [0, 'view'],
    [3, 'view'],
  ],
  u3: [
    [-20, 'buy'],
    [2, 'view'],
  ],
  u4: [
    [1, 'buy'],
    [1, 'view'],
  ],
  u5: [[3, 'view']],
};

beforeAll(async () => {
  service = await startReadService({
    clickhouseUrl: engine.url,
    clock: { nowMs: () => nowMs },
    findSegment: async (_, id) => segments.get(id),
  });
  const row = (distinctId: string, day: number, kind: string, fields = {}) =>
    storedRow({
      ...{ projectId, kind, distinctId, occurTimeMs: startMs + day * dayMs + 3_600_000 },
      ...fields,
    });
  await storeRows(service.clickhouse, [
    ...Object.entries(lives).flatMap(([id, events]) =>
      events.map(([day, kind]) => row(id, day, kind)),
    ),
    row('nobody', 0, 'view', { cookieless: true }),
  ]);
  await storeProfiles(service.clickhouse, [
    { projectId, distinctId: 'u1', traits: { plan: 'pro' } },
    { projectId, distinctId: 'u2', traits: { plan: 'free' } },
    { projectId, distinctId: 'u4', deleted: true },
    {
      ...{ projectId, distinctId: 'anon-1', named: false, owner: 'u1', root: 'u1' },
      wasClaimed: true,
    },
  ]);
});
afterAll(() => service?.stop());

type Test = MessageInitShape<typeof ProfileTestSchema>;
type Condition = MessageInitShape<typeof ConditionSchema>;
type Spec = NonNullable<MessageInitShape<typeof QueryRequestSchema>['spec']>;

function segment(condition: Condition, id = randomUUID() as string): string {
  segments.set(id, create(SegmentSchema, { id, displayName: `of ${id}`, condition }));
  return id;
}
const ofTest = (test: Test): string => segment({ groups: [{ tests: [test] }] });
const did = (
  kind: string,
  times: [of: 'atLeast' | 'atMost', value: number],
  lastDays = 0,
): Test => ({
  test: {
    case: 'did',
    value: { event: { kind }, times: { case: times[0], value: times[1] }, lastDays },
  },
});
const plan = (operator: FilterOperator, value: string): Test => ({
  test: {
    case: 'trait',
    value: { property: 'plan', operator, value, source: PropertySource.PROFILE },
  },
});

/** As events of that id have it, before merges. */
async function profileId(distinctId: string): Promise<string> {
  const sql = 'SELECT lower(hex(millraceProfileHash({project:String}, {id:String})))';
  const params = { project: projectId, id: distinctId };
  const { signal } = new AbortController();
  const select = { sql, params, settings: {}, signal };
  const { rows } = await collectRows(service.clickhouse, select, 1_000);
  return String(rows[0]?.[0]);
}

/** One number of an answer: events, users, visits or links. */
function countedIn(result: QueryResponse['result']): number {
  const sum = (values: readonly (number | bigint | undefined)[]): number =>
    values.reduce<number>((all, value) => all + Number(value ?? 0), 0);
  switch (result.case) {
    case 'trends':
      return sum(result.value.series.flatMap(({ points }) => points.map(({ value }) => value)));
    case 'segmentation':
      return result.value.total ?? 0;
    case 'funnel':
      return result.value.series[0]?.steps[0]?.total ?? 0;
    case 'retention':
      return sum(result.value.series[0]?.cohorts.map(({ cohortSize }) => cohortSize) ?? []);
    case 'lifecycle':
      return sum(result.value.newUsers.map(({ value }) => value));
    case 'stickiness':
      return sum(result.value.points.map(({ value }) => value));
    case 'topK':
      return result.value.rows.length;
    case 'userFlow':
      return result.value.links.length;
    default:
      return Number.NaN;
  }
}

const timeRange = { from: timestampFromMs(startMs), to: timestampFromMs(startMs + days * dayMs) };
const client = () => service.insights(projectId);
const ask = async (spec: Spec) => client().query({ timeRange, spec });
const users = { event: {}, aggregation: AggregationType.UNIQUE_USERS };
const segmentation = { insightType: InsightType.SEGMENTATION, events: [users] };
/** The users of the range that are in the segment, by their ids. */
const inSegment = async (id: string): Promise<string[]> => {
  const { distinctIds } = await client().segmentUsers({ timeRange, segments: [id] });
  const { result } = await ask({ ...segmentation, segments: [id] });
  expect(result.case === 'segmentation' && result.value.total).toBe(distinctIds.length);
  return distinctIds.toSorted();
};

describe('a test of a condition', () => {
  it.each<[string, Test, string[]]>([
    ['a trait', plan(FilterOperator.EQUALS, 'pro'), ['u1']],
    ['a trait that others lack', plan(FilterOperator.NOT_EQUALS, 'pro'), ['u2', 'u3', 'u5']],
    ['no trait', { ...plan(FilterOperator.EQUALS, 'pro'), negated: true }, ['u2', 'u3', 'u5']],
    ['something in the range', did('buy', ['atLeast', 1]), ['u1']],
    ['twice, one of them under a merged id', did('buy', ['atLeast', 2]), ['u1']],
    ['at least three times', did('', ['atLeast', 3]), ['u1', 'u2']],
    ['never in the range', did('buy', ['atMost', 0]), ['u2', 'u3', 'u5']],
    ['at most once', did('view', ['atMost', 1]), ['u1', 'u3', 'u5']],
    ['in the last 30 days of the range', did('buy', ['atLeast', 1], 30), ['u1', 'u3']],
    ['on the last day of the range', did('view', ['atLeast', 1], 1), ['u2', 'u5']],
    [
      'first seen in the range',
      { test: { case: 'firstSeen', value: { when: { case: 'lastDays', value: days } } } },
      ['u1', 'u2', 'u5'],
    ],
    [
      'first seen before it',
      {
        test: {
          case: 'firstSeen',
          value: { when: { case: 'before', value: timestampFromMs(startMs) } },
        },
      },
      ['u3'],
    ],
    [
      'first seen at a moment or after it',
      {
        test: {
          case: 'firstSeen',
          value: { when: { case: 'since', value: timestampFromMs(startMs + 3 * dayMs) } },
        },
      },
      ['u5'],
    ],
  ])('is met by persons: %s', async (_, test, expected) => {
    expect(await inSegment(ofTest(test))).toEqual(expected);
  });

  it('is met by listed profiles, a merged id by its owner', async () => {
    const profileIds = await Promise.all(['u2', 'anon-1', 'u4'].map(profileId));
    const listed: Test = { test: { case: 'listed', value: { profileIds } } };
    expect(await inSegment(ofTest(listed))).toEqual(['u1', 'u2']);
    expect(await inSegment(ofTest({ ...listed, negated: true }))).toEqual(['u3', 'u5']);
  });

  it('asks in a question as of a moment for what was received until then', async () => {
    const asOf = timestampFromMs(startMs + dayMs);
    const id = ofTest(did('buy', ['atMost', 0]));
    const { result, leftOut } = await client().query({
      ...{ timeRange, asOf, spec: { ...segmentation, segments: [id] } },
    });
    expect(result.case === 'segmentation' && result.value.total).toBe(2);
    // Whoever had sent nothing until then had not bought either.
    expect(leftOut.map(({ count }) => count)).toEqual([5n]);
  });
});

describe('tests of a condition', () => {
  const bought = did('buy', ['atLeast', 1]);
  const isFree = plan(FilterOperator.EQUALS, 'free');
  const hasPlan = plan(FilterOperator.IS_SET, '');

  it('combine in groups, and groups combine', async () => {
    const { OR } = LogicalOperator;
    const either = { tests: [bought, isFree], operator: OR };
    expect(await inSegment(segment({ groups: [either] }))).toEqual(['u1', 'u2']);
    expect(await inSegment(segment({ groups: [{ tests: [bought, isFree] }] }))).toEqual([]);
    expect(await inSegment(segment({ groups: [{ ...either, negated: true }] }))).toEqual([
      'u3',
      'u5',
    ]);
    const groups = [{ tests: [bought] }, { tests: [hasPlan], negated: true }];
    expect(await inSegment(segment({ groups }))).toEqual([]);
    expect(await inSegment(segment({ groups, operator: OR }))).toEqual(['u1', 'u3', 'u5']);
  });

  it('of several segments all hold', async () => {
    const ids = [ofTest(hasPlan), ofTest(did('view', ['atLeast', 2]))];
    const { result } = await ask({ ...segmentation, segments: ids });
    expect(result.case === 'segmentation' && result.value.total).toBe(1);
  });
});

describe('a segment in a question', () => {
  const buyers = () => ofTest(did('buy', ['atLeast', 1]));

  it('splits its numbers in two, and cookieless visitors are not in it', async () => {
    const id = buyers();
    const property = `segment.${id}`;
    const events = [{ event: {} }, { ...users, event: { kind: 'view' } }];
    const asked = { ...segmentation, events, breakdowns: [{ property }], includeCookieless: true };
    const { result, segments: named } = await ask(asked);
    if (result.case !== 'segmentation') return expect.fail('no series');
    expect(result.value.series.map(({ breakdown, value }) => [breakdown[property], value])).toEqual(
      [
        ['not in', 8],
        ['in', 3],
        ['not in', 4],
        ['in', 1],
      ],
    );
    expect(named).toMatchObject([{ id, displayName: `of ${id}` }]);
  });

  it('that must not hold leaves its persons’ events out, and keeps those of nobody', async () => {
    const id = buyers();
    const events = [{ event: {} }, { ...users, event: { kind: 'view' } }];
    const totals = async (filter: Spec) => {
      const { result } = await ask({
        ...{ ...segmentation, events, includeCookieless: true },
        ...filter,
      });
      return result.case === 'segmentation' && result.value.series.map(({ value }) => value);
    };
    // As the group "not in" of a breakdown.
    expect(await totals({ notInSegments: [id] })).toEqual([8, 4]);
    expect(await totals({ segments: [id] })).toEqual([3, 1]);
    expect(await totals({ segments: [id], notInSegments: [id] })).toEqual([0, 0]);
    const free = ofTest(plan(FilterOperator.EQUALS, 'free'));
    // Left are u3, u5, who is deleted, and nobody.
    expect(await totals({ notInSegments: [id, free, id] })).toEqual([5, 3]);
    const list = async (filter: object) =>
      (await client().segmentUsers({ timeRange, ...filter })).distinctIds.toSorted();
    expect(await list({ notInSegments: [id] })).toEqual(['u2', 'u3', 'u5']);
    const point = { spec: { ...segmentation, notInSegments: [id] } };
    expect(await list({ point })).toEqual(['u2', 'u3', 'u5']);
    expect(await list({ point, segments: [free] })).toEqual(['u2']);
    expect(await list({ point: { spec: segmentation }, notInSegments: [id] })).toEqual([
      ...['u2', 'u3', 'u5'],
    ]);
  });

  it('tells the persons behind each of the two', async () => {
    const property = `segment.${buyers()}`;
    const spec = { ...segmentation, breakdowns: [{ property }] };
    const persons = async (group: string) => {
      const point = { spec, breakdown: { [property]: group } };
      return (await client().segmentUsers({ timeRange, point })).distinctIds.toSorted();
    };
    expect(await persons('in')).toEqual(['u1']);
    expect(await persons('not in')).toEqual(['u2', 'u3', 'u5']);
  });

  it('asks for the range of the question, also behind a number of one of its buckets', async () => {
    const spec = { insightType: InsightType.TRENDS, events: [users], segments: [buyers()] };
    const point = { spec, bucket: timestampFromMs(startMs) };
    expect((await client().segmentUsers({ timeRange, point })).distinctIds).toEqual(['u1']);
  });

  it.each<[string, Spec, unknown]>([
    ['TRENDS', { insightType: InsightType.TRENDS, events: [{ event: {} }] }, 3],
    ['FUNNEL', { insightType: InsightType.FUNNEL, events: [{}, {}].map(() => ({ event: {} })) }, 1],
    ['RETENTION', { insightType: InsightType.RETENTION, events: [{ event: {} }] }, 1],
    ['LIFECYCLE', { insightType: InsightType.LIFECYCLE, events: [{ event: {} }] }, 1],
    ['STICKINESS', { insightType: InsightType.STICKINESS, events: [{ event: {} }] }, 1],
    ['visits', { ...segmentation, events: [], session: { metric: 1 } }, 3],
    ['TOP_K', { insightType: InsightType.TOP_K, topK: { dimension: 3 } }, 1],
    ['USER_FLOW', { insightType: InsightType.USER_FLOW, userFlow: { groupBy: 20 } }, 1],
  ])('filters %s', async (_, spec, expected) => {
    const { result } = await ask({ ...spec, segments: [buyers()] });
    expect(countedIn(result)).toEqual(expected);
  });

  it('is asked for as it is now: after an edit and after a changed trait', async () => {
    const id = ofTest(plan(FilterOperator.EQUALS, 'free'));
    expect(await inSegment(id)).toEqual(['u2']);
    segment({ groups: [{ tests: [plan(FilterOperator.EQUALS, 'pro')] }] }, id);
    expect(await inSegment(id)).toEqual(['u1']);
    const changed = { projectId, distinctId: 'u5', traits: { plan: 'pro' } };
    await storeProfiles(service.clickhouse, [changed], '2');
    expect(await inSegment(id)).toEqual(['u1', 'u5']);
  });

  it('is named where it is deleted, and where it is no segment at all', async () => {
    const id = randomUUID();
    const refusal = (of: Promise<unknown>) => expect(of).rejects;
    const gone = `the project has no segment ${id}: it may have been deleted`;
    await refusal(ask({ ...segmentation, segments: [id] })).toThrow(`spec.segments[0]: ${gone}`);
    const breakdowns = [{ property: `segment.${id}` }];
    await refusal(ask({ ...segmentation, breakdowns })).toThrow(
      `spec.breakdowns[0].property: ${gone}`,
    );
    const point = { spec: { ...segmentation, segments: [id] } };
    await refusal(client().segmentUsers({ timeRange, point })).toThrow(
      `point.spec.segments[0]: ${gone}`,
    );
    await refusal(ask({ ...segmentation, segments: ['buyers'] })).toThrow(
      'spec.segments[0]: must be the id of a segment, a UUID',
    );
    const six = Array.from({ length: 6 }, () => id);
    await refusal(ask({ ...segmentation, segments: six })).toThrow(
      'spec.segments: takes at most 5',
    );
    await refusal(ask({ ...segmentation, notInSegments: [id] })).toThrow(
      `spec.notInSegments[0]: ${gone}`,
    );
    await refusal(ask({ ...segmentation, notInSegments: ['x'] })).toThrow(
      'spec.notInSegments[0]: must be the id of a segment, a UUID',
    );
    await refusal(ask({ ...segmentation, notInSegments: six })).toThrow(
      'spec.notInSegments: takes at most 5',
    );
    const three = [1, 2, 3].map(() => randomUUID());
    await refusal(ask({ ...segmentation, segments: three, notInSegments: three })).toThrow(
      'spec.notInSegments: takes at most 5, with those of segments',
    );
  });

  it('of a list of persons counts with those of the question behind its number', async () => {
    const [own, more] = [1, 2].map(() => [1, 2, 3].map(() => randomUUID()));
    const point = { spec: { ...segmentation, segments: own ?? [] } };
    const list = (filter: object) => client().segmentUsers({ timeRange, point, ...filter });
    const tooMany = 'takes at most 5 with those of point.spec';
    await expect(list({ segments: more })).rejects.toThrow(`segments: ${tooMany}`);
    await expect(list({ notInSegments: more })).rejects.toThrow(`notInSegments: ${tooMany}`);
    await expect(list({ segments: own })).rejects.toThrow(
      'point.spec.segments[0]: the project has',
    );
    const known = { spec: { ...segmentation, segments: [buyers()] } };
    await expect(list({ point: known, segments: more?.slice(1) })).rejects.toThrow(
      `[invalid_argument] segments[0]: the project has no segment ${more?.[1]}`,
    );
    await expect(list({ point: known, notInSegments: more?.slice(1) })).rejects.toThrow(
      `[invalid_argument] notInSegments[0]: the project has no segment ${more?.[1]}`,
    );
  });
});
