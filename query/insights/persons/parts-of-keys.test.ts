// Lists of persons of a project with many events: a part of all keys is looked through first, and the others where that
// has too few persons. Each list has the persons whom the list of a project with few events has.

import { randomUUID } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RowReader } from '../../../platform/clickhouse/select-rows.ts';
import { dayMs } from '../../../platform/clock.ts';
import {
  InsightType,
  LifecycleState,
  type QuestionPointSchema,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { useEngine } from '../../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../../test/harness/services/read-service.ts';
import { storedRow, storeRows } from '../../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../../test/harness/tables/stored-profiles.ts';

const startMs = Date.UTC(2026, 10, 2);
const days = 4;
const timeRange = { from: timestampFromMs(startMs), to: timestampFromMs(startMs + days * dayMs) };
const few = `prj_${randomUUID()}`;
const many = `prj_${randomUUID()}`;
const engine = useEngine();
let service: ReadService;
/** Statements that look through a part of all keys. */
let ofParts = 0;

const users = Array.from({ length: 400 }, (_, n) => n);

beforeAll(async () => {
  const reader = (store: RowReader): RowReader => ({
    select(select, onRow) {
      if (select.sql.includes('byteSwap(profile_key) <=')) ofParts++;
      return store.select(select, onRow);
    },
  });
  service = await startReadService({ clickhouseUrl: engine.url, reader });
  for (const projectId of [few, many]) await storeUsers(projectId);
  // The sums alone say how many events there are, also of a day alone.
  await service.clickhouse.insert({
    table: 'event_counts',
    values: [0, 1].map((day) => ({
      ...{ project_id: many, kind: 'other', events: 4_000_000 },
      quarter: (startMs + day * dayMs) / 1_000,
    })),
    format: 'JSONEachRow',
  });
});
afterAll(() => service?.stop());

/** All view at day n % 4, a third buys a day later, a sixth views once more; a fifth was anonymous before. */
async function storeUsers(projectId: string): Promise<void> {
  const row = (n: number, day: number, kind: string, distinctId = `u${n}`) =>
    storedRow({ projectId, kind, distinctId, occurTimeMs: startMs + day * dayMs + n * 60_000 });
  await storeRows(service.clickhouse, [
    ...users.map((n) => row(n, n % days, 'view')),
    ...users.filter((n) => n % 3 === 0).map((n) => row(n, (n % days) + 1, 'buy')),
    ...users.filter((n) => n % 6 === 0).map((n) => row(n, (n % days) + 1, 'view')),
    ...users.filter((n) => n % 5 === 0).map((n) => row(n, 0, 'view', `anon-${n}`)),
    ...users.filter((n) => n % 7 === 0).map((n) => row(n, 1, 'buy', `only-${n}`)),
  ]);
  const edge = (distinctId: string, owner: string) => ({
    ...{ projectId, distinctId, named: false, owner, root: owner, wasClaimed: true },
  });
  await storeProfiles(service.clickhouse, [
    ...users.filter((n) => n % 5 === 0).map((n) => edge(`anon-${n}`, `u${n}`)),
    ...users.filter((n) => n % 7 === 0).map((n) => edge(`only-${n}`, `late-${n}`)),
    ...users
      .filter((n) => n % 7 === 0)
      .map((n) => ({ projectId, distinctId: `late-${n}`, traits: { plan: 'pro' } })),
    { projectId, distinctId: 'u3', deleted: true },
  ]);
}

type Point = MessageInitShape<typeof QuestionPointSchema>;

async function personsAt(projectId: string, point: Point, pageSize: number): Promise<string[]> {
  const found: string[] = [];
  let pageToken = '';
  do {
    const request = { timeRange, point, pageSize, pageToken };
    const page = await service.insights(projectId).segmentUsers(request);
    found.push(...page.distinctIds);
    expect(page.distinctIds.length).toBeLessThanOrEqual(pageSize);
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  expect(new Set(found).size).toBe(found.length);
  return found;
}

const view = { event: { kind: 'view' } };
const buy = { event: { kind: 'buy' } };
const all = { event: {} };
const bucket = timestampFromMs(startMs + dayMs);
const { SEGMENTATION, TRENDS, FUNNEL, RETENTION, LIFECYCLE, STICKINESS } = InsightType;
const points: Record<string, Point> = {
  'users of one kind': { spec: { insightType: SEGMENTATION, events: [view] } },
  'users of all kinds': { spec: { insightType: SEGMENTATION, events: [all] } },
  'a day of all kinds': { spec: { insightType: TRENDS, events: [all] }, bucket },
  'a funnel': { spec: { insightType: FUNNEL, events: [view, buy] }, step: 2 },
  'a funnel without a second step': {
    spec: { insightType: FUNNEL, events: [view, buy] },
    ...{ step: 1, droppedOff: true },
  },
  'a cohort': { spec: { insightType: RETENTION, events: [view] }, bucket },
  'a state of all kinds': {
    spec: { insightType: LIFECYCLE, events: [all] },
    ...{ bucket, state: LifecycleState.NEW },
  },
  stickiness: { spec: { insightType: STICKINESS, events: [view] }, activeBuckets: 2 },
};

describe.each(Object.entries(points))('the list of %s', (_, point) => {
  it.each([20, 100])('has the same persons by pages of %i', async (pageSize) => {
    const before = ofParts;
    const expected = await personsAt(few, point, pageSize);
    expect(ofParts).toBe(before);
    expect(expected.length).toBeGreaterThan(20);
    const found = await personsAt(many, point, pageSize);
    expect(found.toSorted()).toEqual(expected.toSorted());
    expect(ofParts).toBeGreaterThan(before);
  });
});
