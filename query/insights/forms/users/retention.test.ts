// RETENTION with other cohorts and returns, its means, and what is not over yet, worked out by hand.

import { randomUUID } from 'node:crypto';
import { timestampDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  RetentionQuery_First as First,
  Granularity,
  InsightType,
} from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { useEngine } from '../../../../test/harness/servers/use-servers.ts';
import {
  type ReadService,
  startReadService,
} from '../../../../test/harness/services/read-service.ts';
import { storedRow, storeRows } from '../../../../test/harness/tables/stored-events.ts';

const engine = useEngine();
const projectId = randomUUID();
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const startMs = Date.UTC(2026, 9, 5);
let untilMs: number | undefined;
/** Each question is another one: no kept answer is as old as the moment before. */
let asked = 0;
let service: ReadService;

/** The hours since the start at which a user came, -30 before the range. */
const visits: Readonly<Record<string, readonly number[]>> = {
  ada: [1, 26, 50],
  bob: [23, 25, 80],
  eve: [-30, 2, 49],
};

beforeAll(async () => {
  service = await startReadService({
    clickhouseUrl: engine.url,
    readsPerSecond: 0,
    completeUntilMs: async () => untilMs,
  });
  const rows = Object.entries(visits).flatMap(([distinctId, hours]) =>
    hours.map((hour) =>
      storedRow({ projectId, distinctId, kind: 'view', occurTimeMs: startMs + hour * hourMs }),
    ),
  );
  await storeRows(service.clickhouse, rows);
});
afterAll(() => service.stop());

interface Rules {
  first?: First;
  unbounded?: boolean;
  rolling24h?: boolean;
}

async function ask(retention: Rules | undefined, days = 3, granularity = Granularity.DAY) {
  asked += 1;
  const { result } = await service.insights(projectId).query({
    spec: { insightType: InsightType.RETENTION, events: [{}], ...(retention && { retention }) },
    timeRange: {
      from: timestampFromMs(startMs + asked),
      to: timestampFromMs(startMs + days * dayMs),
    },
    granularity,
  });
  const [series] = result.case === 'retention' ? result.value.series : [];
  return series ?? expect.fail('no series');
}

async function table(retention?: Rules) {
  const { cohorts } = await ask(retention);
  return cohorts.map(({ cohortSize, points }) => [cohortSize, ...points.map(({ value }) => value)]);
}

it.each<[string, Rules | undefined, number[][]]>([
  [
    'first in the range',
    undefined,
    [
      [3, 3, 2, 2],
      [0, 0, 0],
      [0, 0],
    ],
  ],
  [
    'first ever',
    { first: First.EVER },
    [
      [2, 2, 2, 1],
      [0, 0, 0],
      [0, 0],
    ],
  ],
  [
    'recurring',
    { first: First.RECURRING },
    [
      [3, 3, 2, 2],
      [2, 2, 1],
      [2, 2],
    ],
  ],
  [
    'on or after',
    { unbounded: true },
    [
      [3, 3, 3, 2],
      [0, 0, 0],
      [0, 0],
    ],
  ],
  // Bob's second visit is two hours after his first, his third 57 hours after it, after the range.
  [
    'rolling',
    { rolling24h: true },
    [
      [3, 3, 2, 2],
      [0, 0, 0],
      [0, 0],
    ],
  ],
])('counts users by %s', async (_, rules, expected) => {
  untilMs = startMs + 100 * dayMs;
  expect(await table(rules)).toEqual(expected);
});

const moments = (series: Awaited<ReturnType<typeof ask>>) =>
  [series, ...series.cohorts].map(({ incompleteFrom }) =>
    incompleteFrom ? (timestampDate(incompleteFrom).getTime() - startMs) / dayMs : undefined,
  );

it.each<[string, Rules, number | undefined, (number | undefined)[]]>([
  ['all are over', {}, 3, [undefined, undefined, undefined, undefined]],
  ['a day goes on', {}, 2.5, [2, 2, 2, 2]],
  ['nobody tells', {}, undefined, [0, 0, 1, 2]],
  ['any day may add to all', { unbounded: true }, 2.5, [2, 0, 1, 2]],
  // Who begins at the end of the first day has days that end with the second, third and fourth.
  ['the last day of the last user', { rolling24h: true }, 3, [undefined, 2, 2, 2]],
])('says from when on it is not over: %s', async (_, rules, untilDays, expected) => {
  untilMs = untilDays === undefined ? undefined : startMs + untilDays * dayMs;
  expect(moments(await ask(rules))).toEqual(expected);
});

it('takes the means of what is over, by users and by cohorts', async () => {
  untilMs = startMs + 2.5 * dayMs;
  const { means } = await ask({ first: First.RECURRING });
  expect(means).toMatchObject([
    { size: 5, returned: 5, share: 1, meanOfShares: 1 },
    { size: 3, returned: 2, share: 2 / 3, meanOfShares: 2 / 3 },
    { size: 0, returned: 0 },
  ]);
  expect(means[2]?.share).toBeUndefined();
  untilMs = startMs + 3 * dayMs;
  const [, second] = (await ask({ first: First.RECURRING })).means;
  expect(second).toMatchObject({
    size: 5,
    returned: 3,
    share: 3 / 5,
    meanOfShares: (2 / 3 + 1 / 2) / 2,
  });
});

it('refuses what it does not know, by the name of the field', async () => {
  await expect(ask({ rolling24h: true }, 3, Granularity.WEEK)).rejects.toThrow(
    'spec.retention.rolling24h: is for the granularity DAY',
  );
  await expect(ask({ first: 9 as First })).rejects.toThrow('spec.retention.first: 9 is not known');
});
