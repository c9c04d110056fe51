// REVENUE over HTTP on a real engine, with answers worked out by hand.

import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FilterOperator } from '../../../../proto/gen/common/v1/filter_pb.js';
import {
  AggregationType,
  Compare,
  type InsightsService,
  InsightType,
  LeftOut_Reason,
  RevenueMeasure,
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
const many = randomUUID();
let service: ReadService;
let insights: Client<typeof InsightsService>;

const { TOTAL, PER_USER, PER_PAYING_USER, PAYMENTS } = RevenueMeasure;
const at = (time: string): number => Date.parse(`2026-10-${time}Z`);
const row = (time: string, distinctId: string, fields: Partial<StoredRow> = {}): StoredRow =>
  storedRow({ projectId: project, distinctId, occurTimeMs: at(time), ...fields });
const paid = (
  time: string,
  distinctId: string,
  amount: number,
  currency: string | undefined,
  fields: Partial<StoredRow> = {},
): StoredRow =>
  row(time, distinctId, {
    kind: 'purchase',
    doubles: { amount },
    ...(currency !== undefined && { strings: { currency } }),
    ...fields,
  });

beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url, readsPerSecond: 0 });
  insights = service.insights(project);
  const [chrome, safari] = ['Chrome', 'Safari'].map((browser) => ({ columns: { browser } }));
  await storeRows(service.clickhouse, [
    // Three times a tenth, whose sum depends on the order of adding, and an int.
    paid('10T10:00:00', 'ada', 0.1, 'EUR', chrome),
    paid('10T11:00:00', 'ada', 0.2, 'EUR', chrome),
    paid('10T12:00:00', 'bob', 0.3, 'EUR', safari),
    paid('11T10:00:00', 'bob', 30, 'USD', safari),
    paid('12T10:00:00', 'ada', 10, 'EUR', safari),
    row('12T11:00:00', 'eve', { kind: 'purchase', ints: { amount: 7n } }),
    // No payments: without a number, a text, another kind.
    row('10T10:00:00', 'eve', { kind: 'purchase', strings: { currency: 'EUR' } }),
    row('10T10:00:00', 'eve', { kind: 'purchase', strings: { currency: 'EUR', amount: '5' } }),
    row('10T09:00:00', 'joe', chrome),
    row('11T09:00:00', 'joe', chrome),
    paid('11T09:30:00', 'cookieless-1', 4, 'EUR', { cookieless: true, ...chrome }),
    paid('09T10:00:00', 'ada', 8, 'EUR', chrome),
  ]);
  await storeProfiles(service.clickhouse, [
    { projectId: project, distinctId: 'ada', traits: { plan: 'pro' } },
  ]);
  const currencies = Array.from({ length: 22 }, (_, n) => `A${String.fromCharCode(65 + n)}X`);
  await storeRows(
    service.clickhouse,
    currencies.flatMap((currency, n) =>
      Array.from({ length: n < 20 ? 2 : 1 }, () =>
        paid('10T10:00:00', 'ada', 1, currency, { projectId: many }),
      ),
    ),
  );
});
afterAll(() => service.stop());

const timeRange = {
  from: timestampFromMs(at('10T00:00:00')),
  to: timestampFromMs(at('13T00:00:00')),
};
const purchases = { event: { kind: 'purchase' } };

async function ask(spec: AskedSpec, of = insights) {
  const asked = { insightType: InsightType.REVENUE, events: [purchases], ...spec };
  const answer = await of.query({ spec: asked, timeRange });
  if (answer.result.case !== 'revenue') throw new Error('no revenue');
  return { ...answer, series: answer.result.value.series };
}

/** By the name of each series: `EUR`, and its group. */
async function valuesOf(spec: AskedSpec) {
  const { series } = await ask(spec);
  return series.map(({ currency = 'none', breakdown, isOthers, points }) => [
    [currency, ...(isOthers ? ['others'] : Object.values(breakdown))].join(' '),
    ...points.map(({ value }) => value),
  ]);
}

const measured = (revenue: RevenueMeasure) => ({ events: [{ ...purchases, revenue }] });

describe('each currency', () => {
  it('has its exact sum, those without one theirs, the one with most payments first', async () => {
    const expected = [
      ['EUR', 0.6, 4, 10],
      ['none', 0, 0, 7],
      ['USD', 0, 30, 0],
    ];
    expect(await valuesOf({})).toEqual(expected);
    expect(await valuesOf(measured(TOTAL))).toEqual(expected);
  });

  it('has the number of its payments', async () => {
    expect(await valuesOf(measured(PAYMENTS))).toEqual([
      ['EUR', 3, 1, 1],
      ['none', 0, 0, 1],
      ['USD', 0, 1, 0],
    ]);
  });

  it('has its sum by who paid in it, without payments of nobody', async () => {
    expect(await valuesOf(measured(PER_PAYING_USER))).toEqual([
      ['EUR', 0.3, 0, 10],
      ['none', 0, 0, 7],
      ['USD', 0, 30, 0],
    ]);
  });

  it('has its sum by all who did anything', async () => {
    // On the 10th ada, bob, eve and joe; on the 11th bob and joe; on the 12th ada and eve.
    expect(await valuesOf(measured(PER_USER))).toEqual([
      ['EUR', 0.15, 0, 5],
      ['none', 0, 0, 3.5],
      ['USD', 0, 15, 0],
    ]);
  });

  it('counts cookieless visitors where they are users', async () => {
    const spec = { ...measured(PER_PAYING_USER), includeCookieless: true };
    expect((await valuesOf(spec))[0]).toEqual(['EUR', 0.3, 4, 10]);
    const { leftOut } = await ask(measured(PER_PAYING_USER));
    expect(leftOut).toMatchObject([{ reason: LeftOut_Reason.COOKIELESS_EVENTS, count: 1n }]);
  });

  it('is asked for as known at a moment, by another number, and by a filter', async () => {
    const filters = [{ property: 'currency', operator: FilterOperator.EQUALS, value: 'USD' }];
    expect(await valuesOf({ filterGroups: [{ filters }] })).toEqual([['USD', 0, 30, 0]]);
    const events = [{ ...purchases, aggregationProperty: 'price' }];
    expect(await valuesOf({ events })).toEqual([]);
  });
});

describe('by groups', () => {
  const breakdowns = [{ property: '$browser' }];

  it('is in those of its own values, each currency with its own', async () => {
    expect(await valuesOf({ breakdowns })).toEqual([
      ['EUR Chrome', 0.30000000000000004, 4, 0],
      ['EUR Safari', 0.3, 0, 10],
      ['none', 0, 0, 7],
      ['USD Safari', 0, 30, 0],
    ]);
  });

  it('has all others of a currency together, and never of two', async () => {
    const { leftOut } = await ask({ breakdowns, breakdownLimit: 1 });
    expect(leftOut).toMatchObject([{ reason: LeftOut_Reason.GROUPS_IN_OTHERS, count: 1n }]);
    expect(await valuesOf({ breakdowns, breakdownLimit: 1 })).toEqual([
      ['EUR Chrome', 0.30000000000000004, 4, 0],
      ['EUR others', 0.3, 0, 10],
      ['none', 0, 0, 7],
      ['USD Safari', 0, 30, 0],
    ]);
  });

  it('divides by the users of the group', async () => {
    // Those of Chrome are ada and joe on the 10th, joe on the 11th; of Safari bob, bob, ada.
    expect(await valuesOf({ ...measured(PER_USER), breakdowns })).toEqual([
      ['EUR Chrome', 0.15000000000000002, 0, 0],
      ['EUR Safari', 0.3, 0, 10],
      ['none', 0, 0, 7],
      ['USD Safari', 0, 30, 0],
    ]);
  });
});

describe('cumulative', () => {
  const cumulative = true;

  it('has all until the end of each bucket', async () => {
    expect(await valuesOf({ cumulative })).toEqual([
      ['EUR', 0.6, 4.6, 14.6],
      ['none', 0, 0, 7],
      ['USD', 0, 30, 30],
    ]);
    expect((await valuesOf({ ...measured(PAYMENTS), cumulative }))[0]).toEqual(['EUR', 3, 4, 5]);
  });

  it('counts each user once', async () => {
    expect(await valuesOf({ ...measured(PER_PAYING_USER), cumulative })).toEqual([
      ['EUR', 0.3, 0.3, 5.3],
      ['none', 0, 0, 7],
      ['USD', 0, 30, 30],
    ]);
    const perUser = await valuesOf({ ...measured(PER_USER), cumulative });
    expect(perUser[0]).toEqual(['EUR', 0.15, 0.15, 2.65]);
    const breakdowns = [{ property: '$browser' }];
    const ofGroups = await valuesOf({ ...measured(PER_USER), cumulative, breakdowns });
    expect(ofGroups[1]).toEqual(['EUR Safari', 0.3, 0.3, 5.15]);
  });
});

it('formulas are worked out currency by currency', async () => {
  const events = [TOTAL, PAYMENTS].map((revenue) => ({ ...purchases, revenue }));
  const { series } = await ask({ events, formulas: [{ expression: 'A / B' }] });
  const made = series.filter(({ formulaIndex }) => formulaIndex === 0);
  expect(
    made.map(({ currency, points }) => [currency, ...points.map(({ value }) => value)]),
  ).toEqual([
    ['EUR', 0.19999999999999998, 4, 10],
    [undefined, undefined, undefined, 7],
    ['USD', undefined, 30, undefined],
  ]);
});

it('is compared with the period before', async () => {
  const { previous } = await ask({ compare: Compare.PREVIOUS_PERIOD });
  if (previous?.result.case !== 'revenue') throw new Error('no revenue');
  const [series] = previous.result.value.series;
  expect(series?.currency).toBe('EUR');
  expect(series?.points.map(({ value }) => value)).toEqual([0, 0, 8]);
});

it('leaves out currencies beyond the 20 with the most payments', async () => {
  const { series, leftOut } = await ask({}, service.insights(many));
  expect(series).toHaveLength(20);
  expect(leftOut).toMatchObject([{ reason: LeftOut_Reason.CURRENCIES_BEYOND_LIMIT, count: 2n }]);
});

it('lists who paid', async () => {
  const persons = async (point: object, more: AskedSpec = {}) => {
    const spec = { insightType: InsightType.REVENUE, events: [purchases], ...more };
    const answer = await insights.segmentUsers({ timeRange, point: { spec, ...point } });
    return [...answer.distinctIds].sort();
  };
  const [first, second, third] = ['10', '11', '12'].map((day) => ({
    bucket: timestampFromMs(at(`${day}T00:00:00`)),
  }));
  expect(await persons({ currency: 'EUR', ...first })).toEqual(['ada', 'bob']);
  expect(await persons({ currency: 'USD', ...first })).toEqual([]);
  expect(await persons({ ...third })).toEqual(['eve']);
  expect(await persons({ currency: 'EUR', ...third })).toEqual(['ada']);
  const cumulative = { cumulative: true };
  expect(await persons({ currency: 'EUR', ...third }, cumulative)).toEqual(['ada', 'bob']);
  expect(await persons({ currency: 'USD', ...second }, cumulative)).toEqual(['bob']);
  const groups = { breakdowns: [{ property: '$browser' }] };
  const chrome = { currency: 'EUR', breakdown: { $browser: 'Chrome' } };
  expect(await persons({ ...chrome, ...first }, groups)).toEqual(['ada']);
});

it('refuses what it does not read', async () => {
  const aggregation = AggregationType.SUM;
  await expect(ask({ events: [{ ...purchases, aggregation }] })).rejects.toThrow(
    'spec.events[0].aggregation: is for TRENDS and SEGMENTATION',
  );
  await expect(ask({ events: [] })).rejects.toThrow('spec.events: must not be empty');
});
