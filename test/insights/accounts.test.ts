// "Questions of accounts" of docs/insights.md: each row is asked of a real engine, and answers what it claims.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { dayMs } from '../../platform/clock.ts';
import { FilterOperator } from '../../proto/gen/common/v1/filter_pb.js';
import {
  AggregationType,
  InsightType,
  TopKQuery_Dimension,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { AskedProject, type AskedSpec } from '../harness/insights/asked-project.ts';
import { useEngine } from '../harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../harness/services/read-service.ts';

const engine = useEngine();
const startMs = Date.UTC(2026, 9, 10);
const range = { fromMs: startMs, toMs: startMs + 2 * dayMs };
let service: ReadService;
let project: AskedProject;

const { TOTAL, UNIQUE_USERS, SUM, DISTINCT_VALUES } = AggregationType;
const { TRENDS, SEGMENTATION, FUNNEL, TOP_K } = InsightType;
const everything = { event: {} };
const accounts = { ...everything, aggregation: DISTINCT_VALUES, aggregationProperty: 'account' };
const users = { ...everything, aggregation: UNIQUE_USERS };
const byAccount = [{ property: 'account' }];

/** ada and bob are of acme, and ada works for globex, too; eve is of globex; zoe is of none. */
beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url, readsPerSecond: 0 });
  project = new AskedProject(service);
  const row = (distinctId: string, account: string, hour: number, more = {}) => ({
    ...{ distinctId, kind: 'use', occurTimeMs: startMs + hour * 3_600_000 },
    ...{ strings: account === '' ? {} : { account }, ...more },
  });
  const paid = (amount: number) => ({ kind: 'purchase', ints: { amount: BigInt(amount) } });
  await project.store([
    row('ada', 'acme', 1),
    row('ada', 'acme', 2),
    row('ada', 'globex', 3, paid(10)),
    row('bob', 'acme', 4),
    row('bob', 'acme', 5, paid(20)),
    row('eve', 'globex', 30),
    row('zoe', '', 31),
  ]);
  await project.change(
    [
      { distinctId: 'ada', traits: { company: 'Acme' } },
      { distinctId: 'bob', traits: { company: 'Acme' } },
    ],
    '1',
  );
});
afterAll(() => service.stop());

/** Of each series, or of each group by its name, the values of its points. */
async function ask(spec: AskedSpec): Promise<[string, (number | undefined)[]][]> {
  const { result } = await project.ask(spec, range);
  const name = ({ breakdown }: { breakdown: Record<string, string> }): string =>
    Object.values(breakdown).join();
  switch (result.case) {
    case 'trends':
      return result.value.series.map((one) => [name(one), one.points.map(({ value }) => value)]);
    case 'segmentation':
      return result.value.series.map((one) => [name(one), [one.value]]);
    case 'topK':
      return result.value.rows.map((row) => [row.dimensionValue ?? '', [row.value]]);
    case 'funnel':
      return result.value.series.map((one) => [name(one), one.steps.map(({ total }) => total)]);
    default:
      return expect.fail('no such answer');
  }
}

it('active accounts each day, and in the whole range once', async () => {
  expect(await ask({ insightType: TRENDS, events: [accounts] })).toEqual([['', [2, 1]]]);
  expect(await ask({ insightType: SEGMENTATION, events: [accounts] })).toEqual([['', [2]]]);
});

it('events and users of each account', async () => {
  const events = [{ ...everything, aggregation: TOTAL }];
  expect(await ask({ insightType: TRENDS, events, breakdowns: byAccount })).toEqual([
    ['acme', [4, 0]],
    ['globex', [1, 1]],
    ['', [0, 1]],
  ]);
});

it('the greatest accounts by users, and by revenue', async () => {
  const ranked = { dimension: TopKQuery_Dimension.PROPERTY, property: 'account' };
  const byUsers = { insightType: TOP_K, topK: { ...ranked, metric: UNIQUE_USERS } };
  expect(await ask(byUsers)).toEqual([
    ['acme', [2]],
    ['globex', [2]],
    ['', [1]],
  ]);
  const metric = { metric: SUM, metricProperty: 'amount', limit: 2 };
  expect(
    await ask({ insightType: TOP_K, topK: { ...ranked, ...metric, omitOthers: true } }),
  ).toEqual([
    ['acme', [20]],
    ['globex', [10]],
  ]);
});

it('users, events and revenue per account', async () => {
  const formulas = [{ expression: 'A / B' }];
  const perAccount = async (aggregation: AggregationType, aggregationProperty = '') => {
    const events = [{ ...everything, aggregation, aggregationProperty }, accounts];
    return (await ask({ insightType: SEGMENTATION, events, formulas })).at(-1);
  };
  expect(await perAccount(UNIQUE_USERS)).toEqual(['', [2]]);
  expect(await perAccount(TOTAL)).toEqual(['', [3.5]]);
  expect(await perAccount(SUM, 'amount')).toEqual(['', [15]]);
});

it('a funnel within one account', async () => {
  const events = [{ event: { kind: 'use' } }, { event: { kind: 'purchase' } }];
  expect(await ask({ insightType: FUNNEL, events })).toEqual([['', [4, 2]]]);
  // ada used acme and paid for globex; zoe is in no account.
  const funnel = { holdProperty: 'account' };
  expect(await ask({ insightType: FUNNEL, events, funnel })).toEqual([['', [3, 1]]]);
});

it('the users of one account, and accounts of a company', async () => {
  const filters = [{ property: 'account', operator: FilterOperator.EQUALS, value: 'globex' }];
  const filterGroups = [{ filters }];
  expect(await ask({ insightType: SEGMENTATION, events: [users], filterGroups })).toEqual([
    ['', [2]],
  ]);
  const breakdowns = [{ property: 'profile.company' }];
  expect(await ask({ insightType: SEGMENTATION, events: [accounts], breakdowns })).toEqual([
    ['Acme', [2]],
    ['', [1]],
  ]);
});
