// Which changes of what is stored make a question's statement run again, on a real engine over HTTP; and that readers
// who leave end it there.

import { randomUUID } from 'node:crypto';
import { create, toJson } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import {
  AggregationType,
  InsightType,
  QueryRequestSchema,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';
import { type StoredRow, storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { type StoredProfile, storeProfiles } from '../../test/harness/tables/stored-profiles.ts';
import { insightTurnBounds } from '../calls/turn-bounds.ts';
import { systemTimer } from '../timer.ts';
import { Turns } from '../turns.ts';

const engine = useEngine();
/** The questions' statements that ran. */
let statements = 0;
let versions = 0;
/** Looks at the types of properties that do not tell the version too. */
let typeLooks = 0;
/** Stands in for a question's statement where a test needs one that takes a minute. */
let slowSql: string | undefined;
const counting = (store: RowReader): RowReader => ({
  select(select, onRow) {
    const isVersion = /\bproject_changes\b/.test(select.sql) && /\bevent_counts\b/.test(select.sql);
    if (isVersion) versions++;
    const hasTypes = select.sql.includes('property_keys');
    if (hasTypes && !isVersion) typeLooks++;
    if (isVersion || hasTypes) return store.select(select, onRow);
    statements++;
    return store.select({ ...select, sql: slowSql ?? select.sql }, onRow);
  },
});
let service: ReadService;
beforeAll(async () => {
  const bounds = { ...insightTurnBounds(1), running: 1, runningOfOwner: 1 };
  const insightTurns = new Turns(bounds, systemTimer);
  // Rows of a young version are kept for a second: here it does not pass. Each statement is silent for long enough that
  // the engine's load is looked at, which is no statement of a question.
  service = await startReadService({
    ...{ clickhouseUrl: engine.url, storeSilenceMs: 1, reader: counting, insightTurns },
    nowMs: () => 0,
  });
});
afterAll(() => service.stop());

let project = '';
beforeEach(async () => {
  project = randomUUID();
  await store({ occurTimeMs: at('10T10:05'), distinctId: 'ada', columns: { browser: 'Firefox' } });
  statements = 0;
  versions = 0;
  typeLooks = 0;
});

const at = (time: string): number => Date.parse(`2026-10-${time}:00Z`);
const store = (fields: Partial<StoredRow>) =>
  storeRows(service.clickhouse, [storedRow({ projectId: project, ...fields })]);
const change = (fields: Partial<StoredProfile>, version: string) =>
  storeProfiles(
    service.clickhouse,
    [{ projectId: project, distinctId: 'ada', ...fields }],
    version,
  );

const timeRange = { from: timestampFromMs(at('10T00:00')), to: timestampFromMs(at('10T12:10')) };
const spec = {
  insightType: InsightType.TRENDS,
  events: [{ event: { kind: 'page_view' }, aggregation: AggregationType.UNIQUE_USERS }],
  breakdowns: [{ property: 'profile.__proto__' }],
};

async function ask(): Promise<number[]> {
  const { result, completeUntil } = await service.insights(project).query({ spec, timeRange });
  expect(completeUntil).toBeDefined();
  if (result.case !== 'trends') throw new Error('no trends');
  return result.value.series.map(({ points }) => points[0]?.value ?? 0);
}

describe('a second question', () => {
  it('runs only the statement that tells whether something changed', async () => {
    expect(await ask()).toEqual([1]);
    expect(await ask()).toEqual([1]);
    expect([statements, versions]).toEqual([1, 2]);
  });

  it.each([
    ['in the range', '10T12:09', [2]],
    ['in a quarter of an hour that the range cuts', '10T12:11', [1]],
  ])('runs again after an event %s', async (_, occurred, users) => {
    await ask();
    await store({ occurTimeMs: at(occurred), distinctId: 'bob' });
    expect(await ask()).toEqual(users);
    expect(statements).toBe(2);
  });

  it('does not run again after an event of another time or project', async () => {
    await ask();
    await store({ occurTimeMs: at('10T12:15'), distinctId: 'bob' });
    await store({ occurTimeMs: at('09T23:59'), distinctId: 'bob' });
    await store({ occurTimeMs: at('10T10:05'), projectId: randomUUID() });
    expect(await ask()).toEqual([1]);
    expect(statements).toBe(1);
  });

  it('runs again after a trait, a merge and a deletion', async () => {
    await store({ occurTimeMs: at('10T11:00'), distinctId: 'anon' });
    expect(await ask()).toEqual([2]);
    await change({ traits: { ['__proto__']: 'pro' } }, '2');
    expect(await ask()).toEqual([1, 1]);
    await change({ distinctId: 'anon', owner: 'ada', root: 'ada', wasClaimed: true }, '3');
    expect(await ask()).toEqual([1]);
    await change({ deleted: true }, '4');
    expect(await ask()).toEqual([]);
    expect(statements).toBe(4);
  });
});

it('a question finds a property in each type that it has got since it was asked last', async () => {
  const asked = {
    insightType: InsightType.SEGMENTATION,
    events: [{ event: { kind: 'page_view' }, aggregation: AggregationType.TOTAL }],
    breakdowns: [{ property: 'plan' }],
  };
  const plans = async (): Promise<unknown[]> => {
    const { result } = await service.insights(project).query({ spec: asked, timeRange });
    if (result.case !== 'segmentation') throw new Error('no segmentation');
    return result.value.series.map(({ breakdown }) => breakdown['plan']).sort();
  };
  expect(await plans()).toEqual([undefined]);
  await store({ occurTimeMs: at('10T11:00'), strings: { plan: 'pro' } });
  expect(await plans()).toEqual(['pro', undefined]);
  await store({ occurTimeMs: at('10T11:00'), ints: { plan: 5n } });
  expect(await plans()).toEqual(['5', 'pro', undefined]);
  // One look a question tells both.
  expect([versions, typeLooks]).toEqual([3, 0]);
});

it('kept rows are written in the codec of each request', async () => {
  await store({ occurTimeMs: at('10T11:00'), strings: { ['__proto__']: 'x' } });
  const asked = {
    spec: {
      insightType: InsightType.SEGMENTATION,
      events: [{ event: { kind: 'page_view' }, aggregation: AggregationType.TOTAL }],
      breakdowns: [{ property: '__proto__' }],
    },
    timeRange,
  };
  const request = toJson(QueryRequestSchema, create(QueryRequestSchema, asked));
  const json = async (): Promise<string> => {
    const method = 'shared.insights.v1.InsightsService/Query';
    return (await service.post(project, method, request)).text;
  };
  const first = await json();
  expect(first).toContain('"breakdown":{"__proto__":"x"}');
  const { result } = await service.insights(project).query(asked);
  expect(result.case === 'segmentation' && result.value.series.length).toBe(2);
  expect((await json()).replace(/"completeUntil":"[^"]*"/, '')).toBe(
    first.replace(/"completeUntil":"[^"]*"/, ''),
  );
  expect(statements).toBe(1);
});

it('kept rows count in the limit on reads by their size, like read ones', async () => {
  const texts = Array.from({ length: 100 }, (_, n) => `${n}${'x'.repeat(1_500)}`);
  await storeRows(
    service.clickhouse,
    texts.map((text) =>
      storedRow({ projectId: project, occurTimeMs: at('10T11:00'), strings: { text } }),
    ),
  );
  let nowMs = 0;
  const limited = await startReadService({
    clickhouseUrl: engine.url,
    readsPerSecond: 2,
    clock: { nowMs: () => nowMs },
    reader: counting,
  });
  const read = () =>
    limited.insights(project).query({
      spec: {
        ...spec,
        events: [{ event: { kind: 'page_view' }, aggregation: AggregationType.TOTAL }],
        breakdowns: [{ property: 'text' }],
        breakdownLimit: 100,
      },
      timeRange,
    });
  const refused = { code: Code.ResourceExhausted, rawMessage: 'too many reads with this key' };
  await read();
  await expect(read()).rejects.toMatchObject(refused);
  nowMs = 10_000;
  await read();
  await expect(read()).rejects.toMatchObject(refused);
  expect(statements).toBe(1);
  await limited.stop();
});

it('a statement ends in the engine when all who wait for it have left, and gives its turn back', async () => {
  const mark = `/* ${randomUUID()} */`;
  slowSql = `SELECT sleepEachRow(1) ${mark} FROM numbers(60) SETTINGS max_block_size = 1`;
  const atEngine = async (): Promise<number> => {
    const query = `SELECT count() FROM system.processes WHERE query LIKE '%${mark}%' AND query NOT LIKE '%processes%'`;
    const answer = await service.clickhouse.query({ query, format: 'JSONCompactEachRow' });
    const [[count] = []] = await answer.json<unknown[]>();
    return Number(count);
  };
  const gone = [new AbortController(), new AbortController()];
  const left = gone.map(({ signal }) =>
    service.insights(project).query({ spec, timeRange }, { signal }),
  );
  await vi.waitFor(async () => expect(await atEngine()).toBe(1), { timeout: 300_000 });
  slowSql = undefined;
  for (const one of gone) one.abort();
  for (const one of left) await expect(one).rejects.toMatchObject({ code: Code.Canceled });
  await vi.waitFor(async () => expect(await atEngine()).toBe(0), { timeout: 300_000 });
  expect(await ask()).toEqual([1]);
  expect(statements).toBe(2);
});
