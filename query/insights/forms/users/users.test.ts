// RETENTION, LIFECYCLE and STICKINESS over HTTP on a real engine against the plainest reading of their
// definitions: many questions over the events of few people in few moments, so that all that can meet does.

import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FilterOperator } from '../../../../proto/gen/common/v1/filter_pb.js';
import {
  Granularity,
  type InsightsService,
  InsightType,
  LeftOut_Reason,
  type QueryResponse,
} from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import {
  type PlainEvent,
  type PlainQuestion,
  plainLifecycle,
  plainRetention,
  plainStickiness,
} from '../../../../test/harness/insights/plain-users.ts';
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
import { bucketStart, timeBuckets } from '../../read/time-buckets.ts';

const engine = useEngine();
const project = randomUUID();
let service: ReadService;
let insights: Client<typeof InsightsService>;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const quarterMs = 900_000;
/** Clocks in Berlin go back on the 25th. */
const startMs = Date.UTC(2026, 9, 18);
const lengthMs = 14 * dayMs;
const kinds = ['view', 'cart', 'buy'] as const;
const browsers = ['', 'Chrome', 'Firefox', 'Safari'] as const;

/** Numbers that are the same in each run. */
function createDice(seed: number) {
  let state = seed;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const oneOf = <T>(...values: [T, ...T[]]): T => values[below(values.length)] ?? values[0];
  return { below, oneOf };
}

type Dice = ReturnType<typeof createDice>;

function makeRow({ below, oneOf }: Dice): StoredRow {
  const cookieless = below(12) === 0;
  const moment = startMs + below(lengthMs / quarterMs) * quarterMs;
  const busy = startMs + 6 * dayMs + below(20) * quarterMs;
  const occurTimeMs = oneOf(moment, busy) + oneOf(0, 0, 1, quarterMs - 1);
  return storedRow({
    ...{ projectId: project, cookieless, occurTimeMs },
    distinctId: `${cookieless ? 'c' : 'p'}${below(oneOf(4, 30))}`,
    kind: oneOf(...kinds),
    receiveTimeMs: occurTimeMs + oneOf(0, hourMs, 3 * dayMs),
    columns: { browser: oneOf(...browsers) },
  });
}

/** p0 is four ids and p3 two, p5 and with it p6 are deleted; that p7 was deleted before its merge does not count. */
const roots: Readonly<Record<string, string>> = {
  p1: 'p0',
  p2: 'p0',
  p4: 'p3',
  p6: 'p5',
  p7: 'p0',
};

function userOf({ distinctId, cookieless }: StoredRow, includeCookieless: boolean) {
  if (cookieless) return includeCookieless ? distinctId : undefined;
  const root = roots[distinctId] ?? distinctId;
  return root === 'p5' ? undefined : root;
}

let rows: StoredRow[];
beforeAll(async () => {
  const dice = createDice(7);
  rows = Array.from({ length: 700 }, () => makeRow(dice));
  service = await startReadService({ clickhouseUrl: engine.url, readsPerSecond: 0 });
  insights = service.insights(project);
  // Some of the ids are merged before their last events come.
  await storeRows(service.clickhouse, rows.slice(0, 400));
  await storeProfiles(service.clickhouse, [
    ...Object.entries(roots).map(([distinctId, root]) => ({
      ...{ projectId: project, distinctId, owner: root, root, wasClaimed: true },
    })),
    { projectId: project, distinctId: 'p5', deleted: true },
    { projectId: project, distinctId: 'p7', deleted: true },
  ]);
  await storeRows(service.clickhouse, rows.slice(400, 401));
  await storeRows(service.clickhouse, rows.slice(401));
});
afterAll(() => service.stop());

type Spec = NonNullable<Parameters<Client<typeof InsightsService>['query']>[0]['spec']>;

interface Ask {
  spec: Spec;
  granularity: Granularity;
  timezone: string;
  fromMs: number;
  toMs: number;
  asOfMs: number | undefined;
}

/** A question, and what is the same for its plainest reading. */
function makeAsk({ below, oneOf }: Dice, insightType: InsightType, events: number) {
  const chosen = Array.from({ length: events }, () => ({
    kind: oneOf<string>('', '', ...kinds),
    browser: oneOf(undefined, undefined, 'Chrome'),
  }));
  const fromMs = startMs + below(5) * dayMs + oneOf(0, 14 * hourMs, 1, 777_777);
  const isLong = insightType !== InsightType.RETENTION || oneOf(true, false);
  const days = isLong ? 7 + below(7) : 5;
  const toMs = startMs + days * dayMs + oneOf(0, 9 * hourMs + quarterMs, 1, 777_777);
  const hasGroups = insightType === InsightType.RETENTION;
  const ask: Ask = {
    ...{ fromMs, toMs, asOfMs: oneOf(undefined, undefined, startMs + 9 * dayMs) },
    granularity: oneOf(
      isLong && insightType === InsightType.RETENTION ? Granularity.DAY : Granularity.HOUR,
      ...[Granularity.DAY, Granularity.WEEK, Granularity.MONTH],
    ),
    timezone: oneOf('', 'Europe/Berlin', 'Asia/Kolkata', 'America/St_Johns'),
    spec: {
      insightType,
      events: chosen.map(({ kind, browser }) => ({
        event: {
          kind,
          filters:
            browser === undefined
              ? []
              : [{ property: '$browser', operator: FilterOperator.EQUALS, value: browser }],
        },
      })),
      includeCookieless: oneOf(false, false, true),
      breakdowns: hasGroups && below(2) === 0 ? [{ property: '$browser' }] : [],
      breakdownLimit: hasGroups ? 2 : 0,
    },
  };
  const matches = chosen.map(
    ({ kind, browser }) =>
      (event: PlainEvent) =>
        (kind === '' || event.kind === kind) && (browser === undefined || event.group === browser),
  );
  return { ask, matches };
}

function plainQuestion({ ask, matches }: ReturnType<typeof makeAsk>): PlainQuestion {
  const { granularity, timezone, fromMs, toMs, asOfMs = Number.POSITIVE_INFINITY } = ask;
  const calendar = { timezone: timezone === '' ? 'UTC' : timezone, weekStart: 1 };
  const buckets = timeBuckets(granularity, calendar, fromMs, toMs);
  return {
    ...{ buckets, fromMs, toMs, matches },
    beforeMs: bucketStart(granularity, calendar, (buckets[0] ?? 0) - 1),
    groupLimit: ask.spec.breakdowns?.length === 0 ? undefined : 2,
    events: rows
      .filter(({ receiveTimeMs }) => receiveTimeMs <= asOfMs)
      .map((row) => ({
        ...{ eventId: row.eventId, kind: row.kind, occurTimeMs: row.occurTimeMs },
        user: userOf(row, ask.spec.includeCookieless ?? false),
        group: row.columns['browser'] ?? '',
      })),
  };
}

async function answer({ fromMs, toMs, asOfMs, ...ask }: Ask): Promise<QueryResponse['result']> {
  const { result } = await insights.query({
    ...ask,
    timeRange: { from: timestampFromMs(fromMs), to: timestampFromMs(toMs) },
    ...(asOfMs !== undefined && { asOf: timestampFromMs(asOfMs) }),
  });
  return result;
}

const values = (points: readonly { value?: number | undefined }[]): number[] =>
  points.map(({ value }) => value ?? -1);
const groupName = (
  { breakdown, isOthers }: { breakdown: Record<string, string>; isOthers: boolean },
  { spec }: Ask,
): string => {
  if (spec.breakdowns?.length === 0) return 'all';
  return isOthers ? 'others' : (breakdown['$browser'] ?? '');
};

/** The answer in the form of the plain readings. */
function shown(result: QueryResponse['result'], ask: Ask): unknown {
  switch (result.case) {
    case 'stickiness':
      return values(result.value.points);
    case 'lifecycle': {
      const { newUsers, returningUsers, resurrectingUsers, dormantUsers } = result.value;
      const states = [newUsers, returningUsers, resurrectingUsers, dormantUsers].map(values);
      return newUsers.map((_, place) => states.map((state) => state[place]));
    }
    case 'retention':
      return result.value.series.map((series) => ({
        group: groupName(series, ask),
        cohorts: series.cohorts.map(({ cohortSize, points }) => [cohortSize, ...values(points)]),
      }));
    default:
      throw new Error('no such answer');
  }
}

function expected(question: PlainQuestion, { spec }: Ask): unknown {
  switch (spec.insightType) {
    case InsightType.STICKINESS:
      return plainStickiness(question);
    case InsightType.LIFECYCLE:
      return plainLifecycle(question);
    case InsightType.RETENTION:
      return plainRetention(question);
    default:
      throw new Error('no such question');
  }
}

interface TypeCase {
  type: InsightType;
  /** How many events its questions have. */
  events: [number, ...number[]];
}

describe.each<TypeCase>([
  { type: InsightType.STICKINESS, events: [1] },
  { type: InsightType.LIFECYCLE, events: [1] },
  { type: InsightType.RETENTION, events: [1, 2] },
] satisfies { type: InsightType; events: [number, ...number[]] }[])(
  'the type $type',
  ({ type, events }) => {
    const questions = 12;
    it('answers as its definition reads', async () => {
      const dice = createDice(type + Number(process.env['SEED'] ?? 0));
      const seeds = Number(process.env['QUESTIONS'] ?? questions);
      for (let number = 0; number < seeds; number += 1) {
        const made = makeAsk(dice, type, dice.oneOf<number>(...events));
        const question = plainQuestion(made);
        const message = `question ${number}: ${JSON.stringify(made.ask, (_, value) => (typeof value === 'bigint' ? Number(value) : value))}`;
        const plain = expected(question, made.ask);
        expect(shown(await answer(made.ask), made.ask), message).toEqual(plain);
      }
    });
  },
);

describe('a funnel leaves out', () => {
  const steps = kinds.slice(0, 2);
  it.each([
    ['whole quarters of an hour', startMs, startMs + 12 * dayMs],
    ['parts of them', startMs + 777_777, startMs + 12 * dayMs - 1],
  ])('the same events in %s as raw rows tell', async (_, fromMs, toMs) => {
    const { leftOut } = await insights.query({
      spec: { insightType: InsightType.FUNNEL, events: steps.map((kind) => ({ event: { kind } })) },
      timeRange: { from: timestampFromMs(fromMs), to: timestampFromMs(toMs) },
    });
    const selected = rows.filter(
      ({ kind, occurTimeMs }) =>
        steps.some((step) => step === kind) && occurTimeMs >= fromMs && occurTimeMs < toMs,
    );
    const gone = selected.filter((row) => userOf(row, true) === undefined);
    expect(leftOut.map(({ reason, count }) => [LeftOut_Reason[reason], Number(count)])).toEqual([
      ['COOKIELESS_EVENTS', selected.filter(({ cookieless }) => cookieless).length],
      ['DELETED_PROFILES', gone.length],
    ]);
  });
});

describe('a question is refused', () => {
  const timeRange = { from: timestampFromMs(startMs), to: timestampFromMs(startMs + lengthMs) };
  const steps = (count: number) => Array.from({ length: count }, () => ({ event: {} }));
  const window = (seconds: number, nanos = 0) => ({
    ...{ insightType: InsightType.FUNNEL, events: steps(2) },
    conversionWindow: { seconds: BigInt(seconds), nanos },
  });
  it.each([
    ['spec.events', { insightType: InsightType.FUNNEL, events: steps(1) }],
    ['spec.events', { insightType: InsightType.FUNNEL, events: steps(21) }],
    ['spec.conversionWindow', window(0)],
    ['spec.conversionWindow', window(-1)],
    ['spec.conversionWindow', window(1, -1)],
    ['spec.conversionWindow', window(366 * 86_400, 1)],
    ['spec.events', { insightType: InsightType.RETENTION, events: steps(3) }],
    ['spec.events', { insightType: InsightType.RETENTION }],
  ])('naming %s', async (field, spec) => {
    const asked = insights.query({ spec, timeRange });
    await expect(asked).rejects.toThrow(`[invalid_argument] ${field}`);
  });

  it('where its cohorts have more points than an answer may', async () => {
    const spec = { insightType: InsightType.RETENTION, events: steps(1) };
    const hours = { spec, timeRange, granularity: Granularity.HOUR };
    await insights.query(hours);
    const groups = { ...spec, breakdowns: [{ property: '$browser' }], breakdownLimit: 2 };
    const asked = insights.query({ ...hours, spec: groups });
    await expect(asked).rejects.toThrow('100000 points');
  });

  it('only beyond twenty steps and 366 days', async () => {
    const spec = { ...window(366 * 86_400), events: steps(20), includeStepTiming: true };
    const { result } = await insights.query({ spec, timeRange });
    const series = result.case === 'funnel' ? result.value.series : [];
    // Everybody of the many ids has a few events at least.
    expect(series[0]?.steps.length).toBe(20);
    expect(series[0]?.steps[19]?.total).toBeGreaterThan(0);
    expect(series[0]?.steps[19]?.timing?.distribution.length).toBe(9);
  });
});
