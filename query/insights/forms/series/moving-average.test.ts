// Moving averages over HTTP on a real engine, with answers worked out by hand.

import { randomUUID } from 'node:crypto';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dayMs } from '../../../../platform/clock.ts';
import {
  AggregationType,
  InsightType,
  SessionMetric,
} from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { AskedSpec } from '../../../../test/harness/insights/asked-project.ts';
import { useEngine } from '../../../../test/harness/servers/use-servers.ts';
import {
  type ReadService,
  startReadService,
} from '../../../../test/harness/services/read-service.ts';
import { storedRow, storeRows } from '../../../../test/harness/tables/stored-events.ts';

const engine = useEngine();
const projectId = randomUUID();
const noonMs = Date.UTC(2026, 9, 10, 12);
const midnightMs = noonMs - dayMs / 2;
let service: ReadService;
/** Until then all is known. */
let untilMs = Number.POSITIVE_INFINITY;

beforeAll(async () => {
  service = await startReadService({
    ...{ clickhouseUrl: engine.url, readsPerSecond: 0 },
    completeUntilMs: async () => Math.min(untilMs, Date.UTC(2027, 0, 1)),
  });
  const row = (day: number, distinctId: string, amount: number, browser = 'Chrome') =>
    storedRow({
      ...{ projectId, distinctId, kind: 'purchase', occurTimeMs: noonMs + day * dayMs },
      ...{ columns: { browser }, strings: { currency: 'EUR' }, ints: { amount: BigInt(amount) } },
    });
  await storeRows(service.clickhouse, [
    // Two days before the range: ada came with another browser, and this is her first event of the question.
    row(-2, 'ada', 6, 'Firefox'),
    row(-1, 'ada', 3),
    row(-1, 'bob', 3),
    row(0, 'ada', 9),
    row(1, 'bob', 12),
    row(1, 'bob', 12),
    row(2, 'ada', 3),
  ]);
});
afterAll(() => service.stop());

/** Of the 10th to the 12th, whose earlier days have 1 and 2 events. */
async function ask(spec: AskedSpec, fromMs = midnightMs, toMs = midnightMs + 3 * dayMs) {
  const { result, bucketLabels } = await service.insights(projectId).query({
    spec: { insightType: InsightType.TRENDS, movingAverage: 3, ...spec },
    timeRange: { from: timestampFromMs(fromMs), to: timestampFromMs(toMs) },
  });
  if (result.case !== 'trends' && result.case !== 'revenue') return expect.fail('no series');
  const { series } = result.value;
  return {
    bucketLabels,
    values: series.map(({ points }) => points.map(({ value }) => value)),
    groups: series.map(({ breakdown, isOthers }) =>
      isOthers ? 'others' : Object.values(breakdown).join(),
    ),
    days: series[0]?.points.map(({ time }) =>
      time === undefined ? -1 : (timestampMs(time) - midnightMs) / dayMs,
    ),
    open: series.map(({ incompleteFrom }) =>
      incompleteFrom === undefined ? -1 : (timestampMs(incompleteFrom) - midnightMs) / dayMs,
    ),
  };
}

const all = [{ event: {} }];

it('is the mean of the buckets that end with each one, those before the range too', async () => {
  const { values, days, bucketLabels } = await ask({ events: all });
  expect(values).toEqual([[4 / 3, 5 / 3, 4 / 3]]);
  expect(days).toEqual([0, 1, 2]);
  expect(bucketLabels.map((label) => label.slice(0, 10))).toEqual([
    ...['2026-10-10', '2026-10-11', '2026-10-12'],
  ]);
});

it('counts the days before the range whole, and nothing at its end or after it', async () => {
  // From and to lie at noon: the first day is counted from its midnight, and the last until noon.
  const { values } = await ask({ events: all }, noonMs + 1, noonMs + dayMs);
  expect(values).toEqual([[4 / 3, 1]]);
});

it('averages users of a day, sums, and what formulas make of the averages', async () => {
  const { UNIQUE_USERS, SUM } = AggregationType;
  const events = [
    { event: {}, aggregation: UNIQUE_USERS },
    { event: {}, aggregation: SUM, aggregationProperty: 'amount' },
  ];
  const { values } = await ask({ events, formulas: [{ expression: 'B / A' }] });
  expect(values).toEqual([
    [4 / 3, 4 / 3, 1],
    [7, 13, 12],
    [7 / (4 / 3), 13 / (4 / 3), 12],
  ]);
});

it('has the groups of the range with the buckets before it', async () => {
  const events = [{ event: {}, aggregation: AggregationType.UNIQUE_USERS }];
  const { values, groups } = await ask({ events, breakdowns: [{ property: '$browser' }] });
  expect(groups).toEqual(['Chrome', 'Firefox']);
  expect(values).toEqual([
    [1 / 3, 2 / 3, 1 / 3],
    [1, 2 / 3, 2 / 3],
  ]);
});

it('averages payments and visits', async () => {
  const revenue = await ask({ insightType: InsightType.REVENUE, events: all });
  expect(revenue.values).toEqual([[7, 13, 12]]);
  const visits = await ask({ session: { metric: SessionMetric.AVG_EVENTS_PER_SESSION } });
  expect(visits.values).toEqual([[1, 1, 1]]);
});

it('is not over from the first mean on that has a bucket which is not', async () => {
  const openSince = async (day: number) => {
    untilMs = midnightMs + day * dayMs;
    // An answer that is kept is as complete as it was.
    return (await ask({ events: [{ event: { kinds: ['purchase', `other-${day}`] } }] })).open;
  };
  expect([await openSince(-1), await openSince(1), await openSince(3)]).toEqual([[0], [1], [-1]]);
});

it('has the persons of all buckets whose mean it is', async () => {
  const personsAt = async (spec: AskedSpec, point = {}) => {
    const { distinctIds } = await service.insights(projectId).segmentUsers({
      timeRange: {
        from: timestampFromMs(midnightMs),
        to: timestampFromMs(midnightMs + 3 * dayMs),
      },
      point: { spec: { insightType: InsightType.TRENDS, ...spec }, ...point },
    });
    return distinctIds.toSorted();
  };
  const bucket = timestampFromMs(midnightMs + 2 * dayMs);
  const spec = { events: all, movingAverage: 2 };
  expect(await personsAt(spec, { bucket })).toEqual(['ada', 'bob']);
  const byBrowser = { ...spec, breakdowns: [{ property: '$browser' }] };
  const first = timestampFromMs(midnightMs);
  const firefox = { bucket: first, breakdown: { $browser: 'Firefox' } };
  expect(await personsAt({ ...byBrowser, movingAverage: 3 }, firefox)).toEqual(['ada']);
  expect(await personsAt(byBrowser, firefox)).toEqual([]);
  const paid = { ...spec, insightType: InsightType.REVENUE };
  expect(await personsAt(paid, { bucket: first, currency: 'EUR' })).toEqual(['ada', 'bob']);
});

it.each<[string, AskedSpec]>([
  ['must be from 2 to 90', { movingAverage: 1 }],
  ['must be from 2 to 90', { movingAverage: 91 }],
  ['must be 0 where cumulative is set', { cumulative: true }],
  [
    'must be 0 where rollingDays is set',
    { rollingDays: 7, events: [{ event: {}, aggregation: AggregationType.UNIQUE_USERS }] },
  ],
  ['is for TRENDS and REVENUE', { insightType: InsightType.SEGMENTATION }],
])('is refused by its field: %s', async (rule, spec) => {
  const error = await ask({ events: all, ...spec }).then(
    () => expect.fail('answered'),
    ConnectError.from,
  );
  expect(error.rawMessage).toBe(`spec.movingAverage: ${rule}`);
});

it('is refused where it would reach beyond 1970', async () => {
  const error = await ask({ events: all }, 0, dayMs).then(
    () => expect.fail('answered'),
    ConnectError.from,
  );
  expect(error.rawMessage).toBe('spec.movingAverage: asks for a time before 1970');
});
