// Sums and means of doubles are those of whole numbers of any size, whatever is kept of their days and in whatever
// order they come.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayMs } from '../../../platform/clock.ts';
import {
  AggregationType,
  Granularity,
  InsightType,
  TopKQuery_Dimension,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { AskedProject, type AskedSpec } from '../../../test/harness/insights/asked-project.ts';
import { exactMean, exactSum } from '../../../test/harness/insights/oracle/statement/exact-sum.ts';
import { createDraw } from '../../../test/harness/insights/random.ts';
import { useEngine } from '../../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../../test/harness/services/read-service.ts';

const engine = useEngine();
const firstMs = Date.parse('2026-10-20T00:00:00Z');
const days = 6;
const nowMs = firstMs + 20 * dayMs;
let service: ReadService;
beforeAll(async () => {
  service = await startReadService({
    clickhouseUrl: engine.url,
    clock: { nowMs: () => nowMs },
    completeUntilMs: async () => nowMs,
  });
});
afterAll(() => service.stop());

const { SUM, AVG, AVG_PER_USER } = AggregationType;
const range = { fromMs: firstMs, toMs: firstMs + days * dayMs, granularity: Granularity.DAY };
const max = Number.MAX_VALUE;
const draw = createDraw(7);
const price = (): number => draw.below(100_000) / 100;
const power = (): number => (draw.chance(0.5) ? -1 : 1) * 2 ** (draw.below(2_040) - 1_070);
const list = (count: number, value: () => number): number[] => Array.from({ length: count }, value);
/** The same numbers again, in another order. */
const shuffled = (values: readonly number[]): number[] =>
  [...values].sort((one, other) => Math.sin(one * 1e4) - Math.sin(other * 1e4));

const prices = list(40, price);
const groups: Record<string, number[]> = {
  'three tenths': [0.1, 0.2, 0.3],
  'the same prices a': prices,
  'the same prices b': shuffled(prices),
  'the same prices c': prices.toReversed(),
  'too much that is taken back': [1.7e308, 1.7e308, -1.7e308, -1.7e308],
  'too much': [1.7e308, 1.7e308],
  'too little': [-1.7e308, -1.7e308, -5e-324],
  'almost too much': [max, 2 ** 969],
  'half an ulp too much': [max, 2 ** 970],
  'half an ulp and less': [max, 2 ** 970, -5e-324],
  'much, then little': [1e17, ...list(50, () => 1.25), -1e17],
  'the least doubles': [5e-324, 5e-324, -1.5e-323, 2 ** -1_022, -(2 ** -1_023)],
  'half to even': [2 ** 53, 1],
  'more than half': [2 ** 53, 1, 5e-324],
  'less than half': [2 ** 53, 1, -5e-324],
  'negative, half to even': [-(2 ** 53), -3],
  'negative, less than half': [-(2 ** 53), -3, 5e-324],
  'what is left of powers': [2 ** 1_000, -(2 ** 999), -(2 ** 999), 3e-300],
  'what is left of most': [2 ** 900, -(2 ** 900), -1e-200, 2 ** -1_074],
  zeros: [-0, 0, -0],
  'thirds of the least': [5e-324, 0, 0],
  'negative thirds of the least': [-5e-324, 0, 0],
  'all magnitudes': list(60, power),
  ...Object.fromEntries(
    list(30, () => draw.below(9)).map((n, at) => [`powers ${at}`, list(n + 1, power)]),
  ),
  ...Object.fromEntries(
    list(20, power).map((one, at) => [
      `close ${at}`,
      [one, -one * (1 + 2 ** -52), power(), one * 2 ** -53],
    ]),
  ),
};

const oracles = new Map([
  [SUM, exactSum],
  [AVG, exactMean],
] as const);

function eventsOf(entries: readonly [string, readonly number[]][]) {
  return entries.flatMap(([group, values]) =>
    values.map((amount, index) => ({
      occurTimeMs: firstMs + (index % days) * dayMs + index * 60_000,
      distinctId: group,
      strings: { group },
      doubles: { amount },
    })),
  );
}

/** Asks as rows alone answer, then twice so that the days are kept, then of the kept days. */
async function answers(project: AskedProject, spec: AskedSpec) {
  const kept = [];
  // A range that ends elsewhere is another question: no answer is kept whole.
  for (const turn of [0, 1, 2])
    kept.push(await project.ask(spec, { ...range, toMs: range.toMs - turn }));
  return [await project.askRows(spec, range), ...kept].map(({ result }) => result);
}

describe.each([
  ['a sum', SUM],
  ['a mean', AVG],
] as const)('%s of doubles', (_, aggregation) => {
  const oracle = oracles.get(aggregation) ?? exactSum;
  const events = [{ aggregation, aggregationProperty: 'amount' }];
  let project: AskedProject;
  beforeAll(async () => {
    project = new AskedProject(service);
    await project.store(eventsOf(Object.entries(groups)));
  });

  it('is that of each group', async () => {
    const spec = {
      insightType: InsightType.SEGMENTATION,
      breakdowns: [{ property: 'group' }],
      breakdownLimit: 100,
      events,
    };
    const expected = Object.entries(groups).map(([group, values]) => [group, oracle(values)]);
    for (const result of await answers(project, spec)) {
      if (result.case !== 'segmentation') throw new Error('another form');
      const found = result.value.series.map(({ breakdown, value }) => [breakdown['group'], value]);
      expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
      expect(result.value.total).toBe(oracle(Object.values(groups).flat()));
    }
  });

  it('is that of the group of all others', async () => {
    const spec = {
      insightType: InsightType.SEGMENTATION,
      breakdowns: [{ property: 'group' }],
      breakdownLimit: 1,
      events,
    };
    const others = Object.entries(groups).flatMap(([group, own]) =>
      group === 'all magnitudes' ? [] : own,
    );
    for (const result of await answers(project, spec)) {
      if (result.case !== 'segmentation') throw new Error('another form');
      expect(result.value.series.map(({ value }) => value)).toEqual([
        oracle(groups['all magnitudes'] ?? []),
        oracle(others),
      ]);
    }
  });

  it('is that of each day', async () => {
    const ofDay = (day: number): number[] =>
      Object.values(groups).flatMap((values) => values.filter((__, index) => index % days === day));
    for (const result of await answers(project, { insightType: InsightType.TRENDS, events })) {
      if (result.case !== 'trends') throw new Error('another form');
      const points = result.value.series[0]?.points ?? [];
      expect(points.map(({ value }) => value)).toEqual(
        Array.from({ length: days }, (__, day) => oracle(ofDay(day))),
      );
    }
  });

  it.each([
    ['values', { dimension: TopKQuery_Dimension.PROPERTY, property: 'group' }],
    ['users', { dimension: TopKQuery_Dimension.USER }],
  ] as const)('ranks %s, equal ones by their names', async (by, dimension) => {
    const topK = { ...dimension, metric: aggregation, metricProperty: 'amount', limit: 100 };
    const named = Object.entries(groups).map(([group, values]) => ({
      group,
      value: oracle(values),
    }));
    const sorted = named.sort(
      (one, other) => other.value - one.value || (one.group < other.group ? -1 : 1),
    );
    for (const result of await answers(project, { insightType: InsightType.TOP_K, topK })) {
      if (result.case !== 'topK') throw new Error('another form');
      const { rows } = result.value;
      expect(rows.map(({ value }) => value)).toEqual(sorted.map(({ value }) => value));
      const names = rows.map(({ dimensionValue }) => dimensionValue);
      if (by === 'values') expect(names).toEqual(sorted.map(({ group }) => group));
    }
  });

  it('of the greatest few, and of all others', async () => {
    const topK = {
      ...{ dimension: TopKQuery_Dimension.PROPERTY, property: 'group', limit: 3 },
      ...{ metric: aggregation, metricProperty: 'amount' },
    };
    const alike = new AskedProject(service);
    const same = ['e', 'a', 'd', 'c', 'b'].map((name, turn): [string, number[]] => [
      name,
      turn % 2 === 0 ? prices : shuffled(prices),
    ]);
    await alike.store(eventsOf(same));
    const others = [...prices, ...prices];
    for (const result of await answers(alike, { insightType: InsightType.TOP_K, topK })) {
      if (result.case !== 'topK') throw new Error('another form');
      expect(result.value.rows.map(({ dimensionValue, value }) => [dimensionValue, value])).toEqual(
        [...['a', 'b', 'c'].map((name) => [name, oracle(prices)]), [undefined, oracle(others)]],
      );
    }
  });
});

/** From 2^-14 to below 2^16. */
const usual = (): number => (draw.below(2 ** 30) + 2 ** 30) * 2 ** (draw.below(29) - 44) + price();
const ofUsual: Record<string, number[]> = Object.fromEntries(
  list(90, () => 1 + draw.below(90)).map((count, at) => [
    `usual ${at}`,
    list(count, () => (at % 3 === 0 ? price() : (draw.chance(0.3) ? -1 : 1) * usual())),
  ]),
);

it.each([
  ['of any numbers', groups],
  ['of usual ones, which one statement answers', ofUsual],
])(
  'a mean of users’ means is rounded once for each user, and once of these: %s',
  async (_, groups) => {
    const project = new AskedProject(service);
    await project.store(eventsOf(Object.entries(groups)));
    const events = [{ aggregation: AVG_PER_USER, aggregationProperty: 'amount' }];
    const asked = { insightType: InsightType.SEGMENTATION, events };
    const means = Object.entries(groups).map(
      ([group, values]) => [group, exactMean(values)] as const,
    );
    const { result: whole } = await project.ask(asked, range);
    if (whole.case !== 'segmentation') throw new Error('another form');
    expect(whole.value.total).toBe(exactMean(means.map(([, mean]) => mean)));
    const split = { ...asked, breakdowns: [{ property: 'group' }], breakdownLimit: 100 };
    const { result } = await project.ask(split, range);
    if (result.case !== 'segmentation') throw new Error('another form');
    const found = result.value.series.map(({ breakdown, value }) => [breakdown['group'], value]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(means));
  },
);
